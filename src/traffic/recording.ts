import { hash } from 'node:crypto'
import type { ClickHouse } from '../stores/clickhouse.ts'
import type { TrafficEvent } from './event.ts'

/** A batch of events on its way into the engine; repeating it with the same id and events changes nothing. */
export interface Batch {
  /** UUID. */
  id: string
  events: readonly TrafficEvent[]
}

/** Writes events and the titles they carry, in that order: a title alone shows nothing. Note their days afterwards (late-days.ts). */
export async function recordBatch(clickhouse: ClickHouse, { id, events }: Batch): Promise<void> {
  if (events.length === 0) return
  await clickhouse.insert(
    'events',
    events.map((event) => eventRow(event, id)),
    id,
  )
  const titles = titleRows(events)
  if (titles.length > 0) await clickhouse.insert('titles', titles, hash('sha256', `titles ${id}`))
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
