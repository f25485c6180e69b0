// What every check of this folder shares: options, a bounded run that cleans up after itself, faults that can be repeated, and
// the one JSON line at the end.
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'

export interface Check {
  seed: string
  n: number
  /** Progress, on standard error. */
  say(text: string): void
  /** Undone in reverse order at the end, also after a failure, a timeout or a signal. */
  onEnd(undo: () => unknown): void
  /** Something that must not be. The first three of a kind are printed in full; after that their number says enough. */
  fault(kind: string, ...lines: string[]): void
  faults: Readonly<Record<string, number>>
}

export interface CheckOptions {
  name: string
  /** The option that says how much to do, and how much that is by default. */
  size: { option: string; default: number }
  /** The longest the run may take, by its size. */
  seconds(n: number): number
}

/** Options beyond size and seed, as text. */
export type More = Record<string, { type: 'string' }>

const undoMs = 15_000
const longestMissed = 200

/**
 * Runs the work and ends the process: 0 when no fault was reported, 1 otherwise. Its counts go into the JSON line, and so does `missed`:
 * the first fault of each kind, so that the last line of a run says what it fell short of.
 */
export async function runCheck(
  { name, size, seconds }: CheckOptions,
  work: (check: Check, options: Record<string, string | undefined>) => Promise<Record<string, unknown>>,
  more: More = {},
): Promise<never> {
  const began = performance.now()
  const { values } = parseArgs({
    options: {
      [size.option]: { type: 'string', default: `${size.default}` },
      seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
      ...more,
    },
  }) as { values: Record<string, string | undefined> }
  const n = Number(values[size.option])
  if (!Number.isInteger(n) || n < 1) throw new Error(`--${size.option} must be a whole number`)
  const seed = values.seed as string
  const undos: (() => unknown)[] = []
  const faults: Record<string, number> = {}
  const missed: string[] = []
  let isOver = false
  const say = (text: string) => void process.stderr.write(`${text}\n`)
  const check: Check = {
    seed,
    n,
    say,
    onEnd: (undo) => void undos.push(undo),
    fault(kind, ...lines) {
      if (isOver) return // what breaks while everything is being stopped says nothing
      faults[kind] = (faults[kind] ?? 0) + 1
      if (faults[kind] === 1) missed.push([kind, ...lines].join(': ').slice(0, longestMissed))
      if (faults[kind] <= 3) say([`FAULT ${kind} (--seed ${seed})`, ...lines].join('\n  '))
    },
    faults,
  }
  const cores = availableParallelism()
  say(`${name}: seed ${seed}, ${size.option} ${n}, load ${load()} on ${cores} cores`)
  if (load() > 2 * cores) say('This machine is busy: deadlines may be missed for reasons of its own')
  let counts: Record<string, unknown> = {}
  try {
    counts = await Promise.race([work(check, values), late(seconds(n)), interrupted()])
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
      seed,
      [size.option]: n,
      ...counts,
      faults,
      missed,
      load: load(),
      seconds: total,
      ok,
    }),
  )
  process.exit(ok ? 0 : 1)
}

/** How many would run at once in the last minute: what a run on a busy machine has to be read by. */
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

async function late(seconds: number): Promise<never> {
  await pause(seconds * 1000)
  throw new Error(`The check did not end within ${seconds} s`)
}

/** Without it a signal would end this process before what it started. */
function interrupted(): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => reject(new Error(`Ended by ${signal}`)))
  })
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })

/** The middle one, or the one so far along the sorted list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
