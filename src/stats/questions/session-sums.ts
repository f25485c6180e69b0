// The statements of a question over `sessions`, of closed days (D-237). Their rows are the sessions that the statements over events make first, so
// filters only choose among them, and `hits` has the different hits of each with their counts.
import type { Segment } from '../../rollups/coverage.ts'
import { join, type Sql, sql, uint } from '../../stores/clickhouse-sql.ts'
import { onDays } from '../../traffic/conditions.ts'
import { always, and, type HitFields } from './conditions.ts'
import { type Ask, type Counted, elementsOfHit, goalOf, scope, sumsOf, valueColumn } from './statements.ts'

/** A relation like `dailySums`. Unless `byDay` is set, all of its rows have the same day: one group instead of one per day. */
export function sumsFromSessions(ask: Ask, segments: readonly Segment[], byDay: boolean): Sql {
  const { by } = ask
  const rows =
    by?.name === 'goal'
      ? goalRows(ask, segments)
      : by?.of === 'hit'
        ? hitRows(ask, by.name as keyof typeof hitLists, segments)
        : sessionRows(ask, segments)
  const counted: Counted = {
    views: sql`views`,
    events: sql`events`,
    isMember: sql`is_member`,
    isFirst: sql`is_first`,
    visitors: (condition) =>
      sql`countIf(visitor = 0 AND is_first AND ${condition}) + uniqExactIf(${byDay ? sql`visitor` : visitorOfDay}, visitor > 0 AND ${condition})`,
  }
  const day = byDay ? sql`of_day` : sql`toDate(0)`
  return sql`(
    SELECT ${day} AS day, toString(key) AS value, ${sumsOf(ask, counted)}
    FROM (${rows})
    GROUP BY ${byDay ? sql`of_day, key` : sql`key`}
  )`
}

/** A number, which takes half the memory of a pair. */
const visitorOfDay = sql`toUInt16(of_day) * 4294967296 + visitor`

const ofSession = sql`day AS of_day, visitor, true AS counted, pageviews = 1 AND custom_events = 0 AS bounced, toInt64(milliseconds) AS milliseconds`

function sessionRows(ask: Ask, segments: readonly Segment[]): Sql {
  const { by, filters, columns } = ask
  const timesOf = (isCounted: (fields: HitFields) => Sql) =>
    overHits((fields) => sql`if(${isCounted(fields)}, times, 0)`, sql`arraySum`)
  const views = filters.hasPlaces
    ? timesOf((fields) => sql`${fields.name} = 'pageview' AND ${filters.places(fields)}`)
    : sql`pageviews`
  const events =
    filters.hasPlaces || filters.hasNamed
      ? timesOf((fields) => and([sql`${fields.name} != 'pageview'`, filters.places(fields), filters.named(fields)]))
      : sql`custom_events`
  return sql`
    SELECT
      ${ofSession}, ${valueColumn(by, (column) => column, sql`key`)}, ${columns.has('pageviews') ? views : sql`0`} AS views,
      ${columns.has('events') ? events : sql`0`} AS events, ${converted(ask)}, true AS is_member, true AS is_first
    FROM sessions
    WHERE ${kept(ask, segments)}`
}

/** Lists of hits: the value of a row, and which hits make their visitor one of it (D-11). */
const hitLists = {
  page: { list: sql`hits.pathname`, value: sql`pathname`, isMember: sql`name = 'pageview'` },
  hostname: { list: sql`hits.hostname`, value: sql`hostname`, isMember: always },
  event: { list: sql`hits.name`, value: sql`name`, isMember: sql`name != 'pageview'` },
}

