// Makes every listed breakage and expects the named test to fail: `npm run check:mutations -- [--only <name>] [--workers 1]`. Each
// breakage is made in a copy of the tree; the last line of output is the result as JSON.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClickHouse } from '../../../dev/clickhouse/server.ts'
import { readOptions } from '../../support/options.ts'
import { copyWorkingTree } from '../../support/working-copy.ts'
import { mutated } from './apply.ts'
import { type Mutation, mutations } from './mutations.ts'

const maxMs = 300_000

const {
  only,
  workers: maxWorkers,
  'tests-pass': testsPass,
} = readOptions('mutations', {
  only: [] as string[],
  /** How many run at once. Use 1 on a busy machine, because checks have limits in milliseconds. */
  workers: 2,
  /** .ci/run has passed on this commit, so no test has to run without mutations first. */
  'tests-pass': false,
})
const chosen = mutations.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)))
if (chosen.length === 0) throw new Error(`No mutation is called ${only.join(' or ')}`)

/** The line of a failed test. */
const failure = /^\s*✖ (.*) \(/m
/** What a check found: the first fault of each kind, in its result or in its log. */
const faults = [/"missed":\["(.{1,300})/, /(?:FAULT|wrong:) (.{1,300})/]

const alreadyRed: Run = { verdict: 'broken', output: 'The test fails without the mutation.' }

const began = performance.now()
const seconds = () => Math.round((performance.now() - began) / 1000)
const copies = mkdtempSync(join(tmpdir(), 'footfall-mutations-'))
/** One for all runs, each with its own databases: starting one takes 2 s of CPU. Tests that break a server start their own. */
const clickhouse = await startClickHouse()
try {
  await check()
} finally {
  await clickhouse.stop()
  rmSync(copies, { recursive: true, force: true })
}

async function check(): Promise<void> {
  const snapshot = copyTree('tree')
  // First of all, so that a breakage that no longer fits is reported at once and not after an hour.
  for (const mutation of chosen) mutated(mutation, readFileSync(join(snapshot, mutation.file), 'utf8'))

  const workers = Array.from({ length: Math.min(maxWorkers, chosen.length) }, (_, index) => copyTree(`worker-${index}`))
  const tests = testsPass ? [] : [...new Set(chosen.map(({ caughtBy }) => caughtBy))]
  const red = new Set<string>()
  await share(workers, tests, async (copy, test) => {
    // A busy machine may be too slow for a test once. A test that always fails can notice nothing.
    for (let attempt = 0; attempt < 3; attempt++) if ((await runTests(copy, test)).verdict === 'green') return
    red.add(test)
    console.log(`fails without any mutation: ${test}`)
  })
  console.log(`${tests.length - red.size} of ${tests.length} test files pass without mutations (${seconds()} s)`)

  const missed: string[] = []
  let done = 0
  await share(workers, chosen, async (copy, mutation) => {
    const { verdict, output } = red.has(mutation.caughtBy) ? alreadyRed : await runMutated(copy, mutation)
    if (verdict !== 'red') missed.push(mutation.name)
    const noticed = [failure, ...faults].map((sign) => sign.exec(output)?.[1]).find(Boolean) ?? ''
    const word = { red: 'caught', green: 'MISSED', broken: 'MISSED, the run proved nothing' }[verdict]
    console.log(`${++done}/${chosen.length} ${word}: ${mutation.name} | ${mutation.caughtBy} | ${noticed}`)
    if (verdict === 'broken') console.log(output.slice(-2000))
  })

  const total = chosen.length
  process.exitCode = missed.length > 0 ? 1 : 0
  const result = { check: 'mutations', total, caught: total - missed.length, missed, seconds: seconds() }
  console.log(JSON.stringify({ ...result, ok: missed.length === 0 }))
}

/** Distributes the items to the workers, one at a time each. */
async function share<Item>(
  workers: readonly string[],
  items: readonly Item[],
  work: (copy: string, item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  await Promise.all(
    workers.map(async (copy) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(copy, item)
    }),
  )
}

async function runMutated(copy: string, mutation: Mutation): Promise<Run> {
  const file = join(copy, mutation.file)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, mutated(mutation, text))
  try {
    return await runTests(copy, mutation.caughtBy)
  } finally {
    writeFileSync(file, text)
  }
}

interface Run {
  /** Broken: the tests ended without a number of failures, or a check was only too slow. That proves nothing. */
  verdict: 'green' | 'red' | 'broken'
  output: string
}

/** Retries when nothing was proved, as when stores start too late on a busy machine. */
async function runTests(folder: string, test: string): Promise<Run> {
  for (let attempt = 1; ; attempt++) {
    const run = await runTestsOnce(folder, test)
    if (run.verdict !== 'broken' || attempt === 3) return run
  }
}

async function runTestsOnce(folder: string, test: string): Promise<Run> {
  const isCheck = test.startsWith('check:')
  const [command, args] = isCheck
    ? ['npm', ['run', '--silent', ...test.split(' ')]]
    : [process.execPath, ['test/run.ts', '--until-failure', test]]
  // A separate process group, so that nothing that a test started outlives it.
  const child = spawn(command as string, args as string[], {
    cwd: folder,
    detached: true,
    env: { ...process.env, CLICKHOUSE_URL: clickhouse.url },
  })
  let [output, result] = ['', '']
  child.stdout.on('data', (chunk) => (result += chunk))
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  let hung = false
  const timer = setTimeout(() => {
    hung = true
    child.kill('SIGKILL')
  }, maxMs)
  const closed = once(child, 'close')
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  killGroup(child.pid as number)
  await closed // only then all of the output is there
  // A check that found a fault prints its result and exits with 1. Two kinds of failure prove nothing: a check that only missed bounds of
  // time exits with `late`, and one that could not finish reports "the check itself" as its only fault.
  const found = code === 1 && /\}\s*$/.test(result) && !/"faults":\{"the check itself":\d+\}/.test(result)
  const failures = isCheck ? found : failure.test(output) || hung
  return { verdict: code === 0 ? 'green' : failures ? 'red' : 'broken', output }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {} // it has ended
}

/** All copies are made from the first, so that they are equal. */
function copyTree(name: string): string {
  const copy = join(copies, name)
  const first = join(copies, 'tree')
  if (copy === first) copyWorkingTree(copy)
  else cpSync(first, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}
