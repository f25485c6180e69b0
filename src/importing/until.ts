import { dayBefore } from '../calendar/days.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { sql, text } from '../stores/clickhouse-sql.ts'

/**
 * The last day of which another product's file is read, unless somebody names one: the day before the first event that the tracker sent,
 * because visitors of a day that both counted would count twice. Undefined without such an event.
 */
export async function dayBeforeOwnEvents(clickhouse: ClickHouseReader, siteId: string): Promise<string | undefined> {
  const [row] = await clickhouse.rows<{ day: string }>(sql`
    SELECT toString(day) AS day FROM events WHERE site_id = ${text(siteId)} AND import_id = 0 ORDER BY day LIMIT 1`)
  return row && dayBefore(row.day)
}
