// Days that have events of the site itself, and days of which another import has sums: neither may be imported without being asked for.
import type { DayRange } from '../../calendar/days.ts'
import { intersect } from '../../calendar/days.ts'
import { readCoverage, rolledUpDays } from '../../rollups/coverage.ts'
import { dimensions, tableOf } from '../../rollups/dimensions.ts'
import { unionOf } from '../../rollups/imported-days.ts'
import { rollupSources } from '../../rollups/reading.ts'
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import { sql, text } from '../../stores/clickhouse-sql.ts'
import type { Postgres } from '../../stores/postgres.ts'
import { onDays } from '../../traffic/conditions.ts'
import type { ImportedList } from './checking.ts'

/** Those of these days that have events, also such as retention has dropped. */
export async function daysWithEvents(
  postgres: Postgres,
  clickhouse: ClickHouseReader,
  siteId: string,
  days: readonly DayRange[],
): Promise<DayRange[]> {
  const [first, last] = [days[0]?.[0], days.at(-1)?.[1]]
  if (first === undefined || last === undefined) return []
  const range: DayRange = [first, last]
  const coverage = await readCoverage(postgres, siteId)
  const rolledUp = rolledUpDays([range], coverage?.versions ?? [])
  const scope = { siteId, filters: {}, excludedCountries: [] }
  const stored =
    rolledUp.length > 0
      ? rollupSources(scope, [dimensions.total], rolledUp, tableOf).map(
          ({ table, scope }) => sql` UNION DISTINCT SELECT DISTINCT day FROM ${table} WHERE ${scope}`,
        )
      : []
  const rows = await clickhouse.rows<{ day: string }>(sql`
    SELECT DISTINCT day FROM events WHERE site_id = ${text(siteId)} AND ${onDays([range])}
    ${stored[0] ?? sql``}`)
  return intersect(unionOf(rows.map(({ day }) => [day, day] as const)), days)
}

/** The first list and days that another import of the site has, too. Call it while the row of the site is locked. */
export async function importedBefore(
  postgres: Postgres,
  siteId: string,
  lists: readonly ImportedList[],
): Promise<{ id: string; list: string; days: DayRange } | undefined> {
  const rows = await postgres<{ id: string; list: string; days: DayRange[] }[]>`
    SELECT import_id AS id, list, day_ranges(days) AS days FROM imported_days WHERE site_id = ${siteId}`
  for (const { list, days } of lists)
    for (const row of rows) {
      const [both] = row.list === list ? intersect(days, row.days) : []
      if (both) return { id: row.id, list, days: both }
    }
  return undefined
}
