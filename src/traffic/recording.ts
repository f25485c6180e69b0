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
    await clickhouse.insert(
      'events',
      missing.map((event) => eventRow(event, id)),
      tokenOf(id, missing),
    )
  }
  const titled = events.filter(({ title }) => title !== '')
  if (titled.length > 0) await clickhouse.insert('titles', titled.map(titleRow), `titles ${tokenOf(id, titled)}`)
}

/** The engine leaves out a token it has seen lately, so the token stands for exactly these rows. */
const tokenOf = (id: string, events: readonly TrafficEvent[]): string =>
  hash('sha256', `${id} ${events.map(keyOf).join(' ')}`)

/** Ids are chosen by clients: the same one may be on two sites. */
const keyOf = ({ siteId, eventId }: Pick<TrafficEvent, 'siteId' | 'eventId'>): string => `${siteId} ${eventId}`

const sitesAtOnce = 200
const longestLookSeconds = 60

/** The events of a batch that the engine does not have: what a writer asks that does not know how far it came. */
export async function missingOf(clickhouse: ClickHouse, { id, events }: Batch): Promise<TrafficEvent[]> {
  const found = new Set<string>()
  const sites = [...new Set(events.map(({ siteId }) => siteId))]
  const days = events.map(({ day }) => day).sort()
  const [first, last] = [days[0] ?? '', days.at(-1) ?? '']
  // By site and day, so that the engine reads only their part of the table.
  for (let from = 0; from < sites.length; from += sitesAtOnce) {
    const rows = await clickhouse.rowsPatiently<{ siteId: string; eventId: string }>(
      sql`
        SELECT site_id AS siteId, toString(event_id) AS eventId FROM events
        WHERE site_id IN ${texts(sites.slice(from, from + sitesAtOnce))}
          AND day BETWEEN ${date(first)} AND ${date(last)} AND batch_id = toUUID(${text(id)})`,
      // A day of 100 million events takes longer than a read may, and a batch in doubt must not wait for ever.
      { max_execution_time: longestLookSeconds },
    )
    for (const row of rows) found.add(keyOf(row))
  }
  return events.filter((event) => !found.has(keyOf(event)))
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

const titleRow = ({ siteId, pathname, country, time, eventId, title }: TrafficEvent) => ({
  site_id: siteId,
  pathname,
  country,
  latest: { time: new Date(time).toISOString(), event_id: eventId, title },
})
