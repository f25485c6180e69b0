// The statements that fold days: exact counts for every cell, made inside the engine (decisions D-71 and D-72). Visitors are made
// unique for each cell by itself: adding up coarser cells from finer ones took longer, 5.8 instead of 3.7 us an event for pages.

import { type Dimension, dimensions, narrowedBy } from '../stats/dimensions.ts'
import { placeIn, type Span, subject } from '../stats/places.ts'
import type { Segment } from '../stats/plan.ts'
import { onDays } from '../stats/query.ts'
import { date, instant, join, type Sql, sql, text, uint, uints } from '../stores/clickhouse-sql.ts'
import type { DayPart, DayRange } from '../traffic/folds.ts'

/** What is folded together: days of one site, under one version. */
export interface Batch {
  siteId: string
  version: number
  days: readonly DayRange[]
  /** The last day is not over: of it count hits before this instant, UTC milliseconds, and sessions that began before it. */
  until?: number
}

const all = Object.values<Dimension>(dimensions)
const long = all.filter(({ isLong }) => isLong)
const short = all.filter(({ isLong }) => !isLong)

/** One statement for each dimension, or one for each table: less to do for few events, and fewer parts to merge. */
export function foldStatements(batch: Batch, { atOnce }: { atOnce: boolean }): Sql[] {
  const rows = (dimension: Dimension) => hitRows(batch, dimension)
  const tables = [
    {
      table: sql`short_tallies`,
      counts: sql`${hitCounts}, ${sessionCounts}`,
      parts: [...short.map(rows), sessionRows(batch)],
    },
    { table: sql`long_tallies`, counts: hitCounts, parts: long.map(rows) },
  ]
  return tables.flatMap(({ table, counts, parts }) =>
    (atOnce ? [join(parts, sql` UNION ALL `)] : parts).map((some) =>
      insert(batch, batch.until === undefined ? table : sql`open_tallies`, counts, some),
    ),
  )
}

/** The totals of parts of days, in one statement. */
export function foldParts(batch: Omit<Batch, 'days'>, parts: readonly Pick<DayPart, 'day' | 'until'>[]): Sql {
  const rows = parts.flatMap(({ day, until }) => {
    const part = { ...batch, days: [[day, day]] as const, until }
    return [hitRows(part, dimensions.total), sessionRows(part)]
  })
  return insert(batch, sql`open_tallies`, sql`${hitCounts}, ${sessionCounts}`, join(rows, sql` UNION ALL `), 'part')
}

const hitCounts = sql`views, visitors`
const sessionCounts = sql`sessions, bounces, duration`

/** Of rows (dimension, cell, host, source, land, kind, day, value, …): country and device under names that no column of events has. */
const insert = (
  { siteId, version }: Omit<Batch, 'days'>,
  table: Sql,
  counts: Sql,
  rows: Sql,
  span: Span = 'day',
): Sql => sql`
    INSERT INTO ${table} (site_id, place, day, value, ${counts})
    SELECT
      ${text(siteId)},
      ${placeIn(span, version, sql`dimension`, sql`cell`, { hostname: sql`host`, utmSource: sql`source`, country: sql`land`, device: sql`kind` })},
      day, value, ${counts}
    FROM (${rows}
    )`

const eventsOf = ({ siteId, days }: Batch): Sql => sql`site_id = ${text(siteId)} AND ${onDays(days)}`

/** As a question of the events would have it: instants matter on the last day alone (decision D-9). */
const beforeItsEnd = ({ days, until }: Batch, time: Sql): Sql | undefined =>
  until === undefined ? undefined : sql`(day < ${date(days.at(-1)?.[1] ?? '')} OR ${time} < ${instant(until)})`

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
  const { name, value, counted } = dimension
  const inTime = beforeItsEnd(batch, sql`time`)
  const hits = inTime ? sql`${inTime} AND ${dimension.hits}` : dimension.hits
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
function sessionRows(batch: Batch): Sql {
  const inTime = beforeItsEnd(batch, sql`time`)
  const begunInTime = beforeItsEnd(batch, sql`min(time)`)
  const hosts = inTime ? sql`groupUniqArrayIf(hostname, ${inTime})` : sql`groupUniqArray(hostname)`
  const begun = begunInTime ? sql` HAVING ${begunInTime}` : sql``
  return sql`
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
          ${hosts} AS hosts,
          count() = 1 AND any(name) = 'pageview' AS bounced,
          toUnixTimestamp64Milli(max(time)) - toUnixTimestamp64Milli(min(time)) AS milliseconds
        FROM events
        WHERE ${eventsOf(batch)}
        GROUP BY day, session_id${begun}
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
}

/**
 * Months of long lists are sums of days that are readable, whatever version each was written under. Cell by cell, if not all at once: a
 * month of five million events took 17 s of CPU in one statement, and 10 to 12 s by cells.
 */
export function foldMonths(
  { siteId, version }: Omit<Batch, 'days'>,
  readable: readonly Pick<Segment, 'version' | 'days'>[],
  { atOnce }: { atOnce: boolean },
): Sql[] {
  const subjects = long.flatMap(({ name, cells }) => cells.map((cell) => `${name} ${cell}`))
  const sums = (some: readonly string[]) => {
    const days = readable.flatMap((one) =>
      some.map((begin) => {
        const place = `day ${one.version} ${begin}`
        return sql`((place = ${text(place)} OR startsWith(place, ${text(`${place} `)})) AND ${onDays(one.days)})`
      }),
    )
    return sql`
    INSERT INTO long_tallies (site_id, place, day, value, views, visitors)
    SELECT ${text(siteId)}, concat(${text(`month ${version} `)}, what), month, value, sum(views), sum(visitors)
    FROM (
      SELECT ${subject} AS what, toStartOfMonth(day) AS month, value, views, visitors
      FROM long_tallies
      WHERE site_id = ${text(siteId)} AND (${join(days, sql` OR `)})
    )
    GROUP BY what, month, value`
  }
  return atOnce ? [sums(subjects)] : subjects.map((one) => sums([one]))
}