function hitRows(ask: Ask, by: keyof typeof hitLists, segments: readonly Segment[]): Sql {
  const { filters, columns } = ask
  const { list, value, isMember } = hitLists[by]
  const counts = filters.places(fieldsOfHit)
  const isMine = by === 'page' && columns.has('events') ? counts : and([counts, isMember])
  const isFirst = and([counts, isMember])
  const repeated = sql`arrayEnumerateUniq(arrayMap((hostname, pathname, name) -> if(${isFirst}, toString(${value}), ''), hits.hostname, hits.pathname, hits.name))`
  // Hits are sorted by host, and those of one host are different pages or events. So most sessions have no page twice.
  const nth =
    by === 'page'
      ? sql`if(hits.hostname[1] = hits.hostname[-1], arrayResize([1], length(hits.name), 1), ${repeated})`
      : repeated
  return sql`
    SELECT
      of_day, visitor, counted, bounced, milliseconds, converted, ${value} AS key, if(name = 'pageview', times, 0) AS views,
      if(name != 'pageview' AND ${filters.named(fieldsOfHit)}, times, 0) AS events, ${isMember} AS is_member,
      ${isMember} AND nth = 1 AS is_first
    FROM
    (
      SELECT
        ${ofSession}, ${converted(ask)}, hits.hostname AS hostnames, hits.pathname AS pathnames, hits.name AS names, hits.count AS counts,
        ${by === 'hostname' && !filters.hasPlaces ? sql`arrayEnumerateUniq(${list})` : nth} AS nths
      FROM sessions
      WHERE ${kept(ask, segments)}
    )
    ARRAY JOIN hostnames AS hostname, pathnames AS pathname, names AS name, counts AS times, nths AS nth
    WHERE ${isMine}`
}

/** A hit may reach several goals. */
function goalRows(ask: Ask, segments: readonly Segment[]): Sql {
  const elements = overHits(
    (fields) => sql`if(${ask.filters.places(fields)}, ${elementsOfHit(ask, fields, sql`times`)}, [])`,
    sql`arrayFlatten`,
    sql`arrayMap`,
  )
  return sql`
    SELECT
      of_day, visitor, counted, bounced, milliseconds, converted, tupleElement(element, 1) AS key, tupleElement(element, 2) AS views,
      tupleElement(element, 3) AS events, true AS is_member, nth = 1 AS is_first
    FROM (SELECT ${ofSession}, ${converted(ask)}, ${elements} AS elements FROM sessions WHERE ${kept(ask, segments)})
    ARRAY JOIN elements AS element, arrayEnumerateUniq(arrayMap(e -> tupleElement(e, 1), elements)) AS nth`
}

/** The kept sessions that have a hit on the places asked for, of each day under its readable version. */
function kept(ask: Ask, segments: readonly Segment[]): Sql {
  const { filters } = ask
  const some = (condition: (fields: HitFields) => Sql) => overHits(condition, sql`arrayExists`)
  const actions = filters.actions(fieldsOfHit).map(({ happens }, index) => {
    const found = some((fields) => filters.actions(fields)[index]?.hit ?? always)
    return happens ? found : sql`NOT ${found}`
  })
  const readable = segments.map(({ version, days }) => sql`(version = ${uint(version)} AND ${onDays(days)})`)
  const conditions = [scope(ask), sql`(${join(readable, sql` OR `)})`, filters.columns, filters.ends, ...actions]
  if (filters.hasPlaces) conditions.push(some(filters.places))
  return join(conditions, sql` AND `)
}

const converted = (ask: Ask): Sql =>
  ask.columns.has('conversions')
    ? sql`${overHits((fields) => goalOf(ask, fields), sql`arrayExists`)} AS converted`
    : sql`false AS converted`

/** The fields as names of a lambda's arguments, or of an array join. */
const fieldsOfHit: HitFields = {
  hostname: sql`hostname`,
  pathname: sql`pathname`,
  name: sql`name`,
  get props(): never {
    throw new Error('Sessions have no properties')
  },
}

const arrays = { hostname: sql`hits.hostname`, pathname: sql`hits.pathname`, name: sql`hits.name` }

/** A function over all hits of a session. It gets only the arrays that it uses, because each takes time to read. */
function overHits(build: (fields: HitFields) => Sql, outer: Sql, inner?: Sql): Sql {
  const used = new Set<keyof typeof arrays>()
  const body = build({
    get hostname() {
      used.add('hostname')
      return fieldsOfHit.hostname
    },
    get pathname() {
      used.add('pathname')
      return fieldsOfHit.pathname
    },
    get name() {
      used.add('name')
      return fieldsOfHit.name
    },
    get props() {
      return fieldsOfHit.props
    },
  })
  const names = (Object.keys(arrays) as (keyof typeof arrays)[]).filter((name) => used.has(name))
  const args = join([...names.map((name) => fieldsOfHit[name]), sql`times`], sql`, `)
  const lists = join([...names.map((name) => arrays[name]), sql`hits.count`], sql`, `)
  const call = sql`${inner ?? outer}((${args}) -> ${body}, ${lists})`
  return inner ? sql`${outer}(${call})` : call
}
