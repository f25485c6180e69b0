import type { DayRange } from '../calendar/days.ts'
import { date, join, type Sql, sql } from '../stores/clickhouse-sql.ts'
import type { CountryCode } from './country.ts'
import type { Device } from './device.ts'

/** The filters of a query. */
export interface Filters {
  country?: CountryCode
  device?: Device
  hostname?: string
  /** The session's UTM source, exact and case-sensitive. */
  utmSource?: string
}

/** A condition on `day`, a column of every table with traffic by day. */
export function onDays(days: readonly DayRange[]): Sql {
  const ranges = days.map(([first, last]) => sql`day BETWEEN ${date(first)} AND ${date(last)}`)
  return ranges.length === 1 ? (ranges[0] as Sql) : sql`(${join(ranges, sql` OR `)})`
}
