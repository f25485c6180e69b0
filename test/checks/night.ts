// The long checks: `.ci/night` runs all parts of schedule.ts in full, one after another. It keeps what passed on this commit, so it can be
// ended and started again.
//   .ci/night                           all parts that have not passed on this commit
//   .ci/night move bench:api            these, even if they have
//   .ci/night --list                    the last result of each part on this commit
//   .ci/night --touched [--base C]      as in .ci/run: short forms of the parts whose subject changed since commit C, five minutes at most
// Output and results are in $XDG_CACHE_HOME/footfall-night/<commit>. The last line is the result as JSON.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { changedSince } from '../support/changed-files.ts'
import { late } from './runner.ts'
import { commandOf, maxTouchedSeconds, type Part, parts, touchedBy } from './schedule.ts'

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean' }, touched: { type: 'boolean' }, base: { type: 'string' } },
})
const unknown = names.filter((name) => !parts.some((part) => part.name === name))
if (unknown.length > 0) throw new Error(`No part is called ${unknown.join(' or ')}: .ci/night --list shows all`)

interface Result {
  ok: boolean
  seconds: number
  at: string
  /** The last line of the output. */
  last: string
}

const git = (...words: string[]): string => spawnSync('git', words, { encoding: 'utf8' }).stdout.trim()
const commit = git('rev-parse', 'HEAD')
const isChanged = git('status', '--porcelain') !== ''
const folder = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'footfall-night',
  isChanged ? 'uncommitted' : commit,
)
mkdirSync(folder, { recursive: true })
const fileOf = ({ name }: Part, ending: string) => join(folder, `${name.replace(':', '-')}${ending}`)
const began = performance.now()
const secondsSince = (start: number) => Math.round((performance.now() - start) / 1_000)

function lastResult(part: Part): Result | undefined {
  const file = fileOf(part, '.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : undefined
}

/** A part that only missed bounds of time runs again when the machine is quiet, twice at most. */
async function run(part: Part, words = '', suffix = ''): Promise<boolean> {
  const command = commandOf(part, words)
  const start = performance.now()
  for (let attempt = 1; ; attempt++) {
    console.log(`── ${command.join(' ')} (${secondsSince(began)} s)`)
    const log = createWriteStream(fileOf(part, `${suffix}.log`), { flags: attempt === 1 ? 'w' : 'a' })
    const child = spawn(command[0] as string, command.slice(1), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(suffix === '' && { FOOTFALL_FULL: '1' }) },
    })
    let tail = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        log.write(chunk)
        tail = (tail + chunk).slice(-6_000)
      })
    }
    const [code] = (await once(child, 'close')) as [number | null]
    log.end()
    const last = tail.trim().split('\n').at(-1) ?? ''
    console.log(code === 0 ? last : tail)
    if (code === late && attempt < 3) {
      spawnSync('bash', ['.ci/quiet'], { stdio: 'inherit' })
      continue
    }
    const result: Result = { ok: code === 0, seconds: secondsSince(start), at: new Date().toISOString(), last }
    writeFileSync(fileOf(part, `${suffix}.json`), JSON.stringify(result))
    return result.ok
  }
}

function finish(result: { passed: string[]; failed: string[]; notRun: string[] }): void {
  const ok = result.failed.length === 0
  console.log(JSON.stringify({ commit, ...result, seconds: secondsSince(began), ok }))
  process.exitCode = ok ? 0 : 1
}

if (values.list) {
  for (const part of parts) {
    const result = lastResult(part)
    const words = result ? `${result.ok ? 'passed' : 'FAILED'} in ${result.seconds} s at ${result.at}` : 'not run'
    console.log(`${part.name}: ${words}`)
  }
  const [passed, rest] = [parts.filter((part) => lastResult(part)?.ok), parts.filter((part) => !lastResult(part)?.ok)]
  const failed = rest.filter((part) => lastResult(part)).map(({ name }) => name)
  const notRun = rest.filter((part) => !lastResult(part)).map(({ name }) => name)
  finish({ passed: passed.map(({ name }) => name), failed, notRun })
} else if (values.touched) {
  const { base, files } = changedSince(values.base)
  const [passed, failed, notRun]: [string[], string[], string[]] = [[], [], []]
  for (const part of touchedBy(files)) {
    const { short, seconds } = part.touched as NonNullable<Part['touched']>
    if (secondsSince(began) + seconds > maxTouchedSeconds) notRun.push(part.name)
    else (await run(part, short, '-short')) ? passed.push(part.name) : failed.push(part.name)
  }
  if (notRun.length > 0) console.log(`Not run, for want of time, although touched since ${base}: ${notRun.join(' ')}`)
  finish({ passed, failed, notRun })
} else {
  if (isChanged) console.log('There are uncommitted changes, so this run does not count for the commit.')
  const [passed, failed]: [string[], string[]] = [[], []]
  for (const part of parts.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const before = names.length === 0 && !isChanged ? lastResult(part) : undefined
    if (before?.ok) console.log(`── ${part.name} passed on this commit at ${before.at}`)
    ;(before?.ok || (await run(part, part.full)) ? passed : failed).push(part.name)
  }
  finish({ passed, failed, notRun: [] })
}
