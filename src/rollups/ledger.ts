// The ledger: PostgreSQL records which rollup rows of ClickHouse are readable and which must be deleted. When PostgreSQL is restored from an
// older dump, or a standby without the last transactions takes over, that record no longer fits the rows. So PostgreSQL counts every change of
// the record, each count is also written to ClickHouse, and processes compare the two. If they differ, an epoch begins: all days with events are read
// from the events until they are rolled up again, under versions that no earlier epoch has used (decision D-205).
import { randomUUID } from 'node:crypto'
import { withLease } from '../cluster/lease.ts'
import { type AllStores, byShard, type Stores } from '../cluster/stores.ts'
import { Unavailable } from '../stores/breaker.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, uint } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'

/** Call it after a change of the ledger and before rows of the shard are written or deleted because of it. */
export async function noteInClickHouse({ postgres, clickhouse }: Stores): Promise<void> {
  const [ledger] = await postgres<
    { epoch: number; mark: string; isNoted: boolean; isCompared: boolean; events_from: string }[]
  >`
    SELECT epoch, mark::text, mark = confirmed_mark AS "isNoted", compared_in = this_start() AS "isCompared", events_from::text
    FROM shards, ledger, retention WHERE number = ${clickhouse.shard}`
  if (!ledger || ledger.isNoted) return
  const { epoch, mark, events_from } = ledger
  const older = ledger.isCompared ? undefined : await compareLedger({ postgres, clickhouse })
  if (older) throw new Unavailable(olderCopy(older))
  await clickhouse.insert('ledger', [{ epoch, mark, events_from }], `ledger ${epoch} ${mark}`)
  await postgres`
    UPDATE shards SET confirmed_mark = greatest(confirmed_mark, ${mark}::text::bigint)
    WHERE number = ${clickhouse.shard} AND (SELECT ledger.epoch FROM ledger) = ${epoch}`
}

/**
 * Writes the versions of days that can no longer change to ClickHouse: of all sites of the shard, or of one site that moves there. Call it
 * before the events of these days are dropped, so that a later epoch can read their rollups. Writing a day twice does no harm.
 */
export async function noteKeptDays(
  { postgres, clickhouse }: Stores,
  { from = '1970-01-01', before = '9999-12-31', siteId }: { from?: string; before?: string; siteId?: string } = {},
): Promise<void> {
  const isOfShard = siteId === undefined ? postgres`shard = ${clickhouse.shard}` : postgres`sites.id = ${siteId}`
  const pages = postgres<{ site_id: string; version: number; first: string; last: string }[]>`
    SELECT site_id, version, lower(range)::text AS first, (upper(range) - 1)::text AS last
    FROM rollup_coverage JOIN sites ON sites.id = site_id, retention,
      unnest(days * datemultirange(daterange(${from}::text::date, least(events_from, ${before}::text::date)))) AS range
    WHERE ${isOfShard}`
  for await (const page of pages.cursor(10_000)) {
    // Once the events are dropped, only this list says which rows to read.
    if (await clickhouse.insert('kept_days', page, randomUUID()))
      throw new Unavailable('Only one replica has the list of kept days')
  }
}

/**
 * For installations that dropped events before this list existed. The list is also empty in a ClickHouse that was restored from before the
 * first drop. That one still has the events, but not the rows that PostgreSQL names, so only days before its first event are noted.
 */
export async function noteEarlierKeptDays(stores: Stores): Promise<void> {
  const [row] = await stores.clickhouse.rowsPatiently<{ isEmpty: number; before: string | null }>(sql`
    SELECT count() = 0 AS "isEmpty", (SELECT minOrNull(toStartOfMonth(day)) FROM events) AS before FROM kept_days`)
  if (row?.isEmpty) await noteKeptDays(stores, row.before === null ? {} : { before: row.before })
}

interface LedgerCopy {
  epoch: number
  mark: number
  eventsFrom: string
}

/** The store whose state is older than that of the other. */
export type Older = 'PostgreSQL' | 'ClickHouse'

/** Undefined: PostgreSQL and the shard agree. */
export async function compareLedger({ postgres, clickhouse }: Stores): Promise<Older | undefined> {
  // Other processes change the count meanwhile, so PostgreSQL is read twice. ClickHouse must have every change that PostgreSQL had confirmed
  // before, and PostgreSQL must afterwards have every change that ClickHouse has.
  const before = await ledgerOf(postgres, clickhouse.shard)
  const copy = (await ledgerCopyIn(clickhouse)) ?? { epoch: 0, mark: 0 }
  const after = await ledgerOf(postgres, clickhouse.shard)
  if (!before || !after || before.epoch !== after.epoch) return undefined // a shard that is not in use yet, or an epoch just began
  if (copy.epoch > after.epoch || (copy.epoch === after.epoch && copy.mark > after.mark)) return 'PostgreSQL'
  const isOlder = copy.epoch < before.epoch ? before.confirmed > 0 : copy.mark < before.confirmed
  if (isOlder) return 'ClickHouse'
  if (!before.isCompared)
    await postgres`UPDATE shards SET compared_in = this_start() WHERE number = ${clickhouse.shard}`
  return undefined
}

const olderCopy = (older: Older): string =>
  `${older} is an older copy. The process that rolls up finds out which days to read again.`

/**
 * Begins an epoch if PostgreSQL and a shard disagree, and returns which of them was older. Skips a shard that does not answer, because
 * nobody can read it either.
 */
export async function verifyLedger({ postgres, cluster }: AllStores): Promise<Older | undefined> {
  const older = await olderOf({ postgres, cluster })
  if (older) await withLease(postgres, 'begin an epoch', () => beginEpoch({ postgres, cluster }))
  return older
}

