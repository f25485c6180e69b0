import { date, instant, join, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { Device } from '../traffic/device.ts'
import type { DayRange, Fold, OpenFold } from '../traffic/folds.ts'
import { type Period, type Periods, partialEnd, partialStart, storedDay } from './period.ts'

/** A question about one site, whatever report answers it. */
export interface StatsQuery extends Periods {
  siteId: string
  filters: Filters
  excludedCountries: readonly CountryCode[]
  /** What of the site may be read from tallies. */
  folds: readonly Fold[]
  open?: OpenFold | undefined
  limit: number
}

export interface Filters {
  country?: CountryCode
  device?: Device
  hostname?: string
  /** Of the session, exact and case-sensitive. */
  utmSource?: string
}

/** The hits a question is about: site, days, exclusions and every filter. Every statement over events holds one of these two. */
export const hitScope = (query: StatsQuery, period: Period, days: readonly DayRange[]): Sql =>
  sql`${sessionScope(query, days)} AND ${inWindow(query, period)}`

/**
 * The whole sessions that such hits belong to: a bounce or a duration is judged on all of a session, also outside the
 * window's edges and on other hosts (decisions D-7, D-8 and D-10). Country, device and UTM source never change within a session.
 */
export function sessionScope({ siteId, filters, excludedCountries }: StatsQuery, days: readonly DayRange[]): Sql {
  const conditions = [sql`site_id = ${text(siteId)}`, onDays(days)]
  if (excludedCountries.length > 0) conditions.push(sql`NOT has(${texts(excludedCountries)}, country)`)
  if (filters.country !== undefined) conditions.push(sql`country = ${text(filters.country)}`)
  if (filters.device !== undefined) conditions.push(sql`device = ${text(filters.device)}`)
  if (filters.utmSource !== undefined) conditions.push(sql`utm_source = ${text(filters.utmSource)}`)
  return join(conditions, sql` AND `)
}

export function onDays(days: readonly DayRange[]): Sql {
  const ranges = days.map(([first, last]) => sql`day BETWEEN ${date(first)} AND ${date(last)}`)
  return ranges.length === 1 ? (ranges[0] as Sql) : sql`(${join(ranges, sql` OR `)})`
}

/** Whether a row of the scope's days is inside the window's partial edges and on the host asked for. */
export function inWindow({ filters }: StatsQuery, period: Period): Sql {
  const conditions = [startsInWindow(period, sql`time`)]
  if (filters.hostname !== undefined) conditions.push(sql`hostname = ${text(filters.hostname)}`)
  return join(conditions, sql` AND `)
}

/** Whole days are selected by the day stamped on the event; instants matter only on a partial first or last day (decision D-9). */
export function startsInWindow(period: Period, time: Sql): Sql {
  const from = partialStart(period)
  const until = partialEnd(period)
  const conditions = [sql`true`]
  if (from !== null) conditions.push(sql`(day > ${date(storedDay(period.firstDay))} OR ${time} >= ${instant(from)})`)
  if (until !== null) conditions.push(sql`(day < ${date(storedDay(period.lastDay))} OR ${time} < ${instant(until)})`)
  return join(conditions, sql` AND `)
}
