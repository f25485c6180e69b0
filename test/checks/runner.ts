// Shared by all checks: options, a time limit, cleanup, faults that can be repeated, and the JSON line at the end.
import { availableParallelism, loadavg } from 'node:os'
import { type Options, readOptions } from '../support/options.ts'

export interface Check {
  seed: string
  /** Prints progress to standard error. */
  say(text: string): void
  /** Undone in reverse order at the end, even after a failure, a timeout or a signal. */
  onEnd(undo: () => unknown): void
  /** Reports a fault. The first three of a kind are printed in full, later ones are counted. */
  fault(kind: string, ...lines: string[]): void
  /** A fault that a busy machine may cause: a bound of time or CPU that was missed. A run with no other faults ends with `late`. */
  slow(kind: string, ...lines: string[]): void
  faults: Readonly<Record<string, number>>
}

export interface CheckOptions<Known> {
  name: string
  /** Every option but --seed, with its default. */
  options: Known
  /** Options that are at least 1 otherwise. */
  mayBeZero?: readonly (keyof Known)[]
  /** The time limit. */
  seconds(options: Known): number
}

/**
 * The exit code of a run that missed bounds of time and nothing else: .ci/run then tries once more, .ci/night twice. EX_TEMPFAIL of
 * sysexits.h.
 */
export const late = 75

const undoMs = 15_000
const maxMissed = 200

/**
 * Runs the work and ends the process: with 0 if no fault was reported, with `late` if all were missed bounds of time, with 1 otherwise.
 * The JSON line has the counts that the work returns, and in `missed` the first fault of each kind.
 */
export async function runCheck<Known extends Options>(
  { name, options: defaults, mayBeZero, seconds }: CheckOptions<Known>,
  work: (check: Check, options: Known) => Promise<Record<string, unknown>>,
): Promise<never> {
  const began = performance.now()
  const options = readOptions(name, { ...defaults, seed: `${Date.now() % 1_000_000}` }, mayBeZero)
  const { seed } = options
  const undos: (() => unknown)[] = []
  const faults: Record<string, number> = {}
  const missed: string[] = []
  let onlySlow = true
  let isOver = false
  const say = (text: string) => void process.stderr.write(`${text}\n`)
  const check: Check = {
    seed,
    say,
    onEnd: (undo) => void undos.push(undo),
    fault(kind, ...lines) {
      if (!isOver) onlySlow = false
      report(kind, lines)
    },
    slow: (kind, ...lines) => report(kind, lines),
    faults,
  }
  function report(kind: string, lines: string[]): void {
    if (isOver) return // what breaks while everything is being stopped says nothing
    faults[kind] = (faults[kind] ?? 0) + 1
    if (faults[kind] === 1) missed.push([kind, ...lines].join(': ').slice(0, maxMissed))
    if (faults[kind] <= 3) say([`FAULT ${kind} (--seed ${seed})`, ...lines].join('\n  '))
  }
  const cores = availableParallelism()
  say(`${name}: ${JSON.stringify(options)}, load ${load()} on ${cores} cores`)
  if (load() > 2 * cores) say('This machine is busy: time limits may be missed because of that')
  let counts: Record<string, unknown> = {}
  try {
    counts = await Promise.race([work(check, options), tooLong(seconds(options)), interrupted()])
  } catch (error) {
    check.fault('the check itself', (error as Error).stack ?? String(error))
  }
  isOver = true
  for (const undo of undos.reverse()) await Promise.race([attempt(undo, say), pause(undoMs)])
  const ok = Object.keys(faults).length === 0
  const total = Math.round((performance.now() - began) / 100) / 10
  console.log(
    JSON.stringify({
      check: name,
      ...options,
      ...counts,
      faults,
      missed,
      load: load(),
      seconds: total,
      ok,
    }),
  )
  process.exit(ok ? 0 : onlySlow ? late : 1)
}

/** The load average of the last minute, to judge a run on a busy machine. */
function load(): number {
  return Math.round((loadavg()[0] as number) * 10) / 10
}

async function attempt(undo: () => unknown, say: (text: string) => void): Promise<void> {
  try {
    await undo()
  } catch (error) {
    say(`while cleaning up: ${(error as Error).message}`)
  }
}

async function tooLong(seconds: number): Promise<never> {
  await pause(seconds * 1000)
  throw new Error(`The check did not finish within ${seconds} s`)
}

/** Without it a signal, or an error that nothing catches, would end this process before its children. */
function interrupted(): Promise<never> {
  return new Promise((_resolve, reject) => {
    process.on('uncaughtException', reject)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => reject(new Error(`Ended by ${signal}`)))
  })
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })

/** The value at this share of the sorted list; 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
