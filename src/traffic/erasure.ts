// Erasing sites takes three steps, since a DELETE of ClickHouse only masks rows: (1) no statement finds them any more; (2) the parts that
// have them are written anew without them; (3) the files of the old parts go, which the engine keeps for some minutes (decision D-145).
import type { ClickHouse } from '../stores/clickhouse.ts'
import { instant, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'

/** Every table that holds what was recorded of a site; tallies are made from it again. A table added here is backed up and restored. */
export const siteTables = ['events', 'titles'] as const

/** Every table that holds anything of a site. */
const heldIn: readonly Sql[] = [sql`events`, sql`titles`, sql`short_tallies`, sql`long_tallies`, sql`open_tallies`]

/** Of many sites at once: a deletion goes through every part of its table. */
export async function eraseSites(clickhouse: ClickHouse, siteIds: readonly string[]): Promise<void> {
  for (const table of heldIn) await clickhouse.run(sql`DELETE FROM ${table} WHERE site_id IN ${texts(siteIds)}`)
}

/** Those of these sites of which a statement still finds rows. */
export async function sitesWithRows(clickhouse: ClickHouse, siteIds: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const table of heldIn) {
    const rows = await clickhouse.rowsPatiently<{ site_id: string }>(
      sql`SELECT DISTINCT site_id FROM ${table} WHERE site_id IN ${texts(siteIds)}`,
    )
    for (const { site_id } of rows) found.add(site_id)
  }
  return [...found]
}

/**
 * Writes the parts that have masked rows of these sites anew, a partition at a time; of other parts the engine makes hard links. Returns
 * when that was done, by the engine's clock.
 */
export async function rewriteWithout(clickhouse: ClickHouse, siteIds: readonly string[]): Promise<Date> {
  for (const table of heldIn) {
    for (const partition of await partitionsWith(clickhouse, table, siteIds)) {
      await clickhouse.run(sql`ALTER TABLE ${table} APPLY DELETED MASK IN PARTITION ID ${text(partition)}`, {
        mutations_sync: '1',
      })
    }
    const left = await partitionsWith(clickhouse, table, siteIds)
    if (left.length > 0) throw new Error(`Rows of deleted sites came back in partitions ${left.join(', ')}`)
  }
  const [row] = await clickhouse.rowsPatiently<{ now: number }>(sql`SELECT toUnixTimestamp64Milli(now64(3)) AS now`)
  return new Date(row?.now ?? 0)
}

/** Masked rows included. */
async function partitionsWith(clickhouse: ClickHouse, table: Sql, siteIds: readonly string[]): Promise<string[]> {
  const rows = await clickhouse.rowsPatiently<{ partition: string }>(
    sql`SELECT DISTINCT _partition_id AS partition FROM ${table} WHERE site_id IN ${texts(siteIds)} ORDER BY partition`,
    { apply_deleted_mask: 0 },
  )
  return rows.map(({ partition }) => partition)
}

/** Whether files are left of parts that were replaced no later than this, by the engine's clock. */
export async function hasFilesOf(clickhouse: ClickHouse, replaced: Date): Promise<boolean> {
  // `_state` is named, so that parts whose files are being removed at this moment are among them.
  const rows = await clickhouse.rowsPatiently(sql`
    SELECT name, _state FROM system.parts
    WHERE database = currentDatabase() AND NOT active AND remove_time <= ${instant(replaced.getTime())} LIMIT 1`)
  return rows.length > 0
}
