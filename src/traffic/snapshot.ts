// Tables that stand still while a backup reads them: clones, whose files are hard links, so that they take a moment and no space.
import type { TransactionSql } from 'postgres'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, text } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'

interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
}

const prefix = 'backup_of_'
// Any constant: the name of the lock that a backup holds as long as it needs its clones.
const backupLock = 4_669_204

export const cloneOf = (table: string): string => prefix + table

/** Both databases as they are at one moment; undefined while another backup is being taken. */
export const withSnapshot = <Result>(
  { postgres, clickhouse }: Stores,
  tables: readonly string[],
  work: (control: TransactionSql) => Promise<Result>,
): Promise<Result | undefined> =>
  postgres.begin('isolation level repeatable read read only', async (control) => {
    // The first statement decides what the others see. Then the clones at once: what PostgreSQL says is folded for good is in them, and
    // what was not yet is not dropped for 20 minutes.
    const [row] = await control<[{ locked: boolean }]>`SELECT pg_try_advisory_xact_lock(${backupLock}) AS locked`
    if (!row.locked) return undefined
    await control`SET LOCAL idle_in_transaction_session_timeout = 0`
    try {
      await dropClones(clickhouse)
      // Merging a clone would only cost.
      for (const table of tables)
        await clickhouse.command(
          `CREATE TABLE ${cloneOf(table)} CLONE AS ${table} SETTINGS max_bytes_to_merge_at_max_space_in_pool = 1`,
        )
      return await work(control)
    } finally {
      await dropClones(clickhouse)
    }
  }) as Promise<Result | undefined>

/** Removes what a backup that was killed has left; says whether none is there now: one that is being taken needs its own. */
export async function dropLeftClones({ postgres, clickhouse }: Stores): Promise<boolean> {
  if ((await clones(clickhouse)).length === 0) return true
  return postgres.begin(async (transaction) => {
    const [row] = await transaction<[{ locked: boolean }]>`SELECT pg_try_advisory_xact_lock(${backupLock}) AS locked`
    if (row.locked) await dropClones(clickhouse)
    return row.locked
  })
}

async function clones(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rowsPatiently<{ name: string }>(
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, ${text(prefix)})`,
  )
  return rows.map(({ name }) => name)
}

async function dropClones(clickhouse: ClickHouse): Promise<void> {
  // However large: the engine keeps from dropping 50 GB by mistake.
  for (const name of await clones(clickhouse))
    await clickhouse.command(`DROP TABLE ${name} SYNC SETTINGS max_table_size_to_drop = 0`)
}
