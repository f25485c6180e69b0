// Runs test files: `node test/run.ts [--unit | --short | --until-failure] [--only <part>] [file or folder …]`, all of them when none is
// named. --help lists the chosen files.
// They share one set of real stores: starting ClickHouse and migrating once, instead of once per file, saves most of the time. With
// --unit only those run that reach no database, and nothing is started. With --short, as in .ci/run, those that long-tests.ts leaves to the
// night do not run.
// With --until-failure, as in check:mutations, the first failure ends the run.
// Correctness has one chance. A file that only missed bounds of time (test/support/in-time.ts) runs again, twice at most.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leftToTheNight } from './long-tests.ts'
import { changedSince } from './support/changed-files.ts'
import { createStores, createTemplate, type StoreAddresses } from './support/stores.ts'
import type { Summary } from './support/summary.ts'
import { isUnitTest } from './support/unit-tests.ts'

/**
 * Files about deadlines: the processes have those that operators run with, where others get 50 times as long. They run after the others,
 * two at a time because they mostly sleep.
 */
const timed = [
  'test/faults/', // an outage may cost so much time and no more
  'test/collector/outages.test.ts', // stores that hang
  'test/accounts/directory.test.ts', // a change takes effect within a second
  'test/api/mcp-times.test.ts', // a question of an assistant has the five seconds of a request
  'test/contract/isolation.test.ts', // PostgreSQL is slower than the API waits
  'test/contract/changes.test.ts', // the same, in two instances of the API
  'test/contract/last-use.test.ts', // PostgreSQL gives a statement 200 ms
  'test/console/dashboard-faults.test.ts', // a page that waits for a store that hangs ends in time
  'test/console/keys-browser.test.ts', // a key that is disabled in a page is refused by all processes within a second
  'test/console/sign-in-times.test.ts', // who has an account must not show in the time of a sign-in
  'test/console/forgotten-times.test.ts', // nor in that of asking for a new password
  'test/console/single-sign-on-faults.test.ts', // a provider that is slow holds up nobody else
  'test/cluster/least-privilege.test.ts', // ClickHouse refuses a reader that asks for more than five seconds
]

/** Halves what it costs to start a process of ours: 0.36 s of CPU instead of 0.8 s. */
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'footfall-compile-cache')

/** Two more than the cores, because files also wait. */
const atOnce = Math.min(8, 2 + availableParallelism())

/** A test that needs longer says so. In full, some work for many minutes. */
const maxTestMs = process.env.FOOTFALL_FULL ? 3_600_000 : 120_000

/** How many of the slowest files the result names. */
const shown = 8

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    unit: { type: 'boolean' },
    short: { type: 'boolean' },
    /** With --short: what changed since this commit. */
    base: { type: 'string' },
    'until-failure': { type: 'boolean' },
    /** Only files with this in their path. */
    only: { type: 'string', multiple: true },
    help: { type: 'boolean' },
  },
})
const { unit: unitOnly, short: isShort, 'until-failure': untilFailure, only } = values
const leftToNight = isShort ? leftToTheNight(changedSince(values.base).files) : undefined
const files = globSync(positionals.length > 0 ? positionals.map(asPattern) : ['test/**/*.test.ts'])
  .filter((file) => !unitOnly || isUnitTest(file))
  .filter((file) => !leftToNight?.(file))
  .filter((file) => !only || only.some((part) => file.includes(part)))
  .sort()
if (files.length === 0) throw new Error(`No test files match ${process.argv.slice(2).join(' ')}`)
if (values.help) {
  console.log(files.join('\n'))
  process.exit(0)
}
const isTimed = (file: string) => isIn(timed, file)

const began = performance.now()
const stores = unitOnly ? undefined : await createStores()
const template = stores && (await createTemplate(stores.addresses))
const runs = [
  await run(
    files.filter((file) => !isTimed(file)),
    atOnce,
    { FOOTFALL_DEADLINE_FACTOR: '50' },
  ),
  await run(files.filter(isTimed), 2),
]
const wrong = runs.flatMap((one) => one.wrong)
let late = runs.flatMap((one) => one.late)
for (let again = 0; late.length > 0 && wrong.length === 0 && again < 2 && !untilFailure; again++) {
  spawnSync('bash', ['.ci/quiet'], { stdio: 'inherit' })
  process.stdout.write(`Too late, so again by themselves: ${late.join(' ')}\n`)
  const one = await run(late, 1)
  wrong.push(...one.wrong)
  late = one.late
}
await stores?.remove()
const seconds = runs.flatMap((one) => one.seconds).sort(([, one], [, other]) => other - one)
const slowest = seconds.slice(0, shown).map(([file, took]) => `${file.replace('test/', '')} ${Math.round(took)} s`)
const result = {
  passed: runs.reduce((sum, one) => sum + one.passed, 0),
  failed: runs.reduce((sum, one) => sum + one.failed, 0),
  wrong,
  late,
  slowest,
  seconds: Math.round((performance.now() - began) / 1_000),
  ok: wrong.length + late.length === 0,
}
console.log(JSON.stringify(result))
process.exitCode = result.ok ? 0 : 1

async function run(
  some: readonly string[],
  atOnce: number,
  environment: Record<string, string> = {},
): Promise<Summary> {
  const nothing: Summary = { passed: 0, failed: 0, wrong: [], late: [], seconds: [] }
  if (some.length === 0) return nothing
  const folder = mkdtempSync(join(tmpdir(), 'footfall-tests-'))
  const list = join(folder, 'summary')
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${new URL('support/summary.ts', import.meta.url).href}`,
    `--test-reporter-destination=${list}`,
  ]
  const options = ['--test', `--test-concurrency=${atOnce}`, `--test-timeout=${maxTestMs}`, ...reporters]
  if (stores) options.push('--test-force-exit') // a connection that is still open must not hold up the run
  const runner = spawn(process.execPath, [...options, ...some], {
    stdio: ['inherit', untilFailure ? 'pipe' : 'inherit', 'inherit'],
    env: {
      ...process.env,
      ...environment,
      ...(stores && environmentOf(stores.addresses)),
      FOOTFALL_TEST_TEMPLATE: template,
    },
  })
  runner.stdout?.on('data', (chunk) => {
    process.stdout.write(chunk)
    if (/^\s*✖/m.test(String(chunk))) runner.kill('SIGKILL')
  })
  const [code] = (await once(runner, 'exit')) as [number | null]
  const text = readFileSync(list, 'utf8')
  rmSync(folder, { recursive: true })
  const summary = text === '' ? nothing : (JSON.parse(text) as Summary)
  const isExplained = code === 0 || summary.wrong.length + summary.late.length > 0
  return isExplained ? summary : { ...summary, wrong: [...some] }
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
