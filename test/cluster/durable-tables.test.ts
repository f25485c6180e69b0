// Acknowledged data survives a power cut only if inserts and merges are synced to disk (check:powercut proves it; this is the cheap part).
import assert from 'node:assert/strict'
import test from 'node:test'
import { lastingTables } from '../../src/cluster/tables.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { openStores } from '../support/stores.ts'

const synced = [
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  'min_rows_to_fsync_after_merge = 1',
  'min_compressed_bytes_to_fsync_after_merge = 1',
]

for (const table of Object.keys(lastingTables)) {
  test(`${table}: inserts and merges are on disk before they are acknowledged`, async () => {
    const { clickhouse } = await openStores()
    const [row] = await clickhouse.rows<{ made: string }>(sql`
      SELECT create_table_query AS made FROM system.tables WHERE database = currentDatabase() AND name = ${text(table)}`)
    for (const setting of synced) assert.ok(row?.made.includes(setting), `${table} has not ${setting}`)
  })
}
