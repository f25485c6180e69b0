// Reads from ClickHouse which values a site had in its events of the last 30 days.
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { date, type Sql, sql, text, uint } from '../../stores/clickhouse-sql.ts'
import { within } from '../../stores/deadline.ts'
import { type EarlierValue, type LimitedColumn, other } from './value-limits.ts'

const days = 30
/** Longer than the limit below, so that ClickHouse can report its own error first. */
const timeoutMs = 15_000

const columns: Readonly<Record<LimitedColumn, Sql>> = {
  path: sql`pathname`,
  referrer: sql`referrer`,
  source: sql`utm_source`,
  medium: sql`utm_medium`,
  campaign: sql`utm_campaign`,
  content: sql`utm_content`,
  term: sql`utm_term`,
  hostname: sql`hostname`,
  event: sql`name`,
  property_key: sql`arrayJoin(mapKeys(props))`,
  property: sql`arrayJoin(arrayMap((key, value) -> key || '=' || value, mapKeys(props), mapValues(props)))`,
}

// A query that hits the time limit returns what it has read so far, which covers the most frequent values: no site may keep ClickHouse
// busy with this. 60,000 paths of 3 million events took 3 s on two cores at a load of 40, and 0.15 s of the collector's CPU time.
const settings = {
  max_execution_time: 10,
  timeout_overflow_mode: 'break',
  max_threads: 1,
  max_rows_to_group_by: '1000000',
  group_by_overflow_mode: 'any',
} as const

export async function readEarlierValues(
  clickhouse: ClickHouse,
  siteId: string,
  day: string,
  column: LimitedColumn,
  max: number,
): Promise<EarlierValue[]> {
  const reading = clickhouse.rowsPatiently<{ value: string; is_new: number }>(
    sql`
    SELECT ${columns[column]} AS value, min(day) = ${date(day)} AS is_new
    FROM events
    WHERE site_id = ${text(siteId)} AND day BETWEEN ${date(day)} - ${uint(days)} AND ${date(day)}
      AND value NOT IN ('', ${text(other)})
    GROUP BY value
    ORDER BY count() DESC, value
    LIMIT ${uint(max)}`,
    settings,
  )
  const rows = await within(timeoutMs, 'ClickHouse', reading)
  return rows.map(({ value, is_new }) => ({ value, isNew: is_new === 1 }))
}
