// The distribution of a day's visits over its hours.
import { minuteMs } from '../durations.ts'

/** Visits by hour, on workdays and at weekends. Only the proportions matter. */
const hours = {
  work: [26, 17, 12, 10, 12, 20, 38, 68, 104, 136, 150, 148, 128, 140, 150, 146, 134, 114, 96, 92, 97, 86, 62, 40],
  weekend: [44, 32, 23, 17, 14, 17, 26, 42, 64, 88, 106, 114, 112, 108, 108, 110, 112, 114, 118, 124, 126, 112, 86, 60],
} as const

export type DayKind = keyof typeof hours

const quarterHours = 96
const quarterHourMs = 15 * minuteMs

/** The share of visits that have begun by each quarter hour of a 24-hour day, interpolated linearly between the middles of the hours. */
function sharesBy(kind: DayKind): number[] {
  const weights = Array.from({ length: quarterHours }, (_, quarter) => {
    const position = (quarter - 1.5) / 4
    const hour = Math.floor(position)
    const [before, after] = [hour, hour + 1].map((index) => hours[kind][(index + 24) % 24]!) as [number, number]
    return before + (after - before) * (position - hour)
  })
  const total = weights.reduce((sum, weight) => sum + weight)
  const shares = [0]
  for (const weight of weights) shares.push(shares.at(-1)! + weight / total)
  return shares
}

const shares = { work: sharesBy('work'), weekend: sharesBy('weekend') }

/** The share of a day's visits that begin in its first `part` (0 to 1). */
export function shareBefore(kind: DayKind, part: number): number {
  const position = part * quarterHours
  const quarter = Math.min(Math.floor(position), quarterHours - 1)
  const [before, after] = [shares[kind][quarter]!, shares[kind][quarter + 1]!]
  return before + (after - before) * (position - quarter)
}

/** How finely `moments` divides a day's visits. */
export const momentSteps = 400

/** The inverse of `shareBefore`, for ClickHouse: the moment (ms into a 24-hour day) by which each of 400 equal shares of the visits has begun. */
export function moments(kind: DayKind): number[] {
  let quarter = 0
  return Array.from({ length: momentSteps + 1 }, (_, step) => {
    const share = step / momentSteps
    while (quarter < quarterHours - 1 && shares[kind][quarter + 1]! < share) quarter++
    const [before, after] = [shares[kind][quarter]!, shares[kind][quarter + 1]!]
    return Math.round((quarter + Math.min(1, (share - before) / (after - before))) * quarterHourMs)
  })
}
