import { hash } from 'node:crypto'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, sql, text, texts } from '../stores/clickhouse-sql.ts'
import type { TrafficEvent } from './event.ts'

/** A batch of events on its way into the engine; repeating it with the same id and events changes nothing. */
export interface Batch {
  /** UUID. */
  id: string
  events: readonly TrafficEvent[]
}

/**
 * Writes events and the titles they carry, in that order: a title alone shows nothing. `missing`: the events of it that the engine
 * does not have yet, when a part of it is there. Note their days afterwards (late-days.ts).
 */
export async function recordBatch(
  clickhouse: ClickHouse,
  { id, events }: Batch,
  missing: readonly TrafficEvent[] = events,
): Promise<void> {
  if (missing.length > 0) {
    // The engine leaves out a token it has seen lately, so the token stands for exactly these rows.
    const token = hash('sha256', `${id} ${missing[0]?.eventId} ${missing.length}`)
    await clickhouse.insert(
      'events',
      missing.map((event) => eventRow(event, id)),
      token,
    )
  }
  const titles = titleRows(events)
  if (titles.length > 0) await clickhouse.insert('titles', titles, hash('sha256', `titles ${id}`))
}

const sitesAtOnce = 200

/** Which events of a batch the engine has: what a writer asks that does not know how far it came. */
export async function recordedIds(clickhouse: ClickHouse, { id, events }: Batch): Promise<Set<string>> {
  const found = new Set<string>()
  const sites = [...new Set(events.map(({ siteId }) => siteId))]
  const days = events.map(({ day }) => day).sort()
  const [first, last] = [days[0] ?? '', days.at(-1) ?? '']
  // By site and day, so that the engine reads only their part of the table.
  for (let from = 0; from < sites.length; from += sitesAtOnce) {
    const rows = await clickhouse.rows<{ event_id: string }>(sql`
      SELECT event_id FROM events
      WHERE site_id IN ${texts(sites.slice(from, from + sitesAtOnce))}
        AND day BETWEEN ${date(first)} AND ${date(last)} AND batch_id = toUUID(${text(id)})`)
    for (const row of rows) found.add(row.event_id)
  }
  return found
}

const eventRow = (event: TrafficEvent, batchId: string) => ({
  site_id: event.siteId,
  day: event.day,
  time: new Date(event.time).toISOString(),
  visitor_id: event.visitorId,
  session_id: event.sessionId,
  event_id: event.eventId,
  batch_id: batchId,
  name: event.name,
  hostname: event.hostname,
  pathname: event.pathname,
  title: event.title,
  referrer: event.referrer,
  channel: event.channel,
  utm_source: event.utmSource,
  country: event.country,
  device: event.device,
})

const titleRows = (events: readonly TrafficEvent[]) =>
  events
    .filter(({ title }) => title !== '')
    .map(({ siteId, pathname, time, eventId, title }) => ({
      site_id: siteId,
      pathname,
      latest: { time: new Date(time).toISOString(), event_id: eventId, title },
    }))
