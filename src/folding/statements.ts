// The statements that fold days: exact counts for every cell, made inside the engine (decisions D-71 and D-72). Visitors are made
// unique for each cell by itself: adding up coarser cells from finer ones took longer, 5.8 instead of 3.7 us an event for pages.

import { type Dimension, dimensions, narrowedBy } from '../stats/dimensions.ts'
import { placeIn, subject } from '../stats/places.ts'
import type { Segment } from '../stats/plan.ts'
import { onDays } from '../stats/query.ts'
import { instant, join, type Sql, sql, text, uint, uints } from '../stores/clickhouse-sql.ts'
import type { DayRange } from '../traffic/folds.ts'

/** What is folded together: days of one site, under one version. */
export interface Batch {
  siteId: string
  version: number
  days: readonly DayRange[]
  /** The days are not over: events before this instant, UTC milliseconds, are counted, into the table of open days. */
  until?: number
}

/** One statement for each dimension, or one for all: less to do for few events, and one part of the table instead of six. */
export function foldStatements(batch: Batch, { atOnce }: { atOnce: boolean }): Sql[] {
  const parts = [
    ...Object.values<Dimension>(dimensions).map((dimension) => hitRows(batch, dimension)),
    sessionRows(batch),
  ]
  return (atOnce ? [join(parts, sql` UNION ALL `)] : parts).map((rows) => insert(batch, rows))
}

/** Of rows (dimension, cell, host, source, land, kind, day, value, …): country and device under names that no column of events has. */
const insert = ({ siteId, version, until }: Batch, rows: Sql): Sql => sql`
    INSERT INTO ${until === undefined ? sql`tallies` : sql`open_tallies`} (site_id, place, day, value, views, visitors, sessions, bounces, duration)
    SELECT
      ${text(siteId)},
      ${placeIn(version, sql`dimension`, sql`cell`, { hostname: sql`host`, utmSource: sql`source`, country: sql`land`, device: sql`kind` })},
      day, value, views, visitors, sessions, bounces, duration
    FROM (${rows}
    )`

const eventsOf = ({ siteId, days, until }: Batch): Sql => {
  const scope = sql`site_id = ${text(siteId)} AND ${onDays(days)}`
  return until === undefined ? scope : sql`${scope} AND time < ${instant(until)}`
}

const columns = [
  { bit: narrowedBy.hostname, column: sql`hostname`, alias: sql`host` },
  { bit: narrowedBy.utmSource, column: sql`utm_source`, alias: sql`source` },
  { bit: narrowedBy.country, column: sql`country`, alias: sql`land` },
  { bit: narrowedBy.device, column: sql`device`, alias: sql`kind` },
] as const

/** Cells of a source leave out who came without one, so they are counted apart. */
function hitRows(batch: Batch, dimension: Dimension): Sql {
  const [withSource, others] = [true, false].map((wanted) =>
    dimension.cells.filter((cell) => (cell & narrowedBy.utmSource) > 0 === wanted),
  ) as [number[], number[]]
  const parts = [cellRows(batch, dimension, others, sql`true`)]
  if (withSource.length > 0) parts.push(cellRows(batch, dimension, withSource, sql`utm_source != ''`))
  return join(parts, sql` UNION ALL `)
}

function cellRows(batch: Batch, dimension: Dimension, cells: readonly number[], named: Sql): Sql {
  const used = columns.filter(({ bit }) => cells.some((cell) => cell & bit))
  const cell = used.map(({ bit, alias }) => sql`${uint(bit)} * (1 - grouping(${alias}))`)
  const shown = columns.map((one) =>
    used.includes(one) ? sql`${one.column} AS ${one.alias}` : sql`'' AS ${one.alias}`,
  )
  const sets = cells.map((one) =>
    used.filter(({ bit }) => one & bit).reduce((set, { alias }) => sql`${set}, ${alias}`, sql`day, value`),
  )
  const { name, value, hits, counted } = dimension
  return sql`
    SELECT
      ${text(name)} AS dimension, toUInt8(${join([sql`0`, ...cell], sql` + `)}) AS cell, ${join(shown, sql`, `)}, day,
      ${value} AS value,
      toInt64(${counted}) AS views, toInt64(uniqExact(visitor_id)) AS visitors,
      toInt64(0) AS sessions, toInt64(0) AS bounces, toInt64(0) AS duration
    FROM events
    WHERE ${eventsOf(batch)} AND ${hits} AND ${named}
    GROUP BY GROUPING SETS ((${join(sets, sql`), (`)}))`
}

/** A session has one source; it counts once for each of its hosts. Its dimension is the total. */
const sessionRows = (batch: Batch): Sql => sql`
    SELECT
      'total' AS dimension, toUInt8(place + 2 * (1 - grouping(kind)) + (1 - grouping(land))) AS cell, host, source, land, kind,
      day, '' AS value, toInt64(0) AS views, toInt64(0) AS visitors,
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
      (place, host, source, day, land),
      (place, host, source, day, kind, land)
    )
    HAVING cell IN ${uints(dimensions.total.cells)}`

/** Months are sums of days that are readable, whatever version each was written under. */
export function foldMonths(
  { siteId, version }: Omit<Batch, 'days'>,
  readable: readonly Pick<Segment, 'version' | 'days'>[],
  { atOnce }: { atOnce: boolean },
): Sql[] {
  const names = Object.values<Dimension>(dimensions).flatMap(({ name, hasMonths }) => (hasMonths ? [name] : []))
  const sums = (some: readonly string[]) => {
    const days = readable.flatMap((one) =>
      some.map((name) => sql`(startsWith(place, ${text(`day ${one.version} ${name} `)}) AND ${onDays(one.days)})`),
    )
    return sql`
    INSERT INTO tallies (site_id, place, day, value, views, visitors, sessions, bounces, duration)
    SELECT
      site_id, concat(${text(`month ${version} `)}, ${subject}) AS month_place, toStartOfMonth(day) AS month, value,
      sum(views), sum(visitors), sum(sessions), sum(bounces), sum(duration)
    FROM tallies
    WHERE site_id = ${text(siteId)} AND (${join(days, sql` OR `)})
    GROUP BY site_id, month_place, month, value`
  }
  return atOnce ? [sums(names)] : names.map((name) => sums([name]))
}
