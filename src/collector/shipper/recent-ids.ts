// Ids that clients gave to their events and that were shipped lately: an event that comes again is the same event (decision D-97).
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { date, instant, sql, uint } from '../../stores/clickhouse-sql.ts'
import type { TrafficEvent } from '../../traffic/event.ts'

export interface RecentIds {
  has(event: TrafficEvent): boolean
  add(events: readonly TrafficEvent[]): void
}

/** Two generations of so many, some 130 bytes an id. */
const mostInGeneration = 400_000
const rebuiltMs = 3_600_000

const keyOf = ({ siteId, eventId }: Pick<TrafficEvent, 'siteId' | 'eventId'>): string => siteId + eventId

export function createRecentIds(most = mostInGeneration): RecentIds {
  let young = new Set<string>()
  let old = new Set<string>()
  return {
    has: (event) => young.has(keyOf(event)) || old.has(keyOf(event)),
    add(events) {
      for (const event of events) {
        young.add(keyOf(event))
        if (young.size < most) continue
        old = young
        young = new Set()
      }
    },
  }
}

/** What a process that starts has to know: the ids of the last hour, as the engine has them. */
export async function readRecentIds(clickhouse: ClickHouse, ids: RecentIds, now: number): Promise<void> {
  const since = now - rebuiltMs
  // The day of the zone that is furthest behind.
  const firstDay = new Date(since - 12 * 3_600_000).toISOString().slice(0, 10)
  const rows = await clickhouse.rows<{ site_id: string; event_id: string }>(sql`
    SELECT site_id, event_id FROM events
    WHERE day >= ${date(firstDay)} AND time >= ${instant(since)}
    ORDER BY time DESC LIMIT ${uint(mostInGeneration - 1)}`)
  ids.add(rows.map(({ site_id, event_id }) => ({ siteId: site_id, eventId: event_id }) as TrafficEvent))
}
