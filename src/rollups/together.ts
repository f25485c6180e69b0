// Rolls up the closed days of many small sites with the same statements. Rolled up alone, a small site costs mostly the planning of
// statements and the merging of the small parts that they write (decision D-200).
import { countDays, type DayRange, firstOfMonth } from '../calendar/days.ts'
import type { Stores } from '../cluster/stores.ts'
import { eraseAgain } from '../erasure/deleted-sites.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, sql, texts } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'
import { retainedFrom } from './coverage.ts'
import { noteInClickHouse } from './ledger.ts'
import { maxEvents, rollUpMonths, settings } from './roll-up.ts'
import {
  areAlive,
  beginRuns,
  considerSites,
  daysOfSitesToRollUp,
  finishSites,
  publishRuns,
  sitesWithMonthsToRollUp,
} from './runs.ts'
import { rollupStatements } from './statements.ts'

/** A site with more events on the missing days is rolled up alone: sharing statements would save little. */
const maxEventsOfSite = 20_000

export interface DueSite {
  id: string
  hasRollups: boolean
}

/**
 * Rolls up the missing days through the last closed day, and returns the number of days for each site. Sites without a number must be
 * rolled up alone. Sites with fewer than `minYearEvents` get no rollups.
 */
export async function rollUpTogether(
  stores: Stores,
  sites: readonly DueSite[],
  closed: string,
  minYearEvents: number,
): Promise<Map<string, number>> {
  const { postgres, clickhouse } = stores
  // Recorded before the days are read, so that an event that arrives late in the meantime sets it back again.
  await considerSites(
    postgres,
    sites.map(({ id }) => id),
    closed,
  )
  const traffic = await trafficOf(clickhouse, sites, closed, await retainedFrom(postgres))
  const candidates = sites.flatMap(({ id, hasRollups }) => {
    const events = traffic.get(id)
    return events && (hasRollups || events.year >= minYearEvents) ? [{ id, first: firstOfMonth(events.first) }] : []
  })
  const missing = await daysOfSitesToRollUp(postgres, candidates, closed)
  const done = new Map(sites.filter(({ id }) => !missing.has(id)).map(({ id }) => [id, 0]))
  const lastDays = new Map<string, number>()
  // Most sites miss the same days: the last one.
  const groups = Map.groupBy(missing, ([, days]) => JSON.stringify(days))
  for (const group of groups.values()) {
    const days = (group[0] as [string, DayRange[]])[1]
    const ids = group.map(([id]) => id)
    const events = days.length === 0 ? new Map<string, Events>() : await eventsOf(clickhouse, ids, days, closed)
    for (const batch of batchesOf(ids, events)) {
      const written = days.length === 0 ? batch : await write(stores, batch, days)
      for (const id of written) {
        done.set(id, countDays(days))
        if (days.at(-1)?.[1] === closed) lastDays.set(id, events.get(id)?.last ?? 0)
      }
    }
  }
  for (const id of await sitesWithMonthsToRollUp(postgres, [...done.keys()])) await rollUpMonths(stores, id)
  await finishSites(
    postgres,
    Array.from(done.keys(), (id) => ({ id, events: lastDays.get(id) ?? null })),
  )
  return done
}

interface Traffic {
  /** The first day with events. */
  first: string
  /** Events in a year. */
  year: number
}

async function trafficOf(
  clickhouse: ClickHouse,
  sites: readonly DueSite[],
  closed: string,
  eventsFrom: string,
): Promise<Map<string, Traffic>> {
  const rows = await clickhouse.rowsPatiently<Traffic & { site_id: string }>(sql`
    SELECT site_id, min(day) AS first, countIf(day >= ${date(closed)} - 365) AS year FROM events
    WHERE site_id IN ${texts(sites.map(({ id }) => id))} AND day BETWEEN ${date(eventsFrom)} AND ${date(closed)}
    GROUP BY site_id`)
  return new Map(rows.map(({ site_id, ...counts }) => [site_id, counts]))
}

interface Events {
  all: number
  /** On the last closed day. */
  last: number
}

async function eventsOf(
  clickhouse: ClickHouse,
  ids: readonly string[],
  days: readonly DayRange[],
  closed: string,
): Promise<Map<string, Events>> {
  const rows = await clickhouse.rowsPatiently<Events & { site_id: string }>(sql`
    SELECT site_id, count() AS all, countIf(day = ${date(closed)}) AS last FROM events
    WHERE site_id IN ${texts(ids)} AND ${onDays(days)} GROUP BY site_id`)
  return new Map(rows.map(({ site_id, ...counts }) => [site_id, counts]))
}

/** A batch has at most as many events as a chunk of one site (roll-up.ts). Large sites are in no batch. */
function batchesOf(ids: readonly string[], events: ReadonlyMap<string, Events>): string[][] {
  const batches: string[][] = []
  let sum = Number.POSITIVE_INFINITY
  for (const id of ids) {
    const own = events.get(id)?.all ?? 0
    if (own > maxEventsOfSite) continue
    if (sum + own > maxEvents) {
      batches.push([])
      sum = 0
    }
    batches.at(-1)?.push(id)
    sum += own
  }
  return batches
}

/** Returns the sites whose days are readable now. */
async function write(
  { postgres, clickhouse }: Stores,
  ids: readonly string[],
  days: readonly DayRange[],
): Promise<string[]> {
  const runs = await beginRuns(postgres, ids, clickhouse.shard, days)
  await noteInClickHouse({ postgres, clickhouse })
  // Versions differ only where a day was rolled up before.
  for (const [version, some] of Map.groupBy(runs, (run) => run.version)) {
    const siteIds = some.map(({ siteId }) => siteId)
    for (const statement of rollupStatements({ siteIds, version, days }, { atOnce: true })) {
      if (!(await areAlive(postgres, runs))) return []
      await clickhouse.run(statement, settings)
    }
  }
  const lost = new Set((await publishRuns(postgres, runs)).map(({ siteId }) => siteId))
  await eraseAgain(postgres, [...lost]) // some may have been deleted in the meantime
  return runs.map(({ siteId }) => siteId).filter((id) => !lost.has(id))
}
