// The visitors of the last minutes, read from events by the same rules as every report. Request it with the range of 24 hours.
import { type Period, storedDay } from '../calendar/periods.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import { hitScope } from './daily-metrics.ts'
import type { SiteReport } from './report.ts'
import { visitors } from './shapes.ts'

/** A visitor counts as current for this many minutes after an event. */
export const minutesOfNow = 5

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
