// Calendar ranges such as last_week. The server resolves them, because whoever asks may not know today's date in the zone of a site.
import { rangeNames } from './periods.ts'

const calendarUnits = ['day', 'week', 'month', 'quarter', 'year'] as const

type CalendarUnit = (typeof calendarUnits)[number]

/** The calendar ranges, then the ranges of the API. */
export const rangeWords = [
  'today',
  'yesterday',
  'this_week',
  'last_week',
  'this_month',
  'last_month',
  'this_quarter',
  'last_quarter',
  'this_year',
  'last_year',
  ...rangeNames,
] as const

export type RangeWord = (typeof rangeWords)[number]

/** From the first day to the last, both inclusive. */
export interface Days {
  firstDay: Temporal.PlainDate
  lastDay: Temporal.PlainDate
}

/** The days of a calendar range, up to today; undefined for a range of the API. */
export function calendarDays(word: RangeWord, today: Temporal.PlainDate): Days | undefined {
  if (word === 'today') return { firstDay: today, lastDay: today }
  if (word === 'yesterday') return daysBefore(today, 'day')
  const [which, name] = word.split('_')
  const unit = calendarUnits.find((one) => one === name)
  if (!unit) return undefined
  const firstDay = firstDayOf(unit, today)
  return which === 'this' ? { firstDay, lastDay: today } : daysBefore(firstDay, unit)
}

/** The first day of the week (Monday), month, quarter or year that a day belongs to. */
function firstDayOf(unit: CalendarUnit, day: Temporal.PlainDate): Temporal.PlainDate {
  switch (unit) {
    case 'day':
      return day
    case 'week':
      return day.subtract({ days: day.dayOfWeek - 1 })
    case 'month':
      return day.with({ day: 1 })
    case 'quarter':
      return day.with({ month: day.month - ((day.month - 1) % 3), day: 1 })
    case 'year':
      return day.with({ month: 1, day: 1 })
  }
}

const lengths: Readonly<Record<CalendarUnit, Temporal.DurationLike>> = {
  day: { days: 1 },
  week: { weeks: 1 },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { years: 1 },
}

const daysBefore = (firstDay: Temporal.PlainDate, unit: CalendarUnit): Days => ({
  firstDay: firstDay.subtract(lengths[unit]),
  lastDay: firstDay.subtract({ days: 1 }),
})
