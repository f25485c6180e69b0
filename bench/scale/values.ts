// The minimum number of rows for a response: the distinct values of each day, counted from raw events. Rolled-up days cannot be read with
// fewer rows, and should not need many more.
import type { Period } from '../../src/calendar/periods.ts'
import { partialEnd, partialStart } from '../../src/calendar/periods.ts'
import type { StatsQuery } from '../../src/stats/daily-metrics.ts'
import type { ReportName } from '../../src/stats/reports.ts'
import { join, type Sql, sql, text } from '../../src/stores/clickhouse-sql.ts'
import { excluded, type FilterWord, filtersOf } from './queries.ts'
import type { BenchSite } from './sites.ts'
import type { World } from './world.ts'

const columns = {
  page: sql`uniqExactIf(pathname, name = 'pageview')`,
  referrer: sql`uniqExactIf(referrer, referrer != '')`,
  channel: sql`uniqExact(channel)`,
  device: sql`uniqExact(device)`,
  country: sql`uniqExact(country)`,
  event: sql`uniqExactIf(name, name != 'pageview')`,
  utm: sql`uniqExactIf(utm_source, utm_source != '')`,
}

/** `day` stands for the totals: one row per day. */
type Dimension = keyof typeof columns | 'day'

/** All other reports read totals. */
const dimensionOf: Partial<Record<ReportName, Dimension>> = {
  overview: 'day',
  timeseries: 'day',
  pages: 'page',
  referrers: 'referrer',
  channels: 'channel',
  devices: 'device',
  geo: 'country',
  events: 'event',
  utm: 'utm',
}

/** For each filter and day: the number of events, and the number of values of each dimension. */
export type DailyValues = Record<string, Record<string, Record<string, number>>>

/** The filters of the queries. Excluding countries reads all traffic and the traffic of each excluded country. */
function groupingSetsOf(site: BenchSite): Record<string, Sql> {
  const { country, device, hostname, utm } = filtersOf(site.domain)
  return {
    none: sql`true`,
    country: sql`country = ${text(country.filters.country as string)}`,
    device: sql`device = ${text(device.filters.device as string)}`,
    hostname: sql`hostname = ${text(hostname.filters.hostname as string)}`,
    utm: sql`utm_source = ${text(utm.filters.utmSource as string)}`,
    ...Object.fromEntries(excluded.map((code) => [code, sql`country = ${text(code)}`])),
  }
}

export function countDailyValues(world: World, site: BenchSite, say: (text: string) => void): Promise<DailyValues> {
  return world.state.once(`values ${site.name}`, async () => {
    const result: DailyValues = {}
    for (const [groupingSet, condition] of Object.entries(groupingSetsOf(site))) {
      say(`${site.name}: counting the values of ${groupingSet}`)
      const counts = Object.values(columns)
      const table = `values_of_the_bench`
      // The reader has a limit of two seconds; a table may take as long as it needs.
      await world.clickhouse.command(`DROP TABLE IF EXISTS ${table}`)
      await world.clickhouse.run(sql`
        CREATE TABLE values_of_the_bench ENGINE = Memory AS
        SELECT day, [count(), ${join(counts, sql`, `)}] AS counts
        FROM events WHERE site_id = ${text(site.id)} AND ${condition} GROUP BY day`)
      const rows = await world.clickhouse.rows<{ day: string; counts: number[] }>(
        sql`SELECT day, counts FROM values_of_the_bench`,
      )
      await world.clickhouse.command(`DROP TABLE ${table}`)
      const names = ['events', ...Object.keys(columns)]
      result[groupingSet] = Object.fromEntries(
        rows.map(({ day, counts }) => [
          day,
          { day: 1, ...Object.fromEntries(counts.map((count, index) => [names[index], count])) },
        ]),
      )
    }
    return result
  })
}

export interface RowsNeeded {
  /** One per value and closed day. */
  rolledUp: number
  /** All events of the days that are covered in part. */
  raw: number
}

export function rowsNeeded(values: DailyValues, report: ReportName, filter: FilterWord, query: StatsQuery): RowsNeeded {
  const groupingSets = filter === 'excluded' ? ['none', ...excluded] : [filter]
  const dimensions: Dimension[] = report === 'channels' ? ['channel', 'day'] : [dimensionOf[report] ?? 'day']
  const periods = report === 'overview' ? [query.current, query.previous] : [query.current]
  const needed = { rolledUp: 0, raw: 0 }
  for (const period of periods) {
    for (const day of storedDays(values, period)) {
      // Whole sessions are judged, so partial days are read by day with any filter; a filter on raw rows applies only after reading them.
      if (isPartial(period, day)) needed.raw += (values.none?.[day]?.events ?? 0) * dimensions.length
      else {
        for (const groupingSet of groupingSets)
          for (const dimension of dimensions) needed.rolledUp += values[groupingSet]?.[day]?.[dimension] ?? 0
      }
    }
  }
  return needed
}

const storedDays = (values: DailyValues, { firstDay, lastDay }: Period): string[] =>
  Object.keys(values.none ?? {}).filter((day) => day >= `${firstDay}` && day <= `${lastDay}`)

const isPartial = (period: Period, day: string): boolean =>
  (day === `${period.firstDay}` && partialStart(period) !== null) ||
  (day === `${period.lastDay}` && partialEnd(period) !== null)
