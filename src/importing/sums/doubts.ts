// Imported days that somebody should look at.
import type { DayRange } from '../../calendar/days.ts'
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { dates, sql, texts } from '../../stores/clickhouse-sql.ts'
import type { Postgres } from '../../stores/postgres.ts'

interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
}

/** Ranges of days in one statement. */
const maxRanges = 3_000

/** Days that have events, too: they came later, or somebody chose to count both. */
export async function daysCountedTwice({ postgres, clickhouse }: Stores): Promise<{ domain: string; day: string }[]> {
  const sites = await postgres<{ id: string; domain: string; days: DayRange[] }[]>`
    SELECT id, domain, day_ranges(range_agg(range)) AS days
    FROM sites JOIN imported_days ON site_id = id, unnest(days) AS range
    WHERE shard = ${clickhouse.shard} GROUP BY id ORDER BY domain`
  const domains = new Map(sites.map(({ id, domain }) => [id, domain]))
  const ranges = sites.flatMap(({ id, days }) => days.map(([first, last]) => ({ id, first, last })))
  const found = []
  for (let from = 0; from < ranges.length; from += maxRanges) {
    const some = ranges.slice(from, from + maxRanges)
    const ids = texts(some.map(({ id }) => id))
    found.push(
      ...(await clickhouse.rowsPatiently<{ site_id: string; day: string }>(sql`
        SELECT DISTINCT site_id, toString(day) AS day FROM events
        INNER JOIN (
          SELECT site_id, first, last FROM (SELECT 1) ARRAY JOIN
            ${ids} AS site_id, ${dates(some.map(({ first }) => first))} AS first, ${dates(some.map(({ last }) => last))} AS last
        ) AS ranges USING site_id
        WHERE site_id IN ${ids} AND events.day BETWEEN first AND last
        ORDER BY site_id, day`)),
    )
  }
  return found.map(({ site_id, day }) => ({ domain: domains.get(site_id) ?? site_id, day }))
}

/** ClickHouse was restored from a copy from before these imports: their days would answer 0. */
export async function importsWithoutRows({
  postgres,
  clickhouse,
}: Stores): Promise<{ domain: string; importId: string }[]> {
  const imports = await postgres<{ siteId: string; domain: string; importId: string; version: string }[]>`
    SELECT DISTINCT site_id AS "siteId", domain, import_id AS "importId", version
    FROM imported_days JOIN sites ON id = site_id WHERE shard = ${clickhouse.shard} ORDER BY domain, import_id`
  const lost = []
  for (let from = 0; from < imports.length; from += maxRanges) {
    const some = imports.slice(from, from + maxRanges)
    const rows = await clickhouse.rowsPatiently<{ version: string }>(sql`
      SELECT DISTINCT toString(version) AS version FROM imported_sums WHERE site_id IN ${texts(some.map(({ siteId }) => siteId))}`)
    const known = new Set(rows.map(({ version }) => version))
    lost.push(...some.filter(({ version }) => !known.has(version)))
  }
  return lost
}
