// The commands of docs/operations.md that back up and restore with pg_dump and ClickHouse's BACKUP, as they are printed there.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { verifyLedger } from '../../src/rollups/ledger.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf } from '../support/events.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { inherited } from '../support/inherited.ts'
import { keySecretsSetting } from '../support/serve-process.ts'
import { databaseUrl } from '../support/stores.ts'

const run = promisify(execFile)
const section = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  .split('### With the tools of the databases')[1]
  ?.split('\n## ')[0]
const [backup, restore] = [...(section ?? '').matchAll(/```\n([\s\S]*?)```/g)].map(([, block]) => block as string)

test('the documented commands back up and restore both databases, to different moments', async (t) => {
  const { postgres, clickhouse, cluster, addresses } = await freshStores((end) => t.after(end))
  const folder = mkdtempSync(join(tmpdir(), 'footfall-documented-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const name = new URL(addresses.postgres).pathname.slice(1)
  const footfall = `node ${new URL('../../src/cli/main.ts', import.meta.url).pathname}`
  const environment = {
    DATABASE_URL: addresses.postgres,
    POSTGRES: databaseUrl,
    CLICKHOUSE: Object.assign(new URL(addresses.clickhouse), { pathname: '/' }).href,
    CLICKHOUSE_URL: addresses.clickhouse,
    KEY_SECRETS: keySecretsSetting,
  }
  const shell = (commands = '') =>
    run(
      'sh',
      [
        '-ec',
        commands
          .replaceAll('DATABASE footfall', `DATABASE ${name}`)
          .replaceAll('footfall-2026', `${name}-2026`)
          .replace(/^footfall /gm, `${footfall} `),
      ],
      {
        cwd: folder,
        env: { ...process.env, ...inherited, ...environment },
      },
    )

  const accountId = await createAccount(postgres, { name: 'A test', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain: 'a.example' })
  const record = (day: string) =>
    recordBatch(clickhouse, {
      id: randomUUID(),
      events: [eventOf({ at: `${day}T10:00:00Z` }, siteId, 'UTC')],
    })
  await record('2026-11-10')
  await rollUpSite({ postgres, clickhouse }, siteId, '2026-11-10')
  const [dump, ...rest] = (backup ?? '').split('\n')
  await shell(dump)
  await record('2026-11-11')
  await rollUpSite({ postgres, clickhouse }, siteId, '2026-11-11')
  await shell(rest.join('\n'))
  await record('2026-11-12')

  await shell(restore)
  assert.equal(await verifyLedger({ postgres, cluster }), 'PostgreSQL', 'the dump is older than the backup')
  const days = await clickhouse.rows<{ day: string }>(
    sql`SELECT toString(day) AS day FROM events WHERE site_id = ${text(siteId)} ORDER BY day`,
  )
  assert.deepEqual(
    days.map(({ day }) => day),
    ['2026-11-10', '2026-11-11'],
  )
  await rollUpSite({ postgres, clickhouse }, siteId, '2026-11-12')
  assert.deepEqual((await verifySite({ postgres, clickhouse }, siteId)).wrong, [])
})
