// One event of a site in ClickHouse, by its id. Ids have no index: all ids of a day are read, eight bytes of each event, the newest day first.
import { type DayRange, dayBefore } from '../calendar/days.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { date, type Sql, sql, text } from '../stores/clickhouse-sql.ts'
import { storedId } from '../traffic/recording.ts'

export interface StoredEvent {
  /** The day that it was counted on. */
  day: string
  /** UTC milliseconds. */
  at: number
  name: string
  hostname: string
  pathname: string
  country: string
  referrer: string
  channel: string
  utmSource: string
  /** When its session began, in UTC milliseconds. */
  sessionBegan: number
}

interface Row extends Omit<StoredEvent, 'sessionBegan'> {
  visitor: string
  session: string
}

/** Those of a question of version 2. */
const limits = { seconds: 4.5, threads: 2, bytes: 1_000_000_000 }

export async function findStoredEvent(
  clickhouse: ClickHouseReader,
  siteId: string,
  eventId: string,
  [first, last]: DayRange,
  signal?: AbortSignal,
): Promise<StoredEvent | undefined> {
  for (let day = last; day >= first; day = dayBefore(day)) {
    const [row] = await clickhouse.rows<Row>(byId(siteId, eventId, day), signal, limits)
    if (!row) continue
    const { visitor, session, ...event } = row
    const [begin] = await clickhouse.rows<{ at: number }>(beginOf(siteId, day, visitor, session), signal, limits)
    return { ...event, sessionBegan: begin?.at ?? event.at }
  }
  return undefined
}

const byId = (siteId: string, eventId: string, day: string): Sql => sql`
  SELECT day, toUnixTimestamp64Milli(time) AS at, name, hostname, pathname, country, referrer, channel, utm_source AS "utmSource",
    toString(visitor_id) AS visitor, toString(session_id) AS session
  FROM events
  WHERE site_id = ${text(siteId)} AND day = ${date(day)} AND event_id = toUInt64(${text(storedId(eventId))})
  LIMIT 1`

/** The table is sorted by visitor within a day. */
const beginOf = (siteId: string, day: string, visitor: string, session: string): Sql => sql`
  SELECT toUnixTimestamp64Milli(min(time)) AS at FROM events
  WHERE site_id = ${text(siteId)} AND day = ${date(day)} AND visitor_id = toUInt64(${text(visitor)})
    AND session_id = toUInt64(${text(session)})`
