// Times from the kernel: the CPU a process used, and the CPU that other machines took.
import { readdirSync, readFileSync } from 'node:fs'

/** Nanoseconds of CPU over all threads of the process; /proc/<pid>/stat would only count in hundredths of a second. */
export function cpuNanoseconds(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0])
  }
  return sum
}

/** Seconds of CPU in hundredths, including ended threads: for work that takes seconds in a changing thread pool. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export interface MachineTime {
  steal: number
  idle: number
  all: number
}

/** In ticks, over all CPUs since the machine started. */
export function machineTime(): MachineTime {
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] as string
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number)
  return {
    idle: (ticks[3] as number) + (ticks[4] as number),
    steal: ticks[7] as number,
    all: ticks.reduce((a, b) => a + b),
  }
}

/** Shares of the time since then: what other machines took, and how busy this one was in total. */
export function since(before: MachineTime): { steal: number; busy: number } {
  const now = machineTime()
  const all = now.all - before.all
  return { steal: round((now.steal - before.steal) / all, 4), busy: round(1 - (now.idle - before.idle) / all, 3) }
}

export interface Spread {
  p10: number
  median: number
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] as number
  return { p10: round(at(0.1), 4), median: round(at(0.5), 4) }
}

export const round = (value: number, digits: number): number => Number(value.toFixed(digits))
