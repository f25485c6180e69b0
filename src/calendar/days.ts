// Calendar days as `YYYY-MM-DD`. These texts sort like dates.
import { dayMs, minuteMs } from '../durations.ts'

/** From the first day to the last, both inclusive. */
export type DayRange = readonly [first: string, last: string]

/** A day closes half an hour after midnight: an event that arrives before that is not late. */
const graceMs = 30 * minuteMs

export const dayOf = (zone: string, instant: number): string =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).toPlainDate().toString()

/** The last closed day in a time zone. */
export const lastClosedDay = (zone: string, now: number): string => dayBefore(dayOf(zone, now - graceMs))

export const dayAfter = (day: string): string => addDays(day, 1)
export const dayBefore = (day: string): string => addDays(day, -1)

const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

export const firstOfMonth = (day: string): string => `${day.slice(0, 8)}01`

const firstOfNextMonth = (day: string): string => firstOfMonth(addDays(firstOfMonth(day), 31))

export const countDays = (ranges: readonly DayRange[]): number =>
  ranges.reduce((sum, [first, last]) => sum + (Date.parse(last) - Date.parse(first)) / dayMs + 1, 0)

/** The days that are in both lists. */
export const intersect = (one: readonly DayRange[], other: readonly DayRange[]): DayRange[] =>
  one.flatMap((left) =>
    other.flatMap((right): DayRange[] => {
      const both: DayRange = [later(left[0], right[0]), earlier(left[1], right[1])]
      return both[0] <= both[1] ? [both] : []
    }),
  )

/** The days in the first list that are not in the second. */
export const subtract = (ranges: readonly DayRange[], removed: readonly DayRange[]): DayRange[] =>
  removed.reduce<DayRange[]>(
    (left, [from, until]) =>
      left.flatMap(([first, last]): DayRange[] => [
        ...(first < from ? [[first, last < from ? last : dayBefore(from)] as const] : []),
        ...(last > until ? [[first > until ? first : dayAfter(until), last] as const] : []),
      ]),
    ranges.filter(([first, last]) => first <= last),
  )

/** The whole months within these days. */
export const wholeMonths = (ranges: readonly DayRange[]): DayRange[] =>
  ranges.flatMap(([first, last]): DayRange[] => {
    const from = first.endsWith('-01') ? first : firstOfNextMonth(first)
    const until = dayBefore(firstOfMonth(dayAfter(last)))
    return from <= until ? [[from, until]] : []
  })

export const later = (one: string, other: string): string => (one > other ? one : other)
export const earlier = (one: string, other: string): string => (one < other ? one : other)
