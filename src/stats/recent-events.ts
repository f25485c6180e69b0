// What the daily reports do not say: the hours of the last day, and who is there now. Both read events, by the same rules as every report.
import { type Period, storedDay } from '../calendar/periods.ts'
import { hourMs } from '../durations.ts'
import type { Scope } from '../rollups/reading.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { instant, sql, uint } from '../stores/clickhouse-sql.ts'
import { hitScope } from './query.ts'

/** Who was there in the last five minutes is there now. */
export const minutesOfNow = 5

export interface Hour {
  /** When it begins, in UTC milliseconds. The last of 24 ends now (decision D-184). */
  start: number
  visitors: number
  pageviews: number
}

interface Row {
  ago: number
  visitors: number
  pageviews: number
}

/** The 24 hours of a period of 24 hours. A visitor is counted in every hour with an event, so visitors of hours do not add up. */
export async function readHours(
  clickhouse: ClickHouseReader,
  scope: Scope,
  period: Period,
  signal?: AbortSignal,
): Promise<Hour[]> {
  // On a day that the period covers completely an event counts by its day alone, so its time may lie outside: it goes to the nearest hour.
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
  return Array.from({ length: 24 }, (_, index) => {
    const { visitors = 0, pageviews = 0 } = byAge.get(23 - index) ?? {}
    return { start: end - (24 - index) * hourMs, visitors, pageviews }
  })
}

/** The visitors of the last five minutes. */
export async function readCurrentVisitors(
  clickhouse: ClickHouseReader,
  scope: Scope,
  now: Temporal.ZonedDateTime,
  signal?: AbortSignal,
): Promise<number> {
  const period = lastMinutes(now)
  const [row] = await clickhouse.rows<{ visitors: number }>(
    sql`
      SELECT uniqExact(day, visitor_id) AS visitors
      FROM events
      WHERE ${hitScope(scope, period, [[storedDay(period.firstDay), storedDay(period.lastDay)]])}`,
    signal,
  )
  return row?.visitors ?? 0
}

function lastMinutes(now: Temporal.ZonedDateTime): Period {
  const start = now.subtract({ minutes: minutesOfNow })
  return { start, end: now, firstDay: start.toPlainDate(), lastDay: now.subtract({ nanoseconds: 1 }).toPlainDate() }
}
