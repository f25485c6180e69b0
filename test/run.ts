// Runs test files on one set of real stores: `node test/run.ts [file or folder …]`, everything without arguments.
// Starting ClickHouse and migrating once for all files, instead of once each, saves most of the suite's time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { createStores } from './support/stores.ts'

const asked = process.argv.slice(2)
const files = globSync(asked.length > 0 ? asked.map(asPattern) : ['test/**/*.test.ts']).sort()
if (files.length === 0) throw new Error(`No test files match ${asked.join(' ')}`)

const { addresses, remove } = await createStores()
const runner = spawn(
  process.execPath,
  ['--test', '--test-concurrency=4', '--test-force-exit', '--test-timeout=300000', ...files],
  {
    stdio: 'inherit',
    env: { ...process.env, FOOTFALL_TEST_STORES: JSON.stringify(addresses) },
  },
)
const [code] = (await once(runner, 'exit')) as [number | null]
await remove()
process.exitCode = code ?? 1

function asPattern(path: string): string {
  return path.endsWith('.ts') ? path : `${path.replace(/\/$/, '')}/**/*.test.ts`
}
