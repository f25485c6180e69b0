// Reports that are not daily: the last 24 hours, and the current visitors. Both read events by the same rules as every report. Request them
// with the range of 24 hours.
import Type from 'typebox'
import { type Period, storedDay } from '../calendar/periods.ts'
import { hourMs } from '../durations.ts'
import type { Scope } from '../rollups/reading.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { instant, sql, uint } from '../stores/clickhouse-sql.ts'
import { hitScope } from './daily-metrics.ts'
import type { SiteReport } from './report.ts'
import { views, visitors } from './shapes.ts'

/** A visitor counts as current for this many minutes after an event. */
export const minutesOfNow = 5

const hour = Type.Object({
  start: Type.Integer({
    description: 'When it begins, in UTC milliseconds. The last of 24 ends now (decision D-184).',
  }),
  visitors,
  pageviews: views,
})

export type Hour = Type.Static<typeof hour>

interface Row {
  ago: number
  visitors: number
  pageviews: number
}

/** The 24 hours of the period. A visitor is counted in every hour with an event, so visitors of hours do not add up. */
export const hours: SiteReport = {
  data: Type.Array(hour),
  limited: false,
  isLive: true,
  read: (clickhouse, query, signal) => readHours(clickhouse, query, query.current, signal),
}

/** The 24 hours before those of `hours`. */
export const previousHours: SiteReport = {
  ...hours,
  read: (clickhouse, query, signal) => readHours(clickhouse, query, query.previous, signal),
}

async function readHours(
  clickhouse: ClickHouseReader,
  scope: Scope,
  period: Period,
  signal?: AbortSignal,
): Promise<{ data: Hour[] }> {
  // On a whole day of the period an event counts by its day alone. If its time lies outside the period, it counts in the nearest hour.
  const end = period.end.epochMilliseconds
  const rows = await clickhouse.rows<Row>(
    sql`
      SELECT
        toUInt8(greatest(0, least(23, intDiv(dateDiff('millisecond', time, ${instant(end)}) - 1, ${uint(hourMs)})))) AS ago,
        uniqExact(day, visitor_id) AS visitors,
        countIf(name = 'pageview') AS pageviews
      FROM events
      WHERE ${hitScope(scope, period, [[storedDay(period.firstDay), storedDay(period.lastDay)]])}
      GROUP BY ago`,
    signal,
  )
  const byAge = new Map(rows.map((row) => [row.ago, row]))
  const data = Array.from({ length: 24 }, (_, index) => {
    const { visitors = 0, pageviews = 0 } = byAge.get(23 - index) ?? {}
    return { start: end - (24 - index) * hourMs, visitors, pageviews }
  })
  return { data }
}

export const currentVisitors: SiteReport = {
  data: visitors,
  limited: false,
  isLive: true,
  async read(clickhouse, query, signal) {
    const period = lastMinutes(query.current.end)
    const [row] = await clickhouse.rows<{ visitors: number }>(
      sql`
        SELECT uniqExact(day, visitor_id) AS visitors
        FROM events
        WHERE ${hitScope(query, period, [[storedDay(period.firstDay), storedDay(period.lastDay)]])}`,
      signal,
    )
    return { data: row?.visitors ?? 0 }
  },
}

function lastMinutes(now: Temporal.ZonedDateTime): Period {
  const start = now.subtract({ minutes: minutesOfNow })
  return { start, end: now, firstDay: start.toPlainDate(), lastDay: now.subtract({ nanoseconds: 1 }).toPlainDate() }
}
