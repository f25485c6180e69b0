import { hash } from 'node:crypto'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, sql, texts } from '../stores/clickhouse-sql.ts'
import type { TrafficEvent } from './event.ts'

/** A batch of events for ClickHouse. Writing it again with the same id and events changes nothing. */
export interface Batch {
  /** UUID. */
  id: string
  events: readonly TrafficEvent[]
}

/**
 * Writes events, then their titles: a title without events is not shown. `missing` holds the events that ClickHouse does not have
 * yet, when it already has a part of the batch. Call `invalidateDays` afterwards (rollups/invalidation.ts). Returns undefined, or the
 * replica that may be the only one with the rows.
 */
export async function recordBatch(
  clickhouse: ClickHouse,
  { id, events }: Batch,
  missing: readonly TrafficEvent[] = events,
): Promise<ClickHouse | undefined> {
  const only =
    missing.length > 0 ? await clickhouse.insert(intoEvents, missing.map(eventRow), tokenOf(id, missing)) : undefined
  const titled = events.filter(({ title }) => title !== '')
  if (titled.length === 0) return only
  return (await clickhouse.insert('titles', titled.map(titleRow), `titles ${tokenOf(id, titled)}`)) ?? only
}

/** ClickHouse skips an insert whose token it has seen lately, so a token stands for exactly these rows. */
const tokenOf = (id: string, events: readonly TrafficEvent[]): string =>
  hash('sha256', `${id} ${events.map(keyOf).join(' ')}`)

/** Clients choose event ids, so two sites may have the same id. */
const keyOf = ({ siteId, eventId }: Pick<TrafficEvent, 'siteId' | 'eventId'>): string => `${siteId} ${eventId}`

/** Ids per statement. ClickHouse accepts 128 kB per parameter, and an id or a site takes up to 30 bytes. */
const idsAtOnce = 3_000
const lookupSeconds = 60

/** The events of a batch that ClickHouse does not have, for a writer that does not know how much it has written. */
export async function missingEvents(clickhouse: ClickHouse, events: readonly TrafficEvent[]): Promise<TrafficEvent[]> {
  const missing: TrafficEvent[] = []
  for (let from = 0; from < events.length; from += idsAtOnce) {
    const some = events.slice(from, from + idsAtOnce)
    const days = some.map(({ day }) => day).sort()
    // By site and day, so that ClickHouse reads only that part of the table.
    const rows = await clickhouse.rowsPatiently<{ site: string; id: string }>(
      sql`
        SELECT site_id AS site, toString(event_id) AS id FROM events
        WHERE site_id IN ${texts([...new Set(some.map(({ siteId }) => siteId))])}
          AND day BETWEEN ${date(days[0] ?? '')} AND ${date(days.at(-1) ?? '')}
          AND event_id IN arrayMap(id -> toUInt64(id), ${texts(some.map(({ eventId }) => storedId(eventId)))})`,
      // A day of 100 million events takes longer than the limit for reads, but the batch must not wait for ever.
      { max_execution_time: lookupSeconds },
    )
    const stored = new Set(rows.map(({ site, id }) => `${site} ${id}`))
    missing.push(...some.filter(({ siteId, eventId }) => !stored.has(`${siteId} ${storedId(eventId)}`)))
  }
  return missing
}

/**
 * Whether two replicas have the events. It looks for the rows themselves: an empty copy queue proves nothing, because rows whose only
 * disk was lost are in no queue.
 */
export async function areOnTwoReplicas({ replicas }: ClickHouse, events: readonly TrafficEvent[]): Promise<boolean> {
  if (!replicas) return true
  const results = await Promise.allSettled(replicas.all.map((replica) => missingEvents(replica, events)))
  return results.filter((one) => one.status === 'fulfilled' && one.value.length === 0).length >= 2
}

/**
 * The stored id of an event or an import: both halves of its UUID, XORed into 64 bits, in decimal. Ids of events are compared only within
 * a site and its days, to find out which events of a batch are stored. When 3,000 ids are looked up among 100 million, one lookup in 60
 * million is wrong about one event.
 */
export const storedId = (uuid: string): string => {
  const hex = uuid.replaceAll('-', '')
  return (BigInt(`0x${hex.slice(0, 16)}`) ^ BigInt(`0x${hex.slice(16)}`)).toString()
}

/** The columns of an event with the types that ClickHouse reads them as. */
const parsedAs = {
  site_id: 'String',
  day: 'Date',
  time: "DateTime64(3, \\'UTC\\')",
  visitor_id: 'UInt64',
  session_id: 'UInt64',
  event_id: 'UInt64',
  name: 'String',
  hostname: 'String',
  pathname: 'String',
  referrer: 'String',
  channel: 'String',
  utm_source: 'String',
  utm_medium: 'String',
  utm_campaign: 'String',
  utm_content: 'String',
  utm_term: 'String',
  country: 'String',
  device: 'String',
  browser: 'String',
  os: 'String',
  props: 'Map(String, String)',
  revenue: 'UInt64',
  currency: 'String',
  import_id: 'UInt64',
} as const

/**
 * Texts are read as String and then cast to LowCardinality, a column at a time: 4.8 us of ClickHouse's CPU per event. Reading JSON straight
 * into LowCardinality hashes each value alone and takes 8.3 us.
 */
const intoEvents = (() => {
  const names = Object.keys(parsedAs).join(', ')
  const types = Object.entries(parsedAs).map(([name, type]) => `${name} ${type}`)
  return `events (${names}) SELECT ${names} FROM input('${types.join(', ')}')`
})()

/** JSON leaves out what is undefined, and ClickHouse then writes an empty text or 0. */
const eventRow = (event: TrafficEvent): Partial<Record<keyof typeof parsedAs, unknown>> => ({
  site_id: event.siteId,
  day: event.day,
  time: new Date(event.time).toISOString(),
  visitor_id: event.visitorId,
  session_id: event.sessionId,
  event_id: storedId(event.eventId),
  name: event.name,
  hostname: event.hostname,
  pathname: event.pathname,
  referrer: event.referrer,
  channel: event.channel,
  utm_source: event.utmSource,
  utm_medium: event.campaign?.medium,
  utm_campaign: event.campaign?.campaign,
  utm_content: event.campaign?.content,
  utm_term: event.campaign?.term,
  country: event.country,
  device: event.device,
  browser: event.browser,
  os: event.os,
  props: event.props,
  revenue: event.revenue?.amount,
  currency: event.revenue?.currency,
  import_id: event.importId && storedId(event.importId),
})

const titleRow = ({ siteId, pathname, country, time, eventId, title }: TrafficEvent) => ({
  site_id: siteId,
  pathname,
  country,
  latest: { time: new Date(time).toISOString(), event_id: eventId, title },
})
