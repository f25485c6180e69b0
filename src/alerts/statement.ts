// The statement that reads what alerts are judged by. Sites with the same hours, excluded countries and days share a SELECT of it.
import { hourMs } from '../durations.ts'
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

/** Something to read of one site. */
export interface Piece {
  site: WatchedSite
  what: 'recent' | 'recent events' | 'last' | 'day'
  /** The name of an event, or `anyEvent`. */
  event: string
  days: readonly string[]
  from: number
  until: number
  isAhead?: boolean
}

export interface CountedRow {
  part: number
  site: string
  event: string
  hours: number[]
  counts: number[]
  last: number
}

/** ClickHouse accepts 128 kB per parameter. */
const idsPerParameter = 3_500
/** Pieces with the same text are read by one SELECT. */
export const groupOf = ({ what, event, days, from, until, site }: Piece): string =>
  [what, event === anyEvent, days, from, until, site.excludedCountries].join('|')

export const statementOf = (groups: readonly Piece[][]): Sql =>
  join(
    groups.map((pieces, part) => selectOf(pieces as [Piece, ...Piece[]], part)),
    sql` UNION ALL `,
  )

/** Each row has counts by the number of an hour, the first one is 0. */
function selectOf(pieces: readonly [Piece, ...Piece[]], part: number): Sql {
  const [{ what, event, from }] = pieces
  const isNamed = event !== anyEvent
  const name = isNamed ? sql`toString(name)` : sql`''`
  const rows = sql`FROM events PREWHERE time >= ${instant(from)} WHERE ${conditionsOf(pieces)}`
  if (what === 'day')
    return sql`
      SELECT ${uint(part)} AS part, site, event, groupArray(hour) AS hours, groupArray(number) AS counts, 0 AS last
      FROM (
        SELECT site_id AS site, ${name} AS event, intDiv(toUnixTimestamp64Milli(time) - ${uint(from)}, 3600000) AS hour,
          ${isNamed ? sql`count()` : sql`uniqExact(visitor_id)`} AS number
        ${rows} GROUP BY site, event, hour
      ) GROUP BY site, event`
  const current = sql`time >= ${instant(from + hourMs)}`
  const counts =
    what === 'recent'
      ? sql`[uniqExactIf(visitor_id, NOT (${current})), uniqExactIf(visitor_id, ${current})]`
      : sql`emptyArrayUInt64()`
  return sql`
    SELECT ${uint(part)} AS part, site_id AS site, ${name} AS event, emptyArrayInt64() AS hours, ${counts} AS counts,
      toUnixTimestamp64Milli(max(time)) AS last
    ${rows} GROUP BY site, event`
}

function conditionsOf(pieces: readonly [Piece, ...Piece[]]): Sql {
  const [{ event, days, until, site }] = pieces
  const conditions = [sql`site_id IN ${manyTexts([...new Set(pieces.map((piece) => piece.site.id))])}`]
  conditions.push(sql`day IN ${dates(days)}`, sql`time < ${instant(until)}`)
  if (event !== anyEvent) conditions.push(sql`name IN ${manyTexts([...new Set(pieces.map((piece) => piece.event))])}`)
  if (site.excludedCountries.length > 0) conditions.push(sql`country NOT IN ${texts(site.excludedCountries)}`)
  return join(conditions, sql` AND `)
}

function manyTexts(values: readonly string[]): Sql {
  if (values.length <= idsPerParameter) return sql`${texts(values)}`
  const parts: Sql[] = []
  for (let from = 0; from < values.length; from += idsPerParameter)
    parts.push(sql`${texts(values.slice(from, from + idsPerParameter))}`)
  return sql`arrayConcat(${join(parts, sql`, `)})`
}
