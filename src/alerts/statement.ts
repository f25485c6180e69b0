// The statement that reads what alerts are judged by, for many sites at once.
import { dates, instant, join, type Sql, sql, texts, uint } from '../stores/clickhouse-sql.ts'

/** What must be known of a site. */
export interface WatchedSite {
  id: string
  zone: string
  excludedCountries: readonly string[]
  /** Of its last day; decides how many days are read at once. */
  lastDayEvents: number
  /** Whether usual numbers of visitors are needed. */
  needsUsual: boolean
  /** Names of events that are waited for, and for how many hours; `anyEvent` stands for all. */
  waits: ReadonlyMap<string, number>
}

/** No event has an empty name. */
export const anyEvent = ''

/** Something to read of one site: the last two hours, when an event was last, or whole past days by the hour. */
export interface Piece {
  site: WatchedSite
  what: 'recent' | 'recent events' | 'last' | 'days'
  /** The name of an event, or `anyEvent`. */
  event: string
  days: readonly string[]
  /** Events before it are left out; hours are counted from it. For past days, the minutes by which hours of the zone are off those of UTC. */
  from: number
  until: number
  isAhead?: boolean
}

export interface CountedRow {
  /** The number of the group. */
  part: number
  site: string
  event: string
  hours: number[]
  counts: number[]
  last: number
}

/** ClickHouse accepts 128 kB per parameter. */
const idsPerParameter = 3_500
/**
 * Each group is read by one SELECT. A granule has many days of many small sites, so another SELECT for other days, zones or countries would read
 * the same granules again: reading them is what judging costs.
 */
export const groupOf = ({ what, event }: Piece): string => `${what} ${event === anyEvent}`

export const statementOf = (groups: readonly Piece[][]): Sql =>
  join(
    groups.map((pieces, part) => selectOf(pieces as [Piece, ...Piece[]], part)),
    sql` UNION ALL `,
  )

const milliseconds = sql`toUnixTimestamp64Milli(time)`

function selectOf(pieces: readonly [Piece, ...Piece[]], part: number): Sql {
  const [{ what, event, until }] = pieces
  const isNamed = event !== anyEvent
  const name = isNamed ? sql`toString(name)` : sql`''`
  const days = sql`day IN ${dates(distinct(pieces.flatMap((piece) => piece.days)))}`
  const since = what === 'days' ? sql`` : sql`AND time >= ${instant(Math.min(...pieces.map(({ from }) => from)))}`
  const rows = sql`
    FROM events PREWHERE ${days} AND time < ${instant(until)} ${since}
    WHERE ${join(conditionsOf(pieces, isNamed), sql` AND `)}`
  const from = fromOf(pieces)
  if (what === 'days')
    return sql`
      SELECT ${uint(part)} AS part, site, event, groupArray(hour) AS hours, groupArray(number) AS counts, 0 AS last
      FROM (
        SELECT site_id AS site, ${name} AS event, intDiv(${milliseconds} - ${from}, 3600000) AS hour,
          ${isNamed ? sql`count()` : sql`uniqExact(visitor_id)`} AS number
        ${rows} GROUP BY site, event, hour
      ) GROUP BY site, event`
  const age = sql`${milliseconds} - ${from}`
  const counts =
    what === 'recent'
      ? sql`[uniqExactIf(visitor_id, ${age} BETWEEN 0 AND 3599999), uniqExactIf(visitor_id, ${age} >= 3600000)]`
      : sql`emptyArrayUInt64()`
  return sql`
    SELECT ${uint(part)} AS part, site_id AS site, ${name} AS event, emptyArrayInt64() AS hours, ${counts} AS counts,
      toUnixTimestamp64Milli(max(time)) AS last
    ${rows} GROUP BY site, event`
}

function conditionsOf(pieces: readonly Piece[], isNamed: boolean): Sql[] {
  const conditions = [sql`site_id IN ${idsOf(pieces)}`]
  if (isNamed) conditions.push(sql`name IN ${manyTexts(distinct(pieces.map(({ event }) => event)))}`)
  for (const some of Map.groupBy(pieces, ({ site }) => site.excludedCountries.join()).values()) {
    const excluded = some[0]?.site.excludedCountries ?? []
    if (excluded.length > 0) conditions.push(sql`NOT (country IN ${texts(excluded)} AND site_id IN ${idsOf(some)})`)
  }
  return conditions
}

/** `from` of the site of a row. It differs where hours do not begin with those of UTC, and that is rare. */
function fromOf(pieces: readonly Piece[]): Sql {
  const groups = [...Map.groupBy(pieces, ({ from }) => from)].sort(([, one], [, other]) => other.length - one.length)
  const [[common], ...rest] = groups as [[number, Piece[]], ...[number, Piece[]][]]
  return rest.reduce(
    (others, [from, some]) => sql`if(site_id IN ${idsOf(some)}, ${uint(from)}, ${others})`,
    sql`${uint(common)}`,
  )
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)]

const idsOf = (pieces: readonly Piece[]): Sql => manyTexts(distinct(pieces.map(({ site }) => site.id)))

function manyTexts(values: readonly string[]): Sql {
  if (values.length <= idsPerParameter) return sql`${texts(values)}`
  const parts: Sql[] = []
  for (let from = 0; from < values.length; from += idsPerParameter)
    parts.push(sql`${texts(values.slice(from, from + idsPerParameter))}`)
  return sql`arrayConcat(${join(parts, sql`, `)})`
}
