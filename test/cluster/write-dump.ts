// `npm run dump -- 0.2.0`: a dump of a small installation of this version, which every later version is upgraded from (upgrade.test.ts).
import { migrate } from '../../src/cluster/migrate.ts'
import { createEmptyStores } from '../support/stores.ts'
import { dumps, writeDump } from './dump.ts'
import { fillInstallation } from './dumped-installation.ts'

const version = process.argv[2]
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) throw new Error('Name the version: npm run dump -- 0.2.0')
const { stores, remove } = await createEmptyStores()
try {
  await migrate(stores)
  const key = await fillInstallation(stores)
  await writeDump(new URL(`${version}/`, dumps), stores, key)
} finally {
  await remove()
}
