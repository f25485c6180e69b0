// Tables that ClickHouse has restored from its own backup ignore deletions until they are repaired: RESTORE counts the blocks of a table
// from 1 again, but its parts keep the number of their last mutation, and a mutation with a lower number counts as done. Replicated tables
// are sound: their restored parts begin without a mutation.
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'

export async function tablesIgnoringMutations(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rowsPatiently<{ name: string }>(sql`
    SELECT name
    FROM (
      SELECT table AS name, max(data_version) AS version, max(max_block_number) AS block
      FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table
    ) AS parts
    LEFT JOIN (
      SELECT table AS name, max(arrayMax(block_numbers.number)) AS mutation
      FROM system.mutations WHERE database = currentDatabase() GROUP BY table
    ) AS mutations USING name
    WHERE version > greatest(block, mutation)`)
  return rows.map(({ name }) => name)
}

export async function repairRestoredTables(clickhouse: ClickHouse): Promise<void> {
  for (const name of await tablesIgnoringMutations(clickhouse)) {
    await clickhouse.command(`DETACH TABLE ${name}`)
    await clickhouse.command(`ATTACH TABLE ${name}`) // counts on from the highest number of its parts
    await clickhouse.command(`DELETE FROM ${name} WHERE 0`) // numbers all parts anew, so that the next run has nothing to repair
  }
}
