// Clones of tables, which do not change while a backup reads them. Clones consist of hard links: they take a moment and no space.
import type { TransactionSql } from 'postgres'
import type { AllStores, Stores } from '../cluster/stores.ts'
import { clonePrefix } from '../cluster/tables.ts'
import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { type Sql, sql, text } from '../stores/clickhouse-sql.ts'

// Any constant: the key of the lock that a backup holds while it needs its clones.
const backupLock = 4_669_204

export const cloneOf = (table: string): string => clonePrefix + table

export const clonedRows = (table: Sql): Sql => sql`backup_of_${table}`

/** Runs the work on a snapshot of all databases. Returns undefined while another backup runs. */
export const withSnapshot = <Result>(
  { postgres, cluster }: AllStores,
  tables: readonly string[],
  work: (control: TransactionSql) => Promise<Result>,
): Promise<Result | undefined> =>
  postgres.begin('isolation level repeatable read read only', async (control) => {
    // The first statement fixes what the transaction sees. The clones follow at once: they hold every day that PostgreSQL lists as
    // rolled up for good. The events of other days are not dropped for 20 minutes.
    const [row] = await control<[{ locked: boolean }]>`SELECT pg_try_advisory_xact_lock(${backupLock}) AS locked`
    if (!row.locked) return undefined
    await control`SET LOCAL idle_in_transaction_session_timeout = 0`
    try {
      await Promise.all(cluster.shards.map((clickhouse) => makeClones(clickhouse, tables)))
      return await work(control)
    } finally {
      await Promise.all(cluster.shards.map(dropClones))
    }
  }) as Promise<Result | undefined>

async function makeClones(clickhouse: ClickHouse, tables: readonly string[]): Promise<void> {
  await dropClones(clickhouse)
  // Merging the parts of a clone would be wasted work.
  for (const table of tables) {
    const [row] = await clickhouse.rowsPatiently<{ engine: string }>(
      sql`SELECT engine_full AS engine FROM system.tables WHERE database = currentDatabase() AND name = ${text(table)}`,
    )
    // The clone of a replicated table is not replicated.
    const engine = row?.engine.startsWith('Replicated')
      ? `ENGINE = ${row.engine.replace(/^Replicated(\w+)\([^)]*\)/, '$1')},`
      : 'SETTINGS'
    await clickhouse.command(
      `CREATE TABLE ${cloneOf(table)} CLONE AS ${table} ${engine} max_bytes_to_merge_at_max_space_in_pool = 1`,
    )
  }
}

/** Removes the clones that a killed backup left behind. Returns false if clones remain, because a running backup needs them. */
export async function dropLeftClones({ postgres, clickhouse }: Stores): Promise<boolean> {
  const servers = serversOf(clickhouse)
  const left = await Promise.all(servers.map(clones))
  if (left.flat().length === 0) return true
  return postgres.begin(async (transaction) => {
    const [row] = await transaction<[{ locked: boolean }]>`SELECT pg_try_advisory_xact_lock(${backupLock}) AS locked`
    if (row.locked) await Promise.all(servers.map(dropClones))
    return row.locked
  })
}

async function clones(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rowsPatiently<{ name: string }>(
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, ${text(clonePrefix)})`,
  )
  return rows.map(({ name }) => name)
}

async function dropClones(clickhouse: ClickHouse): Promise<void> {
  // Without this setting ClickHouse refuses to drop more than 50 GB.
  for (const name of await clones(clickhouse))
    await clickhouse.command(`DROP TABLE ${name} SYNC SETTINGS max_table_size_to_drop = 0`)
}
