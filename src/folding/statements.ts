// The statements that fold days: exact counts for every cell, made inside the engine (decisions D-71 and D-72). Visitors are made
// unique for each cell by itself: adding up coarser cells from finer ones took longer, 5.8 instead of 3.7 us an event for pages.

import { storedCells } from '../stats/cells.ts'
import { type Dimension, foldedDimensions } from '../stats/dimensions.ts'
import type { Segment } from '../stats/plan.ts'
import { onDays } from '../stats/query.ts'
import { join, type Sql, sql, text, uint, uints } from '../stores/clickhouse-sql.ts'
import type { DayRange } from '../traffic/folds.ts'

/** What is folded together: days of one site, under one version. */
export interface Batch {
  siteId: string
  version: number
  days: readonly DayRange[]
}

/** One statement for each dimension, or one for all: less to do for few events, and one part of the table instead of six. */
export function foldStatements(batch: Batch, { atOnce }: { atOnce: boolean }): Sql[] {
  const parts = [
    ...Object.values<Dimension>(foldedDimensions).map((dimension) => hitRows(batch, dimension)),
    sessionRows(batch),
  ]
  return (atOnce ? [join(parts, sql` UNION ALL `)] : parts).map(insert)
}

const insert = (rows: Sql): Sql => sql`
    INSERT INTO folded
    (
      site_id, dimension, cell, span, hostname, utm_source, country, device, day, value, version,
      views, visitors, sessions, bounces, duration
    )
    ${rows}`

const eventsOf = ({ siteId, days }: Batch): Sql => sql`site_id = ${text(siteId)} AND ${onDays(days)}`

function hitRows(batch: Batch, { name, value, hits, counted }: Dimension): Sql {
  const counts = sql`
      toInt64(${counted}) AS views, toInt64(uniqExact(visitor_id)) AS visitors,
      toInt64(0) AS sessions, toInt64(0) AS bounces, toInt64(0) AS duration
    FROM events
    WHERE ${eventsOf(batch)} AND ${hits}`
  const row = (cell: Sql, source: Sql) => sql`
    SELECT
      ${text(batch.siteId)}, ${name}, toUInt8(${cell}), 'day', hostname AS host, ${source} AS source, country AS land,
      device AS kind, day, ${value} AS value, ${uint(batch.version)}, ${counts}`
  return sql`
    ${row(sql`${columns}`, sql`''`)}
    GROUP BY GROUPING SETS
    (
      (day, value),
      (day, value, kind),
      (day, value, kind, land),
      (day, value, host),
      (day, value, host, kind, land)
    )
    UNION ALL
    ${row(sql`8 + ${columns}`, sql`utm_source`)} AND utm_source != ''
    GROUP BY GROUPING SETS
    (
      (day, value, source),
      (day, value, source, kind, land),
      (day, value, source, host, kind, land)
    )`
}

/** What a row is grouped by, as the number of its cell has it (stats/cells.ts). */
const columns = sql`4 * (1 - grouping(host)) + 2 * (1 - grouping(kind)) + (1 - grouping(land))`

/** A session has one source; it counts once for each of its hosts. Its dimension is the total. */
const sessionRows = (batch: Batch): Sql => sql`
    SELECT
      ${text(batch.siteId)}, 'total', toUInt8(place + 2 * (1 - grouping(kind)) + (1 - grouping(land))) AS cell, 'day', host,
      source, land, kind, day, '' AS value, ${uint(batch.version)}, toInt64(0) AS views, toInt64(0) AS visitors,
      toInt64(count()) AS sessions, toInt64(countIf(bounced)) AS bounces, toInt64(sum(milliseconds)) AS duration
    FROM (
      SELECT day, land, kind, bounced, milliseconds, places.1 AS place, places.2 AS host, places.3 AS source
      FROM (
        SELECT
          day,
          any(country) AS land,
          any(device) AS kind,
          any(utm_source) AS origin,
          groupUniqArray(hostname) AS hosts,
          count() = 1 AND any(name) = 'pageview' AS bounced,
          toUnixTimestamp64Milli(max(time)) - toUnixTimestamp64Milli(min(time)) AS milliseconds
        FROM events
        WHERE ${eventsOf(batch)}
        GROUP BY day, session_id
      )
      ARRAY JOIN arrayConcat(
        [(0, '', '')],
        arrayMap(one -> (4, one, ''), hosts),
        if(origin = '', [], arrayConcat([(8, '', origin)], arrayMap(one -> (12, one, origin), hosts)))
      ) AS places
    )
    GROUP BY GROUPING SETS
    (
      (place, host, source, day),
      (place, host, source, day, kind),
      (place, host, source, day, kind, land)
    )
    HAVING cell IN ${uints(storedCells)}`

/** Months are sums of days that are readable, whatever version each was written under. */
export function foldMonths(
  { siteId, version }: Omit<Batch, 'days'>,
  readable: readonly Pick<Segment, 'version' | 'days'>[],
  { atOnce }: { atOnce: boolean },
): Sql[] {
  const days = readable.map((one) => sql`(version = ${uint(one.version)} AND ${onDays(one.days)})`)
  const rows = (dimension: Sql) => sql`
    SELECT
      site_id, dimension, cell, 'month', hostname, utm_source, country, device, toStartOfMonth(day) AS month, value,
      ${uint(version)}, sum(views), sum(visitors), sum(sessions), sum(bounces), sum(duration)
    FROM folded
    WHERE site_id = ${text(siteId)} AND ${dimension} AND span = 'day' AND (${join(days, sql` OR `)})
    GROUP BY site_id, dimension, cell, hostname, utm_source, country, device, month, value`
  if (atOnce) return [insert(rows(sql`true`))]
  return Object.values<Dimension>(foldedDimensions).map(({ name }) => insert(rows(sql`dimension = ${name}`)))
}
