// The statements that roll up days, and that write their sessions. ClickHouse computes exact counts for every grouping set (decisions D-71 and
// D-72). Each grouping set counts its own unique visitors: adding up finer sets took longer, 5.8 instead of 3.7 us per event for pages.
import type { DayRange } from '../calendar/days.ts'
import { date, instant, join, type Sql, sql, text, texts, uint, uints } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'
import { sessionColumns } from '../traffic/sessions.ts'
import type { DayPart, Segment, Span } from './coverage.ts'
import { type Dimension, dimensions, filterBits, has } from './dimensions.ts'
import { rollupKey, rollupKeyIn } from './keys.ts'
import { sessionsStatement } from './sessions.ts'

/** Rows to write: days under one version, of one site or of many small ones. */
export interface Target {
  siteIds: readonly string[]
  version: number
  days: readonly DayRange[]
  /** Set when the last day is not over, UTC milliseconds. Only earlier events count, and sessions that began earlier. */
  until?: number
}

const all = Object.values<Dimension>(dimensions)
const long = all.filter(({ isLong }) => isLong)
const short = all.filter(({ isLong }) => !isLong)

const hitCounts = sql`views, visitors`
const allCounts = sql`views, visitors, sessions, bounces, duration`
/** The columns that identify a rollup row, besides its day and value. */
const group = sql`dimension, grouping_set, hostname, utm_source, country, device`

/** For few events one statement per table, which makes fewer parts to merge. Otherwise one per dimension, which takes less memory. */
export function rollupStatements(target: Target, { atOnce }: { atOnce: boolean }): Sql[] {
  const rows = (dimension: Dimension) => hitRows(target, dimension)
  const tables = [
    { table: sql`short_rollups`, counts: allCounts, parts: [...short.map(rows), sessionRows(target)] },
    { table: sql`long_rollups`, counts: hitCounts, parts: long.map(rows) },
  ]
  const rollups = tables.flatMap(({ table, counts, parts }) =>
    (atOnce ? [join(parts, sql` UNION ALL `)] : parts).map((some) =>
      insert(target, 'day', target.until === undefined ? table : sql`today_rollups`, counts, some),
    ),
  )
  if (target.until !== undefined) return rollups
  const site = onlySite(target) ?? sql`site_id`
  return [...rollups, sessionsStatement(sql`${uint(target.version)}`, site, eventsOf(target), bySite(target))]
}

/** One statement for the totals of all parts of days. */
export function partsStatement(target: Omit<Target, 'days'>, parts: readonly Pick<DayPart, 'day' | 'until'>[]): Sql {
  const rows = parts.flatMap(({ day, until }) => {
    const part = { ...target, days: [[day, day]] as const, until }
    return [hitRows(part, dimensions.total), sessionRows(part)]
  })
  return insert(target, 'part', sql`today_rollups`, allCounts, join(rows, sql` UNION ALL `))
}

const insert = (target: Omit<Target, 'days'>, span: Span, table: Sql, counts: Sql, rows: Sql): Sql => sql`
    INSERT INTO ${table} (site_id, rollup_key, ${group}, day, value, ${counts})
    SELECT ${onlySite(target) ?? sql`site_id`}, ${rollupKeyIn(span, target.version)}, ${group}, day, value, ${counts}
    FROM (${rows}
    )`

/** Set for a single site: its rows are not grouped by site, because that would cost time for every event. */
const onlySite = ({ siteIds }: Pick<Target, 'siteIds'>): Sql | undefined =>
  siteIds.length === 1 ? sql`${text(siteIds[0] as string)}` : undefined

const bySite = (target: Target): Sql => (onlySite(target) ? sql`` : sql`site_id, `)

function eventsOf(target: Target): Sql {
  const only = onlySite(target)
  return sql`${only ? sql`site_id = ${only}` : sql`site_id IN ${texts(target.siteIds)}`} AND ${onDays(target.days)}`
}

/** `until` matters only on the last day, as in a query on events (decision D-9). */
const beforeItsEnd = ({ days, until }: Target, time: Sql): Sql | undefined =>
  until === undefined ? undefined : sql`(day < ${date(days.at(-1)?.[1] ?? '')} OR ${time} < ${instant(until)})`

const columns = [
  { filter: 'hostname', column: sql`hostname` },
  { filter: 'utmSource', column: sql`utm_source` },
  { filter: 'country', column: sql`country` },
  { filter: 'device', column: sql`device` },
] as const

/** Grouping sets with a source leave out events without a source, so they need a SELECT of their own. */
function hitRows(target: Target, dimension: Dimension): Sql {
  const withSource = dimension.groupingSets.filter((set) => has(set, 'utmSource'))
  const others = dimension.groupingSets.filter((set) => !has(set, 'utmSource'))
  const parts = [groupingSetRows(target, dimension, others, sql`true`)]
  if (withSource.length > 0) parts.push(groupingSetRows(target, dimension, withSource, sql`events.utm_source != ''`))
  return join(parts, sql` UNION ALL `)
}

