import type { DayRange } from '../calendar/days.ts'
import {
  type Period,
  type Periods,
  partialEnd,
  partialStart,
  storedDay,
  withWholeLastDay,
} from '../calendar/periods.ts'
import type { Coverage } from '../rollups/coverage.ts'
import { endsInDroppedDay, type Plan, type PlanOptions, planOf } from '../rollups/plan.ts'
import type { Scope } from '../rollups/reading.ts'
import { date, instant, join, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'

/** A query about one site, for any report. */
export interface StatsQuery extends Scope, Periods {
  /** Where the days of each period are read from. Decided once; everything else follows it. */
  plans: Readonly<Record<keyof Periods, Plan>>
  limit: number
}

export function planQuery<Query extends Periods>(
  query: Query,
  options: PlanOptions,
): Query & Pick<StatsQuery, 'plans'> {
  return { ...query, plans: { current: planOf(query.current, options), previous: planOf(query.previous, options) } }
}

/** Where single events of the previous period's last day are no longer kept, it ends with all of that day. */
export const comparablePeriods = (periods: Periods, coverage: Coverage): Periods =>
  endsInDroppedDay(periods.previous, coverage) ? { ...periods, previous: withWholeLastDay(periods.previous) } : periods

/** The events of a query: site, days, exclusions and every filter. Every statement over events contains this scope or `sessionScope`. */
export const hitScope = (query: Scope, period: Period, days: readonly DayRange[]): Sql =>
  sql`${sessionScope(query, days)} AND ${inWindow(query, period)}`

/**
 * The whole sessions of these events. A bounce or a duration is judged on the whole session, also outside the window's edges and on
 * other hosts (decisions D-7, D-8 and D-10). Country, device and UTM source never change within a session.
 */
export function sessionScope({ siteId, filters, excludedCountries }: Scope, days: readonly DayRange[]): Sql {
  const conditions = [sql`site_id = ${text(siteId)}`, onDays(days)]
  if (excludedCountries.length > 0) conditions.push(sql`NOT has(${texts(excludedCountries)}, country)`)
  if (filters.country !== undefined) conditions.push(sql`country = ${text(filters.country)}`)
  if (filters.device !== undefined) conditions.push(sql`device = ${text(filters.device)}`)
  if (filters.utmSource !== undefined) conditions.push(sql`utm_source = ${text(filters.utmSource)}`)
  return join(conditions, sql` AND `)
}

/** Whether a row in the scope's days lies inside the window's partial edges and on the requested host. */
export function inWindow({ filters }: Scope, period: Period): Sql {
  const conditions = [startsInWindow(period, sql`time`)]
  if (filters.hostname !== undefined) conditions.push(sql`hostname = ${text(filters.hostname)}`)
  return join(conditions, sql` AND `)
}

/** The day stamped on an event selects whole days. Instants matter only on a partial first or last day (decision D-9). */
export function startsInWindow(period: Period, time: Sql): Sql {
  const from = partialStart(period)
  const until = partialEnd(period)
  const conditions = [sql`true`]
  if (from !== null) conditions.push(sql`(day > ${date(storedDay(period.firstDay))} OR ${time} >= ${instant(from)})`)
  if (until !== null) conditions.push(sql`(day < ${date(storedDay(period.lastDay))} OR ${time} < ${instant(until)})`)
  return join(conditions, sql` AND `)
}
