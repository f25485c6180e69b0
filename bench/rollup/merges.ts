import { setTimeout as pause } from 'node:timers/promises'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'

/** Waits until ClickHouse has merged nothing for two seconds: merges are a part of what writing costs. */
export async function untilMerged(clickhouse: ClickHouse): Promise<void> {
  for (let quiet = 0; quiet < 4; ) {
    await pause(500)
    const [row] = await clickhouse.rows<{ merges: number }>(sql`SELECT count() AS merges FROM system.merges`)
    quiet = row?.merges === 0 ? quiet + 1 : 0
  }
}