function groupingSetRows(target: Target, dimension: Dimension, sets: readonly number[], named: Sql): Sql {
  const used = columns.filter(({ filter }) => sets.some((set) => has(set, filter)))
  const bits = used.map(({ filter, column }) => sql`${uint(filterBits[filter])} * (1 - grouping(events.${column}))`)
  const shown = columns.map((one) =>
    used.includes(one) ? sql`events.${one.column} AS ${one.column}` : sql`'' AS ${one.column}`,
  )
  const grouped = sets.map((set) =>
    used
      .filter(({ filter }) => has(set, filter))
      .reduce((keys, { column }) => sql`${keys}, events.${column}`, sql`${bySite(target)}day, value`),
  )
  const inTime = beforeItsEnd(target, sql`time`)
  const hits = inTime ? sql`${inTime} AND ${dimension.hits}` : dimension.hits
  return sql`
    SELECT
      ${bySite(target)}${text(dimension.name)} AS dimension, toUInt8(${join([sql`0`, ...bits], sql` + `)}) AS grouping_set, ${join(shown, sql`, `)}, day,
      ${dimension.value} AS value,
      toInt64(${dimension.counted}) AS views, toInt64(uniqExact(visitor_id)) AS visitors,
      toInt64(0) AS sessions, toInt64(0) AS bounces, toInt64(0) AS duration
    FROM events
    WHERE ${eventsOf(target)} AND ${hits} AND ${named}
    GROUP BY GROUPING SETS ((${join(grouped, sql`), (`)}))`
}

/** Sessions belong to the total. A session has one source, and counts once for each of its hosts. */
function sessionRows(target: Target): Sql {
  const inTime = beforeItsEnd(target, sql`time`)
  const begunInTime = beforeItsEnd(target, sql`min(time)`)
  const hosts = inTime ? sql`groupUniqArrayIf(events.hostname, ${inTime})` : sql`groupUniqArray(events.hostname)`
  const begun = begunInTime ? sql` HAVING ${begunInTime}` : sql``
  return sql`
    SELECT
      ${bySite(target)}'total' AS dimension, toUInt8(host_and_source + 2 * (1 - grouping(device)) + (1 - grouping(country))) AS grouping_set,
      hostname, utm_source, country, device,
      day, '' AS value, toInt64(0) AS views, toInt64(0) AS visitors,
      toInt64(count()) AS sessions, toInt64(countIf(bounced)) AS bounces, toInt64(sum(milliseconds)) AS duration
    FROM (
      SELECT ${bySite(target)}day, country, device, bounced, milliseconds, counted.1 AS host_and_source, counted.2 AS hostname, counted.3 AS utm_source
      FROM (
        SELECT
          ${bySite(target)}day,
          any(events.country) AS country,
          any(events.device) AS device,
          any(events.utm_source) AS source,
          ${hosts} AS hosts, ${sessionColumns}
        FROM events
        WHERE ${eventsOf(target)}
        GROUP BY ${bySite(target)}day, session_id${begun}
      )
      ARRAY JOIN arrayConcat(
        [(0, '', '')],
        arrayMap(host -> (4, host, ''), hosts),
        if(source = '', [], arrayConcat([(8, '', source)], arrayMap(host -> (12, host, source), hosts)))
      ) AS counted
    )
    GROUP BY GROUPING SETS
    (
      (${bySite(target)}host_and_source, hostname, utm_source, day),
      (${bySite(target)}host_and_source, hostname, utm_source, day, device),
      (${bySite(target)}host_and_source, hostname, utm_source, day, country),
      (${bySite(target)}host_and_source, hostname, utm_source, day, device, country)
    )
    HAVING grouping_set IN ${uints(dimensions.total.groupingSets)}`
}

/**
 * A month is the sum of its days, whatever version each day has. Unless `atOnce` is set, long lists take one statement per grouping
 * set: a month of five million events took 17 s of CPU in one statement, and 10 to 12 s by grouping set.
 */
export function monthStatements(
  { siteId, version }: { siteId: string; version: number },
  readable: readonly Pick<Segment, 'version' | 'days'>[],
  { atOnce }: { atOnce: boolean },
): Sql[] {
  const setsOf = ({ name, groupingSets }: Dimension) => groupingSets.map((set) => ({ name, set }))
  const sums = (table: Sql, counts: readonly Sql[], some: readonly { name: string; set: number }[]) => {
    const days = readable.flatMap((one) =>
      some.map(
        ({ name, set }) =>
          sql`(startsWith(rollup_key, ${text(rollupKey('day', one.version, name, set, ''))}) AND ${onDays(one.days)})`,
      ),
    )
    return sql`
    INSERT INTO ${table} (site_id, rollup_key, ${group}, day, value, ${join(counts, sql`, `)})
    SELECT ${text(siteId)}, ${rollupKeyIn('month', version)}, ${group}, toStartOfMonth(day) AS month, value,
      ${join(
        counts.map((count) => sql`sum(${count})`),
        sql`, `,
      )}
    FROM ${table}
    WHERE site_id = ${text(siteId)} AND (${join(days, sql` OR `)})
    GROUP BY ${group}, month, value`
  }
  const longSets = long.flatMap(setsOf)
  const [views, visitors] = [sql`views`, sql`visitors`]
  return [
    sums(sql`short_rollups`, [views, visitors, sql`sessions`, sql`bounces`, sql`duration`], short.flatMap(setsOf)),
    ...(atOnce ? [longSets] : longSets.map((one) => [one])).map((some) =>
      sums(sql`long_rollups`, [views, visitors], some),
    ),
  ]
}
