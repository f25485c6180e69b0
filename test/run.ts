// Runs test files: `node test/run.ts [--unit | --short | --until-failure] [file or folder …]`, all of them when none is named.
// They share one set of real stores: starting ClickHouse and migrating once, instead of once per file, saves most of the time. With
// --unit only those run that reach no database, and nothing is started. With --short, as in .ci/run, those in `long` do not run.
// With --until-failure, as in check:mutations, the first failure ends the run.
// Correctness has one chance, and deadlines that are long enough for a busy machine. What holds bounds in milliseconds is in `timed`.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStores, type StoreAddresses } from './support/stores.ts'
import { isUnitTest } from './support/unit-tests.ts'

/**
 * Files that hold bounds in milliseconds, on a machine that may be busy: they run after the others, two at a time because they
 * mostly sleep. Those that fail run again by themselves, twice at most, when the machine is quiet.
 */
const timed = [
  'test/faults/', // an outage may cost so much time and no more
  'test/collector/', // real processes and browsers, which must do something within seconds
  'test/accounts/directory.test.ts', // a change takes effect within a second
  'test/contract/isolation.test.ts', // PostgreSQL is slower than the API waits
  'test/contract/changes.test.ts', // the same, in two instances of the API
  'test/contract/last-use.test.ts', // PostgreSQL gives a statement 200 ms
  'test/console/dashboard-faults.test.ts', // a page that waits for a store that hangs ends in time
  'test/console/keys-browser.test.ts', // a key that is disabled in a page is refused by all processes within a second
  'test/console/sign-in-times.test.ts', // who has an account must not show in the time of a sign-in
  'test/console/single-sign-on-faults.test.ts', // a provider that is slow holds up nobody else
  'test/stores/least-privilege.test.ts', // ClickHouse refuses a reader that asks for more than five seconds
  'test/dev/tutorial.test.ts', // a change of the source is served within seconds
]

/** Files that take long, and whose subject .ci/run checks in a shorter way. They run every night. */
const long = [
  'test/faults/', // check:chaos breaks the same stores under a whole installation
  'test/api/reference-examples.test.ts', // check:reference opens the same page; the examples run in four languages
  'test/cli/backup-under-traffic.test.ts', // cli/backup.test.ts without traffic
  // check:console opens every page in a browser; the tests beside these send the same forms.
  'test/console/site-pages-browser.test.ts',
  'test/console/people-browser.test.ts',
  'test/console/dashboard-browser.test.ts',
  'test/console/keys-browser.test.ts',
  'test/collector/outages.test.ts', // check:collect stops ClickHouse under load
]

/** Halves what it costs to start a process of ours: 0.36 s of CPU instead of 0.8 s. */
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'footfall-compile-cache')

/**
 * One more than the cores, because files also wait. With twice the cores the run takes as long, for it is bound by the CPU, and requests
 * begin to miss their deadlines.
 */
const atOnce = Math.min(8, 1 + availableParallelism())

const words = process.argv.slice(2)
const unitOnly = words.includes('--unit')
const isShort = words.includes('--short')
const untilFailure = words.includes('--until-failure')
const named = words.filter((word) => !word.startsWith('--')).map(asPattern)
const files = globSync(named.length > 0 ? named : ['test/**/*.test.ts'])
  .filter((file) => !unitOnly || isUnitTest(file))
  .filter((file) => !isShort || !isIn(long, file))
  .sort()
if (files.length === 0) throw new Error(`No test files match ${words.join(' ')}`)
const isTimed = (file: string) => isIn(timed, file)

const stores = unitOnly ? undefined : await createStores()
const failed = await run(
  files.filter((file) => !isTimed(file)),
  atOnce,
  { FOOTFALL_DEADLINE_FACTOR: '50' },
)
let late = await run(files.filter(isTimed), 2)
for (let again = 0; late.length > 0 && again < 2 && !untilFailure; again++) {
  spawnSync('bash', ['.ci/quiet'], { stdio: 'inherit' })
  process.stdout.write(`Again, by themselves: ${late.join(' ')}\n`)
  late = await run(late, 1)
}
failed.push(...late)
await stores?.remove()
process.exitCode = failed.length === 0 ? 0 : 1

/** Returns the files with a failed test. */
async function run(
  some: readonly string[],
  atOnce: number,
  environment: Record<string, string> = {},
): Promise<string[]> {
  if (some.length === 0) return []
  const folder = mkdtempSync(join(tmpdir(), 'footfall-failed-'))
  const list = join(folder, 'files')
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${new URL('support/failed-files.ts', import.meta.url).href}`,
    `--test-reporter-destination=${list}`,
    `--test-reporter=${new URL('support/slowest-files.ts', import.meta.url).href}`,
    '--test-reporter-destination=stderr',
  ]
  const options = ['--test', `--test-concurrency=${atOnce}`, '--test-timeout=900000', ...reporters]
  if (stores) options.push('--test-force-exit') // a connection that is still open must not hold up the run
  const runner = spawn(process.execPath, [...options, ...some], {
    stdio: ['inherit', untilFailure ? 'pipe' : 'inherit', 'inherit'],
    env: { ...process.env, ...environment, ...(stores && environmentOf(stores.addresses)) },
  })
  runner.stdout?.on('data', (chunk) => {
    process.stdout.write(chunk)
    if (/^\s*✖/m.test(String(chunk))) runner.kill('SIGKILL')
  })
  const [code] = (await once(runner, 'exit')) as [number | null]
  const named = readFileSync(list, 'utf8').split('\n').filter(Boolean)
  rmSync(folder, { recursive: true })
  return code === 0 || named.length > 0 ? named : [...some]
}

/** Files that need databases of their own create them on the same server: starting one takes 2 s of CPU. */
function environmentOf(addresses: StoreAddresses): Record<string, string> {
  return {
    FOOTFALL_TEST_STORES: JSON.stringify(addresses),
    CLICKHOUSE_URL: new URL('/', addresses.clickhouse).href,
  }
}

function isIn(paths: readonly string[], file: string): boolean {
  return paths.some((path) => file.startsWith(path))
}

function asPattern(path: string): string {
  return path.endsWith('.ts') ? path : `${path.replace(/\/$/, '')}/**/*.test.ts`
}
