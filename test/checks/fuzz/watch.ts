// Observes the API process from outside while it is fuzzed: alive, not restarted, bounded memory, no errors in the log.
import { readdirSync, readFileSync } from 'node:fs'
import type { ApiProcess } from '../../support/api-process.ts'
import { quantile } from '../runner.ts'

/**
 * A Node process with its drivers takes about 160 MB at rest. Under full load the heap grows faster than garbage collection frees it: 313 MB
 * at most over 300,000 requests at 2,250 per second, 254 at 860. A leak shows in the growth, which is limited below.
 */
const maxMb = 400
const maxGrowth = 1.5

export interface Watcher {
  rssMb(): number
  /** Growth counts from here on. */
  markWarm(): void
  wrongs(): { kind: string; lines: string[]; isLate?: boolean }[]
  summary(): Record<string, unknown>
  stop(): void
}

export function watch(api: ApiProcess): Watcher {
  const restarted = () => api.child.exitCode !== null || api.child.signalCode !== null || api.child.pid !== api.pid
  const rssMb = () => {
    if (restarted()) return 0
    const status = readFileSync(`/proc/${api.pid}/status`, 'utf8')
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
  }
  const fds = () => (restarted() ? 0 : readdirSync(`/proc/${api.pid}/fd`).length)
  const samples: number[] = []
  const fdsBefore = fds()
  let warmFrom = 0
  const timer = setInterval(() => samples.push(rssMb()), 250)

  /** Garbage collection moves the numbers, so this is the median of one second of samples. */
  const warmMb = () => quantile(samples.slice(warmFrom, warmFrom + 4), 0.5)
  const endMb = () => quantile(samples.slice(-4), 0.5)
  const peakMb = () => Math.max(...samples)
  const complaints = () =>
    api
      .log()
      .split('\n')
      .filter((line) => line !== '' && !(line.startsWith('{') && JSON.parse(line).level < 50))

  return {
    rssMb,
    markWarm: () => {
      warmFrom = samples.length
    },
    wrongs() {
      const found: { kind: string; lines: string[]; isLate?: boolean }[] = []
      if (restarted()) found.push({ kind: 'the process exited', lines: [api.log().slice(-2000)] })
      // A store that has 100 ms to answer misses them when the machine is busy.
      for (const line of complaints())
        found.push({
          kind: 'error in the log',
          lines: [line.slice(0, 600)],
          isLate: /did not answer within \d+ ms/.test(line),
        })
      if (peakMb() > maxMb) found.push({ kind: 'memory', lines: [`${peakMb()} MB, more than ${maxMb}`] })
      if (endMb() > maxGrowth * warmMb()) {
        found.push({ kind: 'memory', lines: [`${warmMb()} MB after warming up, ${endMb()} MB at the end`] })
      }
      return found
    },
    summary: () => ({
      restarts: restarted() ? 1 : 0,
      logErrors: complaints().length,
      rssMb: { warm: warmMb(), end: endMb(), peak: peakMb(), most: maxMb },
      fds: { before: fdsBefore, after: fds() },
    }),
    stop: () => clearInterval(timer),
  }
}
