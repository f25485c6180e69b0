import { dayBefore } from '../calendar/days.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { sql, text } from '../stores/clickhouse-sql.ts'
import type { ImportFile } from './checking.ts'

/**
 * The last day of which files are read, unless somebody names one. Other products' files end the day before the first event that the tracker
 * sent, because visitors of a day that both counted would count twice. Undefined: all days, because there is no such event, or the files
 * are written for Footfall, by somebody who knows which days they should have.
 */
export async function defaultUntil(
  clickhouse: ClickHouseReader,
  siteId: string,
  files: readonly ImportFile[],
): Promise<string | undefined> {
  if (!files.some(({ format }) => format.leavesOutBrokenLines)) return undefined
  return dayBeforeOwnEvents(clickhouse, siteId)
}

export async function dayBeforeOwnEvents(clickhouse: ClickHouseReader, siteId: string): Promise<string | undefined> {
  const [row] = await clickhouse.rows<{ day: string }>(sql`
    SELECT toString(day) AS day FROM events WHERE site_id = ${text(siteId)} AND import_id = 0 ORDER BY day LIMIT 1`)
  return row && dayBefore(row.day)
}
