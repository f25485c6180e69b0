import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { sql, text, texts } from '../stores/clickhouse-sql.ts'

/** Whether ClickHouse has any event of the site. The table is sorted by site, so this reads one granule, however large the site is. */
export async function hasEvents(clickhouse: ClickHouseReader, siteId: string): Promise<boolean> {
  const rows = await clickhouse.rows(sql`SELECT 1 AS found FROM events WHERE site_id = ${text(siteId)} LIMIT 1`)
  return rows.length > 0
}

/** The day of the first event that is stored, `YYYY-MM-DD`. The table is sorted by day within a site. */
export async function firstEventDay(
  clickhouse: ClickHouseReader,
  siteId: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const [row] = await clickhouse.rows<{ day: string }>(
    sql`SELECT day FROM events WHERE site_id = ${text(siteId)} ORDER BY day LIMIT 1`,
    signal,
  )
  return row?.day
}

/** Those of the sites that have no event at all. For sites with few events: of each it reads everything. */
export async function withoutEvents(clickhouse: ClickHouseReader, siteIds: readonly string[]): Promise<string[]> {
  const rows = await clickhouse.rows<{ site_id: string }>(
    sql`SELECT DISTINCT site_id FROM events WHERE site_id IN ${texts(siteIds)}`,
  )
  const found = new Set(rows.map(({ site_id }) => site_id))
  return siteIds.filter((id) => !found.has(id))
}