/** For processes that only read: throws until the process that rolls up has begun an epoch. */
export async function refuseOlder({ postgres, cluster }: AllStores): Promise<void> {
  const older = await olderOf({ postgres, cluster })
  if (older) throw new Unavailable(olderCopy(older))
}

/** Compares all shards at the same time, because one that does not answer takes two seconds. */
async function olderOf(stores: AllStores): Promise<Older | undefined> {
  const comparisons = await Promise.all(byShard(stores).map((shard) => compareLedger(shard).catch(() => undefined)))
  return comparisons.find((one) => one !== undefined)
}

async function beginEpoch({ postgres, cluster }: AllStores): Promise<void> {
  const still = await Promise.all(cluster.shards.map((clickhouse) => compareLedger({ postgres, clickhouse })))
  if (still.every((older) => older === undefined)) return // another process has just done it
  const [ledger] = await postgres<[{ epoch: number; eventsFrom: string }]>`
    SELECT epoch, events_from::text AS "eventsFrom" FROM ledger, retention`
  const ledgerCopies = (await Promise.all(cluster.shards.map(ledgerCopyIn))).filter((one) => one !== undefined)
  const next = 1 + Math.max(ledger.epoch, ...ledgerCopies.map(({ epoch }) => epoch))
  // The latest day: a shard may have dropped the events before it, or PostgreSQL may have told writers to leave them out.
  const eventsFrom = [ledger.eventsFrom, ...ledgerCopies.map((one) => one.eventsFrom)].sort().at(-1) as string
  const days = await Promise.all(cluster.shards.map((clickhouse) => keptDays({ postgres, clickhouse })))
  const copies = await copiesElsewhere({ postgres, cluster })
  await postgres`
    SELECT begin_epoch(${ledger.epoch}, ${next}, ${eventsFrom}::text::date, ${JSON.stringify(days.flat())}::text::jsonb,
      ${JSON.stringify(copies)}::text::jsonb)`
  for (const clickhouse of cluster.shards) await noteInClickHouse({ postgres, clickhouse })
}

async function keptDays(stores: Stores): Promise<object[]> {
  await noteEarlierKeptDays(stores)
  const { clickhouse } = stores
  return clickhouse.rowsPatiently(
    sql`SELECT DISTINCT site_id, version, first, last, ${uint(clickhouse.shard)} AS shard FROM kept_days`,
  )
}

interface Copy {
  site_id: string
  shard: number
  rows: number
}

/** Row counts by shard of every site with rows on another shard than PostgreSQL says: it has moved since, or had not moved yet. */
async function copiesElsewhere({ postgres, cluster }: AllStores): Promise<Copy[]> {
  if (cluster.shards.length === 1) return []
  const sites = await postgres<{ id: string; shard: number }[]>`SELECT id, shard FROM sites`
  const shardOf = new Map(sites.map(({ id, shard }) => [id, shard]))
  const all = (await Promise.all(cluster.shards.map(copiesOn))).flat()
  const elsewhere = new Set(all.filter((copy) => shardOf.get(copy.site_id) !== copy.shard).map((copy) => copy.site_id))
  return all.filter(({ site_id }) => elsewhere.has(site_id))
}

const copiesOn = (clickhouse: ClickHouse): Promise<Copy[]> =>
  clickhouse.rowsPatiently(sql`
    SELECT site_id, ${uint(clickhouse.shard)} AS shard, count() AS rows
    FROM (SELECT site_id FROM events UNION ALL SELECT site_id FROM kept_days UNION ALL SELECT site_id FROM imported_sums)
    GROUP BY site_id`)

/** Sites with traffic that are missing in PostgreSQL, because it was restored from a copy from before they were created. */
export async function unknownSites({ postgres, cluster }: AllStores): Promise<string[]> {
  const copies = (await Promise.all(cluster.shards.map(copiesOn))).flat()
  return unknownOf(
    postgres,
    copies.map(({ site_id }) => site_id),
  )
}

/** Those of these sites that are missing in PostgreSQL, and were not deleted. */
export async function unknownOf(postgres: Postgres, ids: readonly string[]): Promise<string[]> {
  const rows = await postgres<{ id: string }[]>`
    SELECT jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) AS id
    EXCEPT SELECT id FROM sites EXCEPT SELECT id FROM deleted_sites ORDER BY id`
  return rows.map(({ id }) => id)
}

async function ledgerOf(
  postgres: Postgres,
  shard: number,
): Promise<{ epoch: number; mark: number; confirmed: number; isCompared: boolean } | undefined> {
  const [row] = await postgres<{ epoch: number; mark: string; confirmed: string; isCompared: boolean }[]>`
    SELECT epoch, confirmed_mark::text AS confirmed, compared_in = this_start() AS "isCompared",
      (CASE WHEN compared_in <> this_start() AND counted_in = this_start() THEN first_mark ELSE mark END)::text AS mark
    FROM shards, ledger WHERE number = ${shard}`
  return row && { ...row, mark: Number(row.mark), confirmed: Number(row.confirmed) }
}

/** The last epoch in the shard's copy of the ledger. Undefined: the copy is empty. */
async function ledgerCopyIn(clickhouse: ClickHouse): Promise<LedgerCopy | undefined> {
  const [row] = await clickhouse.rows<LedgerCopy>(sql`
    SELECT epoch, max(mark) AS mark, max(events_from) AS "eventsFrom" FROM ledger GROUP BY epoch ORDER BY epoch DESC LIMIT 1`)
  return row
}
