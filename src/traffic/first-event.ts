import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { sql, text } from '../stores/clickhouse-sql.ts'

/** Whether ClickHouse has any event of the site. The table is sorted by site, so this reads one granule, however large the site is. */
export async function hasEvents(clickhouse: ClickHouseReader, siteId: string): Promise<boolean> {
  const rows = await clickhouse.rows(sql`SELECT 1 AS found FROM events WHERE site_id = ${text(siteId)} LIMIT 1`)
  return rows.length > 0
}
