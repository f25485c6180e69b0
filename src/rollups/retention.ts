// Drops months of events and sessions that are older than the retention (decision D-79). Each step is recorded before the next, so that a later
// round can continue after an interruption: (1) `events_from` moves forward, and nobody writes events for earlier days any more;
// (2) every earlier day with events is rolled up; (3) when no reader can be using these events any more, their partitions are dropped.
// One wrong clock must not drop everything: nothing happens unless all clocks agree, and the first step takes one month with
// events at a time. An operator has to confirm more than that (decision D-146).

import { type Clocks, clocksAgree, readClocks } from '../cluster/clocks.ts'
import { type AllStores, byShard, type Stores } from '../cluster/stores.ts'
import { monthlyTables } from '../cluster/tables.ts'
import { Unavailable } from '../stores/breaker.ts'
import { type ClickHouse, isIncomplete } from '../stores/clickhouse.ts'
import { type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'
import { retainedFrom } from './coverage.ts'
import { noteEarlierKeptDays, noteInClickHouse, noteKeptDays, unknownOf } from './ledger.ts'
import { rollUpForGood } from './roll-up.ts'
import { daysToRollUp, stalestReader } from './runs.ts'

export interface Retention {
  months: number
  readClocks?: (stores: AllStores) => Promise<Clocks>
  signal?: AbortSignal
  onError?: (error: Error, domain: string) => void
  /** How long after the rollup a reader may still be using the events. */
  patience?: string
}

export interface Dropped {
  /** `YYYYMM`. */
  months: string[]
  /** Why no more months are dropped until an operator acts. The same cause always has the same text. */
  held?: string
}

/** Runs the steps that are due. */
export async function dropOldEvents(stores: AllStores, retention: Retention): Promise<Dropped> {
  const plan = await planRetention(stores, retention)
  if (plan === undefined) return { months: [], held: clocksDiffer }
  const isTooMuch = plan.months.length > 1
  if (!isTooMuch) await declareRetention(stores.postgres, plan.eventsFrom)
  const { hasUnknownSites } = await rollUpBeforeDropping(stores, retention)
  const months = await dropRolledUpMonths(stores, retention.patience)
  const held = hasUnknownSites ? unknownTraffic : isTooMuch ? tooMuch : undefined
  return held === undefined ? { months } : { months, held }
}

export const clocksDiffer =
  'Old events are not dropped: the clocks of this machine, PostgreSQL and ClickHouse differ by more than a minute. Run: footfall doctor'
const tooMuch =
  'Old events are not dropped: more than one month is due at once. Run footfall rollup retention to see them; add --confirm to drop them'

const unknownTraffic =
  'Old events are not dropped: some are of sites that PostgreSQL does not know, which cannot be rolled up. Run: footfall doctor'

export interface MonthOfEvents {
  /** `YYYYMM`. */
  month: string
  events: number
  bytes: number
}

/** The first day whose events are retained, by PostgreSQL's clock, and the months to drop. Undefined while the clocks differ. */
export async function planRetention(
  stores: AllStores,
  { months, readClocks: read = readClocks }: Pick<Retention, 'months' | 'readClocks'>,
): Promise<{ eventsFrom: string; months: MonthOfEvents[] } | undefined> {
  const clocks = await read(stores)
  if (!clocksAgree(clocks)) return undefined
  const eventsFrom = firstRetainedDay(months, clocks.postgres)
  const since = await retainedFrom(stores.postgres)
  const parts = await Promise.all(
    stores.cluster.shards.map((clickhouse) =>
      clickhouse.rowsPatiently<MonthOfEvents>(sql`
        SELECT partition AS month, sum(rows) AS events, sum(bytes_on_disk) AS bytes FROM system.parts
        WHERE database = currentDatabase() AND table = 'events' AND active AND rows > 0
          AND partition >= ${text(monthOf(since))} AND partition < ${text(monthOf(eventsFrom))}
        GROUP BY partition`),
    ),
  )
  return { eventsFrom, months: sumByMonth(parts.flat()) }
}

const sumByMonth = (parts: readonly MonthOfEvents[]): MonthOfEvents[] =>
  Array.from(
    Map.groupBy(parts, ({ month }) => month),
    ([month, some]) => ({
      month,
      events: some.reduce((sum, one) => sum + one.events, 0),
      bytes: some.reduce((sum, one) => sum + one.bytes, 0),
    }),
  ).sort((one, other) => (one.month < other.month ? -1 : 1))

const monthOf = (day: string): string => day.slice(0, 7).replace('-', '')

/** The first day of the month this many months ago, by the earliest date on earth. */
export const firstRetainedDay = (months: number, now: number): string =>
  Temporal.Instant.fromEpochMilliseconds(now)
    .toZonedDateTimeISO('Etc/GMT+12')
    .toPlainDate()
    .subtract({ months })
    .with({ day: 1 })
    .toString()

/** Only moves the day forward, because a longer retention does not restore dropped events. */
export async function declareRetention(postgres: Postgres, from: string): Promise<void> {
  await postgres`UPDATE retention SET events_from = ${from}::text::date WHERE events_from < ${from}::text::date`
}

/**
 * Rolls up small sites, too. Afterwards every day before `events_from` is rolled up or has no events, unless there are sites that PostgreSQL
 * does not know: it may be an older copy, and the newer one may come back (decision D-205).
 */
export async function rollUpBeforeDropping(
  stores: AllStores,
  options: Partial<Retention>,
): Promise<{ hasUnknownSites: boolean }> {
  const { postgres } = stores
  const [{ due, eventsFrom, last, began }] = await postgres<
    [{ due: boolean; eventsFrom: string; last: string; began: string }]
  >`
    SELECT rolled_up_before < events_from AS due, events_from::text AS "eventsFrom", (events_from - 1)::text AS last,
      now()::text AS began
    FROM retention`
  const result = { hasUnknownSites: false }
  if (!due) return result
  let missingDays = 0
  for (const shard of byShard(stores)) {
    const ofShard = await rollUpShardBefore(shard, last, options)
    missingDays += ofShard.missingDays
    result.hasUnknownSites ||= ofShard.hasUnknownSites
  }
  if (missingDays > 0 || result.hasUnknownSites || options.signal?.aborted) return result
  // A site that has moved meanwhile may have been on no shard when it was visited. The next round visits all again.
  await postgres`
    UPDATE retention SET rolled_up_before = ${eventsFrom}::text::date, rolled_up_at = now()
    WHERE rolled_up_before < ${eventsFrom}::text::date
      AND NOT EXISTS (SELECT FROM site_moves WHERE moved_at >= ${began}::text::timestamptz)`
  return result
}

/** `missingDays` is the number of ranges of days up to `last` that are still not rolled up. */
async function rollUpShardBefore(
  { postgres, clickhouse }: Stores,
  last: string,
  { signal, onError }: Partial<Retention>,
): Promise<{ missingDays: number; hasUnknownSites: boolean }> {
  const traffic = await clickhouse.rowsPatiently<{ site_id: string; first: string }>(sql`
    SELECT site_id, toStartOfMonth(min(day)) AS first FROM events WHERE day <= toDate(${text(last)}) GROUP BY site_id`)
  const ids = traffic.map(({ site_id }) => site_id)
  const hasUnknownSites = (await unknownOf(postgres, ids)).length > 0
  // All other sites were deleted or moved. Their remaining events are dropped with the partition.
  const sites = await postgres<{ id: string; domain: string }[]>`
    SELECT id, domain FROM sites WHERE id = ANY(${ids}) AND shard = ${clickhouse.shard}`
  const domains = new Map(sites.map(({ id, domain }) => [id, domain]))
  const cause = sites.length > 0 ? await clickhouse.replicas?.incomplete() : undefined
  if (cause) {
    onError?.(new Unavailable(cause), `every site of shard ${clickhouse.shard}`)
    return { missingDays: sites.length, hasUnknownSites }
  }
  let missingDays = 0
  for (const { site_id: id, first } of traffic) {
    const domain = domains.get(id)
    if (domain === undefined) continue
    if (signal?.aborted) break
    try {
      await rollUpForGood({ postgres, clickhouse }, id, [first, last])
      missingDays += (await daysToRollUp(postgres, id, [first, last])).length
    } catch (error) {
      missingDays++
      onError?.(error as Error, domain)
      if (await isIncomplete(clickhouse)) break
    }
  }
  return { missingDays, hasUnknownSites }
}

/** Also drops events that an import wrote for such a month in the meantime, which are not counted (decision D-80). */
export async function dropRolledUpMonths(stores: AllStores, patience = stalestReader): Promise<string[]> {
  const { postgres, cluster } = stores
  const [row] = await postgres<{ month: string }[]>`
    SELECT to_char(rolled_up_before, 'YYYYMM') AS month FROM retention
    WHERE rolled_up_at <= now() - ${patience}::text::interval`
  if (!row) return []
  const due = await Promise.all(cluster.shards.map((clickhouse) => monthsBefore(clickhouse, row.month)))
  const months = [...new Set(due.flat())].sort()
  const [first] = months
  if (first === undefined) return []
  for (const clickhouse of cluster.shards) if (await isIncomplete(clickhouse)) return []
  for (const [index, clickhouse] of cluster.shards.entries()) {
    await noteEarlierKeptDays({ postgres, clickhouse })
    await noteKeptDays({ postgres, clickhouse }, { from: dayOf(first) })
    await noteInClickHouse({ postgres, clickhouse })
    for (const month of due[index] ?? [])
      for (const table of Object.values(monthlyTables)) await dropMonth(clickhouse, table, month)
  }
  return months
}

/** The first day of a month `YYYYMM`. */
const dayOf = (month: string): string => `${month.slice(0, 4)}-${month.slice(4)}-01`

async function monthsBefore(clickhouse: ClickHouse, month: string): Promise<string[]> {
  const rows = await clickhouse.rowsPatiently<{ partition: string }>(sql`
    SELECT DISTINCT partition FROM system.parts
    WHERE database = currentDatabase() AND table IN ${texts(Object.keys(monthlyTables))} AND active AND partition < ${text(month)}
    ORDER BY partition`)
  return rows.map(({ partition }) => partition)
}

/** Without this setting ClickHouse refuses to drop more than 50 GB. */
const dropMonth = (clickhouse: ClickHouse, table: Sql, month: string): Promise<void> =>
  clickhouse.run(sql`ALTER TABLE ${table} DROP PARTITION ID ${text(month)}`, { max_partition_size_to_drop: '0' })
