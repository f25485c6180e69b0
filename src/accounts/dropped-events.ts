import { maxHostname } from '../hostnames.ts'
import type { Postgres } from '../stores/postgres.ts'

/** An event of a site that was not counted (decision D-248). */
export interface DroppedEvent {
  siteId: string
  /** UUID. */
  eventId: string
  /** UTC milliseconds. */
  at: number
  reason: string
  /** Of the page, if the host is the reason. Anybody can send one. */
  hostname: string
}

/** How long they are kept. */
const kept = '24 hours'
/** The newest ones of a site that are kept. */
const maxPerSite = 1_000

/** Also forgets what is old or too much. An event of a site that was deleted meanwhile is not kept. */
export async function writeDroppedEvents(postgres: Postgres, events: readonly DroppedEvent[]): Promise<void> {
  if (events.length > 0) {
    const rows = events.map(({ siteId, eventId, hostname, ...rest }) => ({
      ...{ site_id: siteId, event_id: eventId, hostname: hostname.slice(0, maxHostname) },
      ...rest,
    }))
    await postgres`
      INSERT INTO dropped_events (site_id, event_id, dropped_at, reason, hostname)
      SELECT DISTINCT ON (site_id, event_id) site_id, event_id, to_timestamp(at / 1000.0), reason, hostname
      FROM jsonb_to_recordset(${postgres.json(rows)})
        AS event (site_id text, event_id uuid, at double precision, reason text, hostname text)
        JOIN sites ON sites.id = site_id
      ORDER BY site_id, event_id, at DESC
      ON CONFLICT (site_id, event_id) DO UPDATE
      SET (dropped_at, reason, hostname) = (excluded.dropped_at, excluded.reason, excluded.hostname)`
    await postgres`
      DELETE FROM dropped_events AS old
      USING unnest(${[...new Set(events.map(({ siteId }) => siteId))]}::text[]) AS site (id)
      WHERE old.site_id = site.id AND old.dropped_at < (
        SELECT dropped_at FROM dropped_events AS newer WHERE newer.site_id = site.id
        ORDER BY dropped_at DESC OFFSET ${maxPerSite - 1} LIMIT 1)`
  }
  await postgres`DELETE FROM dropped_events WHERE dropped_at < now() - ${kept}::text::interval`
}

interface Row {
  eventId: string
  at: Date
  reason: string
  hostname: string
}

export async function findDroppedEvent(
  postgres: Postgres,
  siteId: string,
  eventId: string,
): Promise<DroppedEvent | undefined> {
  const [row] = await postgres<Row[]>`
    SELECT event_id AS "eventId", dropped_at AS at, reason, hostname FROM dropped_events
    WHERE site_id = ${siteId} AND event_id = ${eventId} AND dropped_at > now() - ${kept}::text::interval`
  return row && { ...row, siteId, at: row.at.getTime() }
}

export async function lastDroppedEvent(postgres: Postgres, siteId: string): Promise<DroppedEvent | undefined> {
  const [row] = await postgres<Row[]>`
    SELECT event_id AS "eventId", dropped_at AS at, reason, hostname FROM dropped_events
    WHERE site_id = ${siteId} AND dropped_at > now() - ${kept}::text::interval
    ORDER BY dropped_at DESC LIMIT 1`
  return row && { ...row, siteId, at: row.at.getTime() }
}
