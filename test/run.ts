// Runs test files on one set of real stores: `node test/run.ts [file or folder …]`, everything without arguments.
// Starting ClickHouse and migrating once for all files, instead of once each, saves most of the suite's time.
// With --retry, files that failed run once more, by themselves: four at a time on a busy machine can starve each other past
// bounds of a few hundred milliseconds. What fails alone has failed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStores } from './support/stores.ts'

const words = process.argv.slice(2)
const asked = words.filter((word) => word !== '--retry')
const files = globSync(asked.length > 0 ? asked.map(asPattern) : ['test/**/*.test.ts']).sort()
if (files.length === 0) throw new Error(`No test files match ${asked.join(' ')}`)

const { addresses, remove } = await createStores()
const failed = await run(files, 4)
const failedAgain = failed.length > 0 && words.includes('--retry') ? await again(failed) : failed
await remove()
process.exitCode = failedAgain.length === 0 ? 0 : 1

/** Returns the files in which something failed. */
async function run(some: readonly string[], atOnce: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-failed-'))
  const list = join(folder, 'files')
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${new URL('support/failed-files.ts', import.meta.url).href}`,
    `--test-reporter-destination=${list}`,
  ]
  const options = ['--test', `--test-concurrency=${atOnce}`, '--test-force-exit', '--test-timeout=300000', ...reporters]
  const runner = spawn(process.execPath, [...options, ...some], {
    stdio: 'inherit',
    env: { ...process.env, FOOTFALL_TEST_STORES: JSON.stringify(addresses) },
  })
  const [code] = (await once(runner, 'exit')) as [number | null]
  const named = readFileSync(list, 'utf8').split('\n').filter(Boolean)
  rmSync(folder, { recursive: true })
  return code === 0 || named.length > 0 ? named : [...some]
}

function again(some: string[]): Promise<string[]> {
  process.stdout.write(`Once more, by themselves: ${some.join(' ')}\n`)
  return run(some, 1)
}

function asPattern(path: string): string {
  return path.endsWith('.ts') ? path : `${path.replace(/\/$/, '')}/**/*.test.ts`
}
