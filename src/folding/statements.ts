// The statements that fold days: exact counts for every cell, made inside the engine (decisions D-71 and D-72). Visitors are
// made unique once for each country and device, with and without the host; coarser cells are sums of those.

import { storedCells } from '../stats/cells.ts'
import { type Dimension, foldedDimensions } from '../stats/dimensions.ts'
import { onDays } from '../stats/query.ts'
import { join, type Sql, sql, text, uint, uints } from '../stores/clickhouse-sql.ts'
import type { DayRange } from '../traffic/folds.ts'

/** What is folded together: days of one site, under one version. */
export interface Batch {
  siteId: string
  version: number
  days: readonly DayRange[]
}

export const foldStatements = (batch: Batch): Sql[] => [
  ...Object.values<Dimension>(foldedDimensions).map((dimension) => foldHits(batch, dimension)),
  foldSessions(batch),
]

const eventsOf = ({ siteId, days }: Batch): Sql => sql`site_id = ${text(siteId)} AND ${onDays(days)}`

function foldHits(batch: Batch, { name, value, hits, counted }: Dimension): Sql {
  const counts = sql`${counted} AS views, uniqExact(visitor_id) AS visitors FROM events WHERE ${eventsOf(batch)} AND ${hits}`
  return sql`
    INSERT INTO folded
    (site_id, dimension, cell, span, hostname, utm_source, country, device, day, value, version, views, visitors)
    SELECT
      ${text(batch.siteId)}, ${name}, ${cell}, 'day', host, source, land, kind, day, value, ${uint(batch.version)},
      sum(views), sum(visitors)
    FROM (
      SELECT
        4 * (1 - grouping(host)) AS place, hostname AS host, '' AS source, country AS land, device AS kind, day,
        ${value} AS value, ${counts}
      GROUP BY GROUPING SETS ((day, value, land, kind), (day, value, land, kind, host))
      UNION ALL
      SELECT
        8 + 4 * (1 - grouping(host)) AS place, hostname AS host, utm_source AS source, country AS land, device AS kind, day,
        ${value} AS value, ${counts} AND utm_source != ''
      GROUP BY GROUPING SETS ((day, value, land, kind, source), (day, value, land, kind, source, host))
    )
    ${intoCells(sql`day, value`)}`
}

/** A session has one source; it counts once for each of its hosts. Its dimension is the total. */
const foldSessions = (batch: Batch): Sql => sql`
    INSERT INTO folded
    (site_id, dimension, cell, span, hostname, utm_source, country, device, day, version, sessions, bounces, duration)
    SELECT
      ${text(batch.siteId)}, 'total', ${cell}, 'day', host, source, land, kind, day, ${uint(batch.version)},
      count(), countIf(bounced), sum(milliseconds)
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
    ${intoCells(sql`day`)}`

/** The number of the row's cell, from where it was counted and what it is grouped by. */
const cell = sql`toUInt8(place + 2 * (1 - grouping(kind)) + (1 - grouping(land))) AS cell`

const intoCells = (fixed: Sql): Sql => sql`
    GROUP BY GROUPING SETS
    (
      (place, host, source, ${fixed}),
      (place, host, source, ${fixed}, kind),
      (place, host, source, ${fixed}, kind, land)
    )
    HAVING cell IN ${uints(storedCells)}`

/** Months are sums of days that are readable, whatever version each was written under. */
export const foldMonths = (batch: Batch, readable: readonly { version: number; days: readonly DayRange[] }[]): Sql[] =>
  Object.values<Dimension>(foldedDimensions).map(
    ({ name }) => sql`
    INSERT INTO folded
    (
      site_id, dimension, cell, span, hostname, utm_source, country, device, day, value, version,
      views, visitors, sessions, bounces, duration
    )
    SELECT
      site_id, dimension, cell, 'month', hostname, utm_source, country, device, toStartOfMonth(day) AS month, value,
      ${uint(batch.version)}, sum(views), sum(visitors), sum(sessions), sum(bounces), sum(duration)
    FROM folded
    WHERE site_id = ${text(batch.siteId)} AND dimension = ${name} AND span = 'day' AND (${join(
      readable.map(({ version, days }) => sql`(version = ${uint(version)} AND ${onDays(days)})`),
      sql` OR `,
    )})
    GROUP BY site_id, dimension, cell, hostname, utm_source, country, device, month, value`,
  )
