import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, text } from '../stores/clickhouse-sql.ts'

/** Every table that holds what was recorded of a site; tallies are made from it again. A table added here is backed up and restored. */
export const siteTables = ['events', 'titles'] as const

/** Removes all that is stored of a site's traffic, for good. */
export async function eraseSite(clickhouse: ClickHouse, siteId: string): Promise<void> {
  await clickhouse.run(sql`DELETE FROM events WHERE site_id = ${text(siteId)}`)
  await clickhouse.run(sql`DELETE FROM titles WHERE site_id = ${text(siteId)}`)
  await eraseTallies(clickhouse, siteId)
  await clickhouse.run(sql`DELETE FROM open_tallies WHERE site_id = ${text(siteId)}`)
}

export async function eraseTallies(clickhouse: ClickHouse, siteId: string): Promise<void> {
  await clickhouse.run(sql`DELETE FROM short_tallies WHERE site_id = ${text(siteId)}`)
  await clickhouse.run(sql`DELETE FROM long_tallies WHERE site_id = ${text(siteId)}`)
}
