// Erasing a site takes three steps, because ClickHouse's DELETE only masks rows: (1) no statement finds the rows any more; (2) the
// parts with these rows are rewritten without them; (3) ClickHouse removes the files of the old parts, which it keeps for some minutes
// (decision D-145).

import { clockOf } from '../cluster/clocks.ts'
import { siteTables } from '../cluster/tables.ts'
import { minuteMs } from '../durations.ts'
import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { instant, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'

/** The longest time from reading the list to the start of a deletion. A move waits longer (migrations/postgres/0011_way_back.sql). */
const latestMs = minuteMs

/**
 * Erases many sites at once, because a deletion goes through every part of a table. A process may be suspended after it has read the
 * list of sites; meanwhile another process erases them, and a site moves back. So each deletion has a deadline, which ClickHouse checks
 * by its own clock before it deletes anything (decision D-206).
 */
export async function eraseSites(
  clickhouse: ClickHouse,
  listIds: () => Promise<readonly string[]>,
  withinMs = latestMs,
): Promise<void> {
  const worker = (await clickhouse.replicas?.worker()) ?? clickhouse // its clock is read, because it runs the deletion
  for (const table of Object.values(siteTables)) {
    const deadline = (await clockOf(worker)) + withinMs
    const siteIds = await listIds()
    if (siteIds.length === 0) return
    await worker.run(
      sql`
        DELETE FROM ${table} WHERE site_id IN ${texts(siteIds)}
          AND (SELECT throwIf(now64(3) > ${instant(deadline)}, 'The process stood still. The next round tries again.')) = 0`,
      // The deadline is checked once, not on each replica when it deletes its rows.
      { mutations_execute_subqueries_on_initiator: 1 },
    )
  }
}

/** Which of these sites still have visible rows. */
export async function sitesWithRows(clickhouse: ClickHouse, siteIds: readonly string[]): Promise<string[]> {
  const ids = new Set<string>()
  for (const table of Object.values(siteTables)) {
    const rows = await clickhouse.rowsPatiently<{ site_id: string }>(
      sql`SELECT DISTINCT site_id FROM ${table} WHERE site_id IN ${texts(siteIds)}`,
    )
    for (const { site_id } of rows) ids.add(site_id)
  }
  return [...ids]
}

/**
 * Rewrites the parts with masked rows of these sites, one partition at a time. For the other parts ClickHouse makes hard links.
 * Returns when this was done, by ClickHouse's clock.
 */
export async function rewriteWithout(clickhouse: ClickHouse, siteIds: readonly string[]): Promise<Date> {
  for (const table of Object.values(siteTables)) {
    for (const partition of await partitionsWith(clickhouse, table, siteIds)) {
      await clickhouse.run(sql`ALTER TABLE ${table} APPLY DELETED MASK IN PARTITION ID ${text(partition)}`, {
        mutations_sync: '2', // on all replicas; fails while one is away
      })
    }
    const left = await partitionsWith(clickhouse, table, siteIds)
    if (left.length > 0) throw new Error(`Partitions ${left.join(', ')} still hold rows of deleted sites`)
  }
  return new Date(await clockOf(clickhouse))
}

/** The partitions with rows of these sites, masked rows included. */
async function partitionsWith(clickhouse: ClickHouse, table: Sql, siteIds: readonly string[]): Promise<string[]> {
  const rows = await clickhouse.rowsPatiently<{ partition: string }>(
    sql`SELECT DISTINCT _partition_id AS partition FROM ${table} WHERE site_id IN ${texts(siteIds)} ORDER BY partition`,
    { apply_deleted_mask: 0 },
  )
  return rows.map(({ partition }) => partition)
}

/** Whether a server still has files of parts that were replaced at or before this time, by its own clock. */
export async function hasFilesOf(clickhouse: ClickHouse, replacedAt: Date): Promise<boolean> {
  // Selecting `_state` makes system.parts list the parts whose files are being removed right now.
  const results = await Promise.all(
    serversOf(clickhouse).map((server) =>
      server.rowsPatiently(sql`
        SELECT name, _state FROM system.parts
        WHERE database = currentDatabase() AND table != 'ledger' AND NOT active AND remove_time <= ${instant(replacedAt.getTime())} LIMIT 1`),
    ),
  )
  return results.some((rows) => rows.length > 0)
}
