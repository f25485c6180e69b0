// Titles of pages. A page has one title, whatever is asked and filtered (decision D-18).
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'

interface Scope {
  siteId: string
  excludedCountries: readonly string[]
}

/** The latest title of each path that has one. */
export async function readTitles(
  clickhouse: ClickHouseReader,
  scope: Scope,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const rows = await clickhouse.rows<{ pathname: string; title: string }>(
    sql`
      SELECT pathname, max(latest).title AS title
      FROM titles
      WHERE ${titleScope(scope)} AND pathname IN ${texts(paths)}
      GROUP BY pathname`,
    signal,
  )
  return new Map(rows.map(({ pathname, title }) => [pathname, title]))
}

/** Visitors from an excluded country do not name a page. */
const titleScope = ({ siteId, excludedCountries }: Scope): Sql =>
  excludedCountries.length > 0
    ? sql`site_id = ${text(siteId)} AND NOT has(${texts(excludedCountries)}, country)`
    : sql`site_id = ${text(siteId)}`
