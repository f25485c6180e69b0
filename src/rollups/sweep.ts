// Deletes rows of rollups and sessions of a shard that no reader can be using any more, for many sites at once, because a deletion reads every
// part of a table.

import type { Stores } from '../cluster/stores.ts'
import { lastingTables, rollupTables } from '../cluster/tables.ts'
import { type ClickHouse, isIncomplete } from '../stores/clickhouse.ts'
import { date, join, type Sql, sql, text, uint } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'
import { isOfEarlierEpoch, keyStartsWith } from './keys.ts'
import { noteInClickHouse } from './ledger.ts'
import { claimLeftovers, givenUp, type Leftover, noteSwept, releaseRun, stalestReader } from './runs.ts'

/** Leftovers per statement. */
const maxSwept = 50

/** Returns the number of deleted leftovers. */
export async function sweep(stores: Stores, patience?: string): Promise<number> {
  const { postgres, clickhouse } = stores
  // Later runs may write rows under the same versions, so no replica may be left with the old ones.
  if (await isIncomplete(clickhouse)) return 0
  await noteInClickHouse(stores) // before rows are deleted (ledger.ts)
  let swept = 0
  const sweepAll = async (find: () => Promise<Leftover[]>, end: (one: Leftover) => Promise<void>) => {
    for (let leftovers = await find(); leftovers.length > 0; leftovers = await find()) {
      for (const table of Object.values(rollupTables)) await deleteRows(clickhouse, table, rowsOf(leftovers))
      const days = leftovers.filter(({ span }) => span === 'day')
      if (days.length > 0) await deleteRows(clickhouse, lastingTables.sessions, sessionsOf(days))
      for (const one of leftovers) await end(one)
      swept += leftovers.length
    }
  }
  await sweepEarlierEpochs(stores, patience)
  await sweepAll(
    () => givenUp(postgres, clickhouse.shard, maxSwept),
    (one) => noteSwept(postgres, one),
  )
  await sweepAll(
    () => claimLeftovers(postgres, clickhouse.shard, maxSwept, patience),
    (one) => releaseRun(postgres, one),
  )
  return swept
}

/** Deletes the rows of earlier epochs, once per epoch (decision D-205). Days whose events were dropped keep theirs. */
async function sweepEarlierEpochs({ postgres, clickhouse }: Stores, patience = stalestReader): Promise<void> {
  const [due] = await postgres<{ epoch: number; eventsFrom: string }[]>`
    SELECT epoch, events_from::text AS "eventsFrom" FROM ledger, retention, shards
    WHERE number = ${clickhouse.shard} AND swept_epoch < epoch AND began_at < now() - ${patience}::text::interval`
  if (!due) return
  const isKept = sql`day >= ${date(due.eventsFrom)}`
  for (const table of Object.values(rollupTables))
    await deleteRows(clickhouse, table, sql`${isOfEarlierEpoch(due.epoch)} AND ${isKept}`)
  await deleteRows(clickhouse, lastingTables.sessions, sql`version <= ${uint(1024 * due.epoch)} AND ${isKept}`)
  await postgres`UPDATE shards SET swept_epoch = ${due.epoch} WHERE number = ${clickhouse.shard}`
}

const rowsOf = (some: readonly Leftover[]): Sql =>
  join(
    some.map(
      ({ siteId, span, version, ranges }) =>
        sql`(site_id = ${text(siteId)} AND ${keyStartsWith(span, version)} AND ${onDays(ranges)})`,
    ),
    sql` OR `,
  )

const sessionsOf = (some: readonly Leftover[]): Sql =>
  join(
    some.map(
      ({ siteId, version, ranges }) =>
        sql`(site_id = ${text(siteId)} AND version = ${uint(version)} AND ${onDays(ranges)})`,
    ),
    sql` OR `,
  )

const deleteRows = (clickhouse: ClickHouse, table: Sql, condition: Sql): Promise<void> =>
  clickhouse.run(sql`DELETE FROM ${table} WHERE ${condition}`, { lightweight_deletes_sync: '2' })
