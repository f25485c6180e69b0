// Refuses a question that would need more time than a request has (D-235). The decision depends only on the traffic of the days, which rollups
// know in milliseconds, and on the question, so that the same question is always or never refused. Days that are not rolled up are few or small.
import type { Period } from '../../calendar/periods.ts'
import { ApiError } from '../../errors.ts'
import { planOf } from '../../rollups/reading.ts'
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import { sql } from '../../stores/clickhouse-sql.ts'
import { dailyTotals } from '../daily-metrics.ts'
import type { Reader } from './sources.ts'

/** A list of pages, the slowest kind, took 0.3 to 0.9 s per million on a busy machine (bench:query), and a statement ends after 2 s. */
const maxPageviews = 5_000_000

/** Each filter takes about a tenth of the time more. */
const weightOf = (filters: number): number => 1 + filters / 10

export async function refuseExpensive(
  clickhouse: ClickHouseReader,
  reader: Reader,
  periods: readonly Period[],
  signal: AbortSignal,
): Promise<void> {
  const { coverage, filters } = reader
  if (coverage.versions.length === 0) return
  const pageviews = await Promise.all(periods.map((period) => pageviewsOf(clickhouse, reader, period, signal)))
  const share = (pageviews.reduce((sum, views) => sum + views, 0) * weightOf(filters.length)) / maxPageviews
  if (share <= 1) return
  throw new ApiError(
    'query_too_expensive',
    `This question would take too long: it reads ${share.toFixed(1)} times the traffic that a request has time for. ${
      periods.length > 1 ? 'Leave out compare, or ask' : 'Ask'
    } for fewer days.`,
  )
}

/** Of the rolled-up days, whatever the question filters. */
async function pageviewsOf(
  clickhouse: ClickHouseReader,
  { ask, coverage }: Reader,
  period: Period,
  signal: AbortSignal,
): Promise<number> {
  const { rolledUp } = planOf(period, { versions: coverage.versions, byDay: false })
  if (rolledUp.length === 0) return 0
  const none = { raw: [], rolledUp: [], today: [] }
  const query = {
    ...{ siteId: ask.siteId, excludedCountries: [], filters: {}, limit: 0, current: period, previous: period },
    plans: { current: { ...none, rolledUp }, previous: none },
  }
  const [row] = await clickhouse.rows<{ views: number }>(
    sql`SELECT sum(views) AS views FROM ${dailyTotals(query)}`,
    signal,
  )
  return row?.views ?? 0
}
