// Sessions that were running when the last process ended, from what it left: the engine and the spool (decision D-92).
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, instant, sql } from '../stores/clickhouse-sql.ts'
import type { Channel } from '../traffic/channel.ts'
import type { Taken } from './intake.ts'
import { longestGapMs, type MemorySessions } from './sessions.ts'
import { openSpoolFile, spoolFiles } from './spool-file.ts'

interface Row {
  site_id: string
  visitor_id: string
  id: string
  last: number
  referrer: string
  channel: Channel
  utm_source: string
}

export async function readRunningSessions(
  clickhouse: ClickHouse,
  sessions: MemorySessions,
  now: number,
): Promise<void> {
  const since = now - longestGapMs
  const firstDay = new Date(since - 12 * 3_600_000).toISOString().slice(0, 10)
  const rows = await clickhouse.rows<Row>(sql`
    SELECT site_id, toString(visitor_id) AS visitor_id, toString(argMax(session_id, time)) AS id,
      toUnixTimestamp64Milli(max(time)) AS last, argMax(referrer, time) AS referrer,
      argMax(channel, time) AS channel, argMax(utm_source, time) AS utm_source
    FROM events WHERE day >= ${date(firstDay)} AND time >= ${instant(since)}
    GROUP BY site_id, visitor_id ORDER BY last`)
  for (const { site_id, visitor_id, id, last, referrer, channel, utm_source } of rows) {
    sessions.remember(site_id, visitor_id, { id, lastAt: last, referrer, channel, utmSource: utm_source })
  }
}

/** Of what is not shipped yet. */
export function readSpooledSessions(folder: string, sessions: MemorySessions, now: number): void {
  for (const number of spoolFiles(folder)) {
    const file = openSpoolFile(folder, number)
    for (const { lines } of file.prepare('SELECT lines FROM groups ORDER BY number').iterate() as Iterable<{
      lines: string
    }>) {
      for (const line of lines.split('\n')) remember(line, sessions, now)
    }
    file.close()
  }
}

function remember(line: string, sessions: MemorySessions, now: number): void {
  const { event } = JSON.parse(line) as Taken
  if (now - event.time > longestGapMs) return
  const { siteId, visitorId, sessionId, time, referrer, channel, utmSource } = event
  sessions.remember(siteId, visitorId, { id: sessionId, lastAt: time, referrer, channel, utmSource })
}
