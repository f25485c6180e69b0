// Ids that clients gave to their events and that were shipped lately: an event that comes again is the same event (decision D-97).
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { date, instant, sql, texts, uint } from '../../stores/clickhouse-sql.ts'
import type { TrafficEvent } from '../../traffic/event.ts'

export interface RecentIds {
  has(event: Identity): boolean
  add(events: readonly Identity[]): void
  /**
   * Reads back what processes before this one have shipped of these sites, each once. `batchIds` are those of the batch under way: a
   * part of it may be there, and is no repetition.
   */
  learn(clickhouse: ClickHouse, siteIds: Iterable<string>, batchIds: readonly string[], now: number): Promise<void>
}

type Identity = Pick<TrafficEvent, 'siteId' | 'eventId'>

/** Two generations of so many, some 130 bytes an id. */
const mostInGeneration = 400_000
/** So far back, and so long after the start: later this process has seen everything itself. */
const learntMs = 3_600_000
const sitesAtOnce = 200

const keyOf = ({ siteId, eventId }: Identity): string => siteId + eventId

export function createRecentIds(startedAt = Date.now(), most = mostInGeneration): RecentIds {
  let young = new Set<string>()
  let old = new Set<string>()
  const learnt = new Set<string>()

  function add(events: readonly Identity[]): void {
    for (const event of events) {
      young.add(keyOf(event))
      if (young.size < most) continue
      old = young
      young = new Set()
    }
  }

  return {
    has: (event) => young.has(keyOf(event)) || old.has(keyOf(event)),
    add,
    async learn(clickhouse, siteIds, batchIds, now) {
      if (now - startedAt > learntMs) return
      const unknown = [...new Set(siteIds)].filter((id) => !learnt.has(id))
      for (let from = 0; from < unknown.length; from += sitesAtOnce) {
        const sites = unknown.slice(from, from + sitesAtOnce)
        add(await readIds(clickhouse, sites, batchIds, now - learntMs))
        for (const site of sites) learnt.add(site)
      }
    },
  }
}

/** By site and day, so that the engine reads only their part of the table. */
function readIds(clickhouse: ClickHouse, siteIds: string[], batchIds: readonly string[], since: number) {
  // The day of the zone that is furthest behind.
  const firstDay = new Date(since - 12 * 3_600_000).toISOString().slice(0, 10)
  return clickhouse.rows<Identity>(sql`
    SELECT site_id AS siteId, toString(event_id) AS eventId FROM events
    WHERE site_id IN ${texts(siteIds)} AND day >= ${date(firstDay)} AND time >= ${instant(since)}
      AND toString(batch_id) NOT IN ${texts(batchIds)}
    ORDER BY time DESC LIMIT ${uint(mostInGeneration - 1)}`)
}
