// The visitors of many sites with two statements: one for their days, one for the current visitors. The numbers are the same as in the
// overview and the time series of each site.
import { daysOf } from '../calendar/periods.ts'
import { dayMs, minuteMs } from '../durations.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { date, sql, texts, uint } from '../stores/clickhouse-sql.ts'
import { minutesOfNow } from './current-visitors.ts'
import type { StatsQuery } from './daily-metrics.ts'
import { isExcluded, readOfSites } from './daily-totals-of-sites.ts'
import { percentChange } from './rounding.ts'
import type { SiteRow, SitesReport } from './sites-query.ts'

export interface SiteSummary extends SiteRow {
  visitors: number
  previousVisitors: number
  /** In percent, as in the overview; null without visitors in the previous period. */
  change: number | null
  /** The visitors of each day. */
  days: readonly number[]
  currentVisitors: number
}

interface Row {
  site_id: string
  period: 'current' | 'previous'
  day: string
  visitors: number
}

export const siteSummaries: SitesReport<SiteSummary> = {
  name: 'summaries',
  comparesPeriods: true,
  byDay: true,
  isLive: true,
  serialize: JSON.stringify,
  stableFields: (row) => row,
  async read(clickhouse, queries, now, signal) {
    const [rows, currentVisitors] = await Promise.all([
      readOfSites<Row>(
        clickhouse,
        queries,
        (dailyTotals) => sql`
          SELECT site_id, period, day, sum(visitors) AS visitors
          FROM ${dailyTotals}
          GROUP BY site_id, period, day`,
        signal,
      ),
      readNow(clickhouse, queries, now, signal),
    ])
    const bySite = Map.groupBy(rows, ({ site_id }) => site_id)
    return queries.map(({ siteId, current }) => {
      const counted = Map.groupBy(bySite.get(siteId) ?? [], ({ period }) => period)
      const byDay = new Map(counted.get('current')?.map(({ day, visitors }) => [day, visitors]))
      const days = Array.from(daysOf(current), (day) => byDay.get(day) ?? 0)
      const visitors = sum(days)
      const previousVisitors = sum((counted.get('previous') ?? []).map((row) => row.visitors))
      return {
        site_id: siteId,
        visitors,
        previousVisitors,
        change: percentChange(visitors, previousVisitors),
        days,
        currentVisitors: currentVisitors.get(siteId) ?? 0,
      }
    })
  },
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

async function readNow(
  clickhouse: ClickHouseReader,
  queries: readonly StatsQuery[],
  now: number,
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const start = now - minutesOfNow * minuteMs
  const rows = await clickhouse.rows<{ site_id: string; visitors: number }>(
    sql`
      SELECT site_id, uniqExact(day, visitor_id) AS visitors
      FROM events
      WHERE site_id IN ${texts(queries.map(({ siteId }) => siteId))}
        AND day BETWEEN ${date(utcDay(start, -1))} AND ${date(utcDay(now, 1))}
        AND toUnixTimestamp64Milli(time) >= ${uint(start)} AND toUnixTimestamp64Milli(time) < ${uint(now)}
        AND NOT ${isExcluded(queries)}
      GROUP BY site_id`,
    signal,
  )
  return new Map(rows.map(({ site_id, visitors }) => [site_id, visitors]))
}

/** No zone is more than a day away from UTC. */
const utcDay = (time: number, later: number): string => new Date(time + later * dayMs).toISOString().slice(0, 10)
