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

type Label = Omit<TimeTick, 'onlyWide'>

interface Candidate extends Label {
  /** Of a month, which says its year where one begins. */
  year?: number
}

/** The width of the plot on a page of 360 px, and on the narrowest page that is wide (dashboard.css). */
const narrowPx = 274
const widePx = 595
/** Wider than any digit or letter of the labels. */
const characterPx = 7

/** Every label, or every second, third … until no two labels touch. */
function thinned(candidates: readonly Candidate[], points: number): TimeTick[] {
  const wide = everyNth(candidates, points, widePx)
  const narrow = new Set(everyNth(wide, points, narrowPx).map(({ index }) => index))
  return wide.map((tick) => ({ ...tick, onlyWide: !narrow.has(tick.index) }))
}

function everyNth(candidates: readonly Candidate[], points: number, width: number): Label[] {
  const areApart = (one: Label, next: Label) => {
    const apartPx = ((next.index - one.index) * width) / (points - 1)
    // Labels are centred, but the last one may end at its point (chart.ts).
    const before = next.index / (points - 1) > 0.97 ? next.text.length : next.text.length / 2
    return apartPx >= (one.text.length / 2 + before) * characterPx
  }
  for (let step = 1; ; step++) {
    const labels = withYears(candidates.filter((_, nth) => nth % step === 0))
    if (labels.every((label, nth) => nth === 0 || areApart(labels[nth - 1] as Label, label))) return labels
  }
}

/** `Dec 2025`, `Jan`: beside the other the year goes without saying. */
function withYears(candidates: readonly Candidate[]): Label[] {
  let isNamed = false
  return candidates.map(({ index, text, year }, nth) => {
    isNamed = year !== undefined && year !== candidates[nth - 1]?.year && !isNamed
    return { index, text: isNamed ? `${text} ${year}` : text }
  })
}

/** `Nov`, or `Nov 2026` */
const monthCandidate = (month: Temporal.PlainDate, index: number): Candidate => ({
  index,
  text: shortMonth(month).split(' ')[0] as string,
  year: month.year,
})

/** Each day by its date; from three months on, the beginnings of months. */
export function dayTicks(days: readonly Temporal.PlainDate[]): TimeTick[] {
  const isLong = days.length > 92
  const candidates = days.flatMap((day, index) => {
    if (isLong && day.day !== 1) return []
    return [isLong ? monthCandidate(day, index) : { index, text: dayAndMonth(day) }]
  })
  return thinned(candidates, days.length)
}

/** Months by their names, or years by their numbers. */
export function monthTicks(months: readonly Temporal.PlainDate[]): TimeTick[] {
  const isLong = months.length > 24
  const candidates = months.flatMap((month, index) => {
    if (isLong && month.month !== 1) return []
    return [isLong ? { index, text: String(month.year) } : monthCandidate(month, index)]
  })
  return thinned(candidates, months.length)
}

/** Weeks by their first days; from half a year on, the first week that begins in each month. */
export function weekTicks(weeks: readonly Temporal.PlainDate[]): TimeTick[] {
  const isLong = weeks.length > 26
  const candidates = weeks.flatMap((day, index) => {
    if (isLong && (index === 0 || weeks[index - 1]?.month === day.month)) return []
    return [isLong ? monthCandidate(day, index) : { index, text: dayAndMonth(day) }]
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
