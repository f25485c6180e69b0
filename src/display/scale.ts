// The axes of the chart: round numbers at the side, and dates below that never touch each other.
import { hourSeconds } from '../durations.ts'
import { clockTime, dayAndMonth, shortMonth } from './formats.ts'

/** From 0 to a round number at or above the largest, in at most five equal steps of whole numbers. */
export function countTicks(largest: number): number[] {
  const minStep = Math.max(1, largest) / 5
  const power = 10 ** Math.floor(Math.log10(minStep))
  const step = Math.max(
    1,
    [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= minStep && isWhole(one)) ?? 1,
  )
  const ticks = [0]
  while ((ticks.at(-1) as number) < Math.max(1, largest)) ticks.push((ticks.at(-1) as number) + step)
  return ticks
}

/** From 0 to a round time at or above the largest, in seconds, in at most five equal steps. */
export function durationTicks(largest: number): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, hourSeconds]
  const step = steps.find((one) => 5 * one >= largest) ?? hourSeconds * Math.ceil(largest / (5 * hourSeconds))
  return Array.from({ length: Math.max(1, Math.ceil(largest / step)) + 1 }, (_, nth) => nth * step)
}

const isWhole = (number: number): boolean => number < 1 || Number.isInteger(number)

/** A label below the chart. Narrow screens show fewer. */
export interface TimeTick {
  index: number
  text: string
  onlyWide: boolean
}

type Candidate = Omit<TimeTick, 'onlyWide'>

/** The width of the plot on a page of 360 px, and on the narrowest page that is wide (dashboard.css). */
const narrowPx = 274
const widePx = 595
/** Wider than any digit or letter of the labels. */
const characterPx = 7

/** Every label, or every second, third … until no two labels touch. */
function thinned(candidates: readonly Candidate[], points: number): TimeTick[] {
  const wide = everyNth(candidates, points, widePx)
  const narrow = everyNth(wide, points, narrowPx)
  return wide.map((tick) => ({ ...tick, onlyWide: !narrow.includes(tick) }))
}

function everyNth(candidates: readonly Candidate[], points: number, width: number): Candidate[] {
  const longest = Math.max(0, ...candidates.map(({ text }) => text.length))
  // Labels are centred, but the last one may end at its point (chart.ts), so half of one label and all of the next must fit.
  const minStep = (1.5 * longest * characterPx * (points - 1)) / width
  for (let step = 1; ; step++) {
    const labels = candidates.filter((_, nth) => nth % step === 0)
    if (labels.every(({ index }, nth) => nth === 0 || index - (labels[nth - 1] as Candidate).index >= minStep))
      return labels
  }
}

/** Each day by its date; from three months on, the beginnings of months. */
export function dayTicks(days: readonly Temporal.PlainDate[]): TimeTick[] {
  const isLong = days.length > 92
  const candidates = days.flatMap((day, index) => {
    if (isLong && day.day !== 1) return []
    return [{ index, text: isLong ? shortMonth(day) : dayAndMonth(day) }]
  })
  return thinned(candidates, days.length)
}

/** Months by their names, or years by their numbers. */
export function monthTicks(months: readonly Temporal.PlainDate[]): TimeTick[] {
  const isLong = months.length > 24
  const candidates = months.flatMap((month, index) => {
    if (isLong && month.month !== 1) return []
    return [{ index, text: isLong ? String(month.year) : shortMonth(month) }]
  })
  return thinned(candidates, months.length)
}

/** Weeks by their first days; from half a year on, the first week that begins in each month. */
export function weekTicks(weeks: readonly Temporal.PlainDate[]): TimeTick[] {
  const isLong = weeks.length > 26
  const candidates = weeks.flatMap((day, index) => {
    if (isLong && (index === 0 || weeks[index - 1]?.month === day.month)) return []
    return [{ index, text: isLong ? shortMonth(day) : dayAndMonth(day) }]
  })
  return thinned(candidates, weeks.length)
}

/** Hours by the clock; of several days, each day at its beginning. */
export function hourTicks(hours: readonly Temporal.ZonedDateTime[]): TimeTick[] {
  const isLong = hours.length > 49
  const candidates = hours.flatMap((hour, index) => {
    if (isLong && hours[index - 1]?.day === hour.day) return []
    return [{ index, text: isLong ? dayAndMonth(hour.toPlainDate()) : clockTime(hour).replace(/:00$/, '') }]
  })
  return thinned(candidates, hours.length)
}
