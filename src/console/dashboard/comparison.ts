// What the numbers are compared with: in addresses, as the API is asked, and in words.
import type { Period } from '../../calendar/periods.ts'
import { shortDay, shortDayRange, weekdayOf } from '../../display/formats.ts'
import { ApiError } from '../../errors.ts'
import type { QueryString } from '../../stats/query-string.ts'
import type { Comparison } from '../../stats/questions/question.ts'

export const previousPeriod: Comparison = { to: 'previous', matchWeekday: false }

/** The days as they were typed, in the form or in the address; undefined if something else is compared. */
export function typedDays(query: QueryString): [start: string, end: string] | undefined {
  const text = (name: string) => query.get(name)?.[0] ?? ''
  if (text('compare') === 'days') return [text('compare_start'), text('compare_end')]
  const [start = '', end = '', ...more] = text('compare').split('/')
  return text('compare').includes('/') && more.length === 0 ? [start, end] : undefined
}

/** Undefined: with nothing. */
export function readComparison(query: QueryString): Comparison | undefined {
  const days = typedDays(query)
  if (days) {
    const [firstDay, lastDay] = days.map(dayOf)
    if (!firstDay || !lastDay || Temporal.PlainDate.compare(firstDay, lastDay) > 0)
      throw new ApiError('invalid_date', 'compare must be two existing days in their order.')
    return { to: 'days', firstDay, lastDay }
  }
  const to = query.get('compare')?.[0]
  if (to === 'off') return undefined
  return { to: to === 'year' ? to : 'previous', matchWeekday: query.get('match')?.[0] === 'weekday' }
}

export function dayOf(text: string): Temporal.PlainDate | undefined {
  try {
    return /^\d{4}-\d\d-\d\d$/.test(text) ? Temporal.PlainDate.from(text) : undefined
  } catch {
    return undefined // no such day
  }
}

interface Compared {
  range: { name: string }
  compare: Comparison | undefined
}

/** Before all time there is nothing. */
export const comparisonOf = ({ range, compare }: Compared): Comparison | undefined =>
  range.name === 'all' && compare?.to !== 'days' ? undefined : compare

/** As the API is asked. */
export function comparisonFields(compare: Comparison | undefined): [string, string][] {
  if (!compare) return []
  if (compare.to === 'days') return [['compare', `${compare.firstDay}/${compare.lastDay}`]]
  return [['compare', compare.to], ...(compare.matchWeekday ? [['match', 'weekday'] as [string, string]] : [])]
}

/** In an address, where the previous period goes without saying. */
export function addressOfComparison(compare: Comparison | undefined): [string, string][] {
  if (!compare) return [['compare', 'off']]
  return compare.to === 'previous' && !compare.matchWeekday ? [] : comparisonFields(compare)
}

/** `12 visitors in the …` */
export const comparedPeriod = (compare: Comparison | undefined): string =>
  compare?.to === 'year' ? 'same period of the year before' : compare?.to === 'days' ? 'chosen days' : 'previous period'

/** On the button of the menu. */
export function comparisonName(
  compare: Comparison | undefined,
  compared: Period | undefined,
  thisYear: number,
): string {
  if (!compare || !compared) return 'No comparison'
  if (compared.firstDay.equals(compared.lastDay)) return weekdayAndDay(compared.firstDay, thisYear)
  if (compare.to === 'days') return shortDayRange(compare.firstDay, compare.lastDay, thisYear)
  return compare.to === 'year' ? 'Last year' : 'Previous period'
}

/** `Wed 18 Nov` */
export const weekdayAndDay = (day: Temporal.PlainDate, thisYear: number): string =>
  `${weekdayOf(day)} ${shortDay(day, thisYear)}`

/** Why no change is shown: part of what would be compared was not counted. */
export const tooEarly = (firstDay: Temporal.PlainDate, thisYear: number): string =>
  `The compared days begin before the first event, which came on ${shortDay(firstDay, thisYear)}.`
