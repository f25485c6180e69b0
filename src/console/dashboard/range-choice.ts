// The ranges of a dashboard: those of the API, and those of the calendar, whose days the API is asked for.
import { calendarDays, type Days } from '../../calendar/calendar-ranges.ts'
import type { Period, Range } from '../../calendar/periods.ts'
import { shortDay } from '../../display/formats.ts'
import { rangeTexts as textsOfApi } from '../../display/ranges.ts'
import { one, rangeOf, readRange } from '../../stats/parameters.ts'
import type { QueryString } from '../../stats/query-string.ts'

const calendarRanges = ['today', 'yesterday', 'this_week', 'this_month', 'last_month', 'this_year', 'all'] as const

type CalendarRange = (typeof calendarRanges)[number]

/** What an address says. */
export type RangeChoice = Range | { name: CalendarRange }

/** With the days of the calendar at the current time of the page. */
export type ShownRange = Range | ({ name: CalendarRange } & Days)

export const rangeTexts: Readonly<Record<RangeChoice['name'], string>> = {
  ...textsOfApi,
  today: 'Today',
  yesterday: 'Yesterday',
  this_week: 'This week',
  this_month: 'This month',
  last_month: 'Last month',
  this_year: 'This year',
  all: 'All time',
}

/** `firstDay`: of all time. A site without events has only today. */
export function readRangeChoice(
  query: QueryString,
  today: Temporal.PlainDate,
  firstDay: Temporal.PlainDate = today,
): ShownRange {
  const values = query.get('range')
  const name = calendarRanges.find((range) => values?.length === 1 && values[0] === range)
  if (!name) return rangeOf(query, one(query, 'range', readRange) ?? '30d')
  if (name !== 'all') return { name, ...(calendarDays(name, today) as Days) }
  return { name, firstDay: Temporal.PlainDate.compare(firstDay, today) > 0 ? today : firstDay, lastDay: today }
}

export const isAllTime = (query: QueryString): boolean => query.get('range')?.[0] === 'all'

/** Without its name: the same numbers tomorrow. */
export const asApiRange = (range: ShownRange): Range =>
  'firstDay' in range ? { name: 'custom', firstDay: range.firstDay, lastDay: range.lastDay } : range

/** The fields of an address. */
export const rangeFields = (range: RangeChoice): [string, string][] => [
  ['range', range.name],
  ...(range.name === 'custom'
    ? ([
        ['start', String(range.firstDay)],
        ['end', String(range.lastDay)],
      ] as [string, string][])
    : []),
]

/** A range of one day of the calendar. */
export const singleDay = (range: ShownRange): Temporal.PlainDate | undefined =>
  'firstDay' in range && range.firstDay.equals(range.lastDay) ? range.firstDay : undefined

/** `Last 30 days`, or the days of a custom range: `3 Nov – 15 Nov` */
export function rangeText(range: RangeChoice, { firstDay, lastDay }: Period, now: Temporal.ZonedDateTime): string {
  if (range.name !== 'custom') return rangeTexts[range.name]
  const [first, last] = [shortDay(firstDay, now.year), shortDay(lastDay, now.year)]
  return first === last ? first : `${first} – ${last}`
}
