import type { RangeName } from '../calendar/periods.ts'
import type { Metrics } from './reports/overview.ts'

export interface Day {
  date: string
  visitors: number
  pageviews: number
}

interface PreviousDay extends Day {
  /** The instant of ISO 8601 at which the previous period ends within this day. */
  until?: string
}

/** A day, and the day of the previous period that it is compared with: two for 28 February after a leap year, or none. */
export interface ComparedDay extends Day {
  previous: readonly PreviousDay[]
}

/** The previous period of an overview: its numbers, and its interval of ISO 8601. */
export interface PreviousPeriod {
  numbers: Metrics
  period: string
}

/**
 * Compares days with the days of the previous period, which add up to the overview's previous numbers. The overview compares today with the
 * same part of a day, and there is no report of that part, so the last previous day is what the whole days before it leave.
 */
export function compareDays(
  days: readonly Day[],
  wholeDays: readonly Day[],
  previous: PreviousPeriod,
  range: RangeName,
): ComparedDay[] {
  const back = range === '12m' ? { months: 12 } : { days: days.length }
  const partners = new Map(
    days.map(({ date }, index) => [Temporal.PlainDate.from(date).subtract(back).toString(), index]),
  )
  const compared = days.map((day) => ({ ...day, previous: [] as PreviousDay[] }))
  let partner = 0
  for (const day of cutDays(wholeDays, previous)) {
    // Only 29 February can have no partner: it joins the day before it.
    partner = partners.get(day.date) ?? partner
    compared[partner]?.previous.push(day)
  }
  return compared
}

function cutDays(wholeDays: readonly Day[], { numbers, period }: PreviousPeriod): PreviousDay[] {
  const last = wholeDays.at(-1)
  if (!last) return []
  const others = wholeDays.slice(0, -1)
  const end = period.slice(period.indexOf('/') + 1)
  // An event that arrives between the two reads must not make it negative.
  const left = (metric: 'visitors' | 'pageviews') => Math.max(0, numbers[metric] - sumOf(others, metric))
  const cut = { date: last.date, visitors: left('visitors'), pageviews: left('pageviews') }
  return [...others, end.startsWith(last.date) ? { ...cut, until: end } : cut]
}

export const sumOf = (days: readonly Day[], metric: 'visitors' | 'pageviews'): number =>
  days.reduce((sum, day) => sum + day[metric], 0)
