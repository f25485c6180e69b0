// After a restart: restores the sessions that were running when the last process ended, from ClickHouse and from the spool (decision D-92).
import { hourMs } from '../../durations.ts'
import { sessionGapMs } from '../../enrichment/session.ts'
import { campaignOf } from '../../enrichment/source.ts'
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { date, instant, sql, uint } from '../../stores/clickhouse-sql.ts'
import type { Channel } from '../../traffic/channel.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import { openSpoolFile, spoolFiles } from '../spool/files.ts'
import type { SpooledLine } from '../spool/spooled-event.ts'
import type { MemorySessions } from './memory-sessions.ts'

interface Row {
  site_id: string
  visitor_id: string
  id: string
  last: number
  referrer: string
  channel: Channel
  utm_source: string
  medium: string
  campaign: string
  content: string
  term: string
}

/** Reads the sessions of this many latest hits from ClickHouse, and as many from the spool: 13 MB of JSON, a fraction of a second. */
const maxHits = 100_000

/** May exceed the read time limit in a busy hour, and then fails: no index leads to the hits of the last minutes. */
export async function readRunningSessions(
  clickhouse: ClickHouse,
  sessions: MemorySessions,
  now: number,
): Promise<void> {
  const since = now - sessionGapMs
  const firstDay = new Date(since - 12 * hourMs).toISOString().slice(0, 10)
  const rows = await clickhouse.rows<Row>(sql`
    SELECT site_id, toString(visitor_id) AS visitor_id, toString(session_id) AS id, toUnixTimestamp64Milli(time) AS last,
      referrer, channel, utm_source, utm_medium AS medium, utm_campaign AS campaign, utm_content AS content, utm_term AS term
    FROM
    (
      SELECT site_id, visitor_id, session_id, time, referrer, channel, utm_source, utm_medium, utm_campaign, utm_content, utm_term
      FROM events WHERE day >= ${date(firstDay)} AND time >= ${instant(since)}
      ORDER BY time DESC LIMIT ${uint(maxHits)}
    )
    ORDER BY time DESC LIMIT 1 BY site_id, visitor_id`)
  // Oldest first, so that the sessions silent longest are the first to be dropped.
  for (const { site_id, visitor_id, id, last, referrer, channel, utm_source, ...campaign } of rows.reverse()) {
    const origin = { referrer, channel, utmSource: utm_source, campaign: campaignOf(campaign) }
    sessions.remember(site_id, visitor_id, { id, lastAt: last, ...origin })
  }
}

/** Restores the sessions of events that are not shipped yet. */
export function readSpooledSessions(folder: string, sessions: MemorySessions, now: number): void {
  const hits = lastHits(folder, now - sessionGapMs)
  for (const { siteId, visitorId, sessionId, time, referrer, channel, utmSource, campaign } of hits.reverse()) {
    sessions.remember(siteId, visitorId, { id: sessionId, lastAt: time, referrer, channel, utmSource, campaign })
  }
}

/** Newest first and limited: after an outage the spool may hold millions of events. */
function lastHits(folder: string, since: number): TrafficEvent[] {
  const hits: TrafficEvent[] = []
  for (const number of spoolFiles(folder).reverse()) {
    const file = openSpoolFile(folder, number)
    try {
      const groups = file.prepare('SELECT lines FROM groups ORDER BY number DESC').iterate()
      for (const { lines } of groups as Iterable<{ lines: string }>) {
        for (const line of lines.split('\n').reverse()) {
          const { event } = JSON.parse(line) as SpooledLine
          if (event.time < since || hits.length === maxHits) return hits
          hits.push(event)
        }
      }
    } finally {
      file.close()
    }
  }
  return hits
}
