// The statements of a question over events (D-233). First its sessions: which are kept, and what each counts for. Then the sums of each day and
// value, in which a visitor counts once. Days add up.
import type { DayRange } from '../../calendar/days.ts'
import type { Period } from '../../calendar/periods.ts'
import { join, type Sql, sql, text, texts } from '../../stores/clickhouse-sql.ts'
import { onDays } from '../../traffic/conditions.ts'
import type { CountryCode } from '../../traffic/country.ts'
import type { Goal } from '../../traffic/goals.ts'
import { sessionColumns } from '../../traffic/sessions.ts'
import { startsInWindow } from '../daily-metrics.ts'
import { always, and, type HitFields, or, reaches, type SortedFilters } from './conditions.ts'
import type { Dimension } from './dimensions.ts'

/** What a statement is about, besides its days. */
export interface Ask {
  siteId: string
  excludedCountries: readonly CountryCode[]
  filters: SortedFilters
  /** The columns to count, by the names of metrics.ts; `revenue_EUR` for revenue in EUR. */
  columns: ReadonlySet<string>
  by?: Dimension | undefined
  goal?: Goal | undefined
  /** All goals of the site. */
  goals: readonly Goal[]
}

export const fieldsOfEvent: HitFields = {
  hostname: sql`events.hostname`,
  pathname: sql`events.pathname`,
  name: sql`events.name`,
  props: sql`events.props`,
}

const isHitDimension = (by: Dimension | undefined): by is Dimension => by?.of === 'hit'

/** A relation (day, value, and the columns asked for) of these days of a period. Without `by` the value is empty. */
export function dailySums(ask: Ask, period: Period, days: readonly DayRange[]): Sql {
  const sessions = keptSessionsOf(ask, period, days)
  return sql`(${isHitDimension(ask.by) ? sumsOfHits(ask, sessions) : sumsOfSessions(ask, sessions)})`
}

/** What a row of sessions, or of their hits, counts for. */
export interface Counted {
  views: Sql
  events: Sql
  /** Whether it makes its visitor one of the row. */
  isMember: Sql
  /** Whether it is the first of its session in the row. */
  isFirst: Sql
  /** How many different visitors satisfy the condition. */
  visitors(condition: Sql): Sql
}

const byId = (condition: Sql): Sql => sql`uniqExactIf(visitor, ${condition})`

/** How each column is added up. A session is `counted` if it began in the window. */
export function sumsOf({ columns }: Ask, { views, events, isMember, isFirst, visitors }: Counted): Sql {
  const counted = sql`counted AND ${isFirst}`
  const known: Record<string, Sql> = {
    visitors: sql`toInt64(${visitors(isMember)}) AS visitors`,
    pageviews: sql`toInt64(sum(${views})) AS pageviews`,
    sessions: sql`toInt64(countIf(${counted})) AS sessions`,
    bounces: sql`toInt64(countIf(${counted} AND bounced)) AS bounces`,
    duration: sql`toInt64(sumIf(milliseconds, ${counted})) AS duration`,
    events: sql`toInt64(sum(${events})) AS events`,
    conversions: sql`toInt64(${visitors(sql`converted AND ${isMember}`)}) AS conversions`,
  }
  const ofName = (name: string) =>
    known[name] ?? sql`toInt64(sumIf(revenue[${text(currencyOf(name))}], ${isFirst})) AS ${aliasOf(name)}`
  return join([...columns].map(ofName), sql`, `)
}

export const currencyOf = (column: string): string => column.slice('revenue_'.length)

const aliases = new Map<string, Sql>()

/** A name of ours as a column. Currencies are three capital letters (metrics.ts). */
export function aliasOf(column: string): Sql {
  const known = aliases.get(column)
  if (known) return known
  if (!/^[a-z_]+([A-Z]{3}|[0-9]+)?$/.test(column)) throw new Error(`${column} is no column of a question`)
  const alias = sql([column] as unknown as TemplateStringsArray)
  aliases.set(column, alias)
  return alias
}

const sumsOfSessions = (ask: Ask, sessions: Sql): Sql => sql`
  SELECT day, value,
    ${sumsOf(ask, { views: sql`views`, events: sql`custom_events`, isMember: always, isFirst: always, visitors: byId })}
  FROM (${sessions})
  GROUP BY day, value`

/** A session counts in each row where it has a hit, once. Hits that only count as events make nobody a visitor of the row. */
function sumsOfHits(ask: Ask, sessions: Sql): Sql {
  const isMember = sql`tupleElement(element, 4)`
  const counted: Counted = {
    views: sql`tupleElement(element, 2)`,
    events: sql`tupleElement(element, 3)`,
    isMember,
    isFirst: sql`${isMember} AND nth = 1`,
    visitors: byId,
  }
  return sql`
  SELECT day, tupleElement(element, 1) AS value, ${sumsOf(ask, counted)}
  FROM (${sessions})
  ARRAY JOIN elements AS element,
    arrayEnumerateUniq(arrayMap(e -> tupleElement(e, 1), elements), arrayMap(e -> tupleElement(e, 4), elements)) AS nth
  GROUP BY day, value`
}

/** The kept sessions that have a hit on the places asked for. */
function keptSessionsOf(ask: Ask, period: Period, days: readonly DayRange[]): Sql {
  const { filters, by } = ask
  const inWindow = startsInWindow(period, sql`events.time`)
  const counts = sql`${inWindow} AND ${filters.places(fieldsOfEvent)}`
  const isView = sql`events.name = 'pageview'`
  const isNamed = sql`NOT ${isView} AND ${filters.named(fieldsOfEvent)}`
  const selected = [
    ...ofSession(ask, period, inWindow),
    ...(isHitDimension(by)
      ? [sql`groupArrayArrayIf(${elementsOfHit(ask, fieldsOfEvent, sql`1`)}, ${counts}) AS elements`]
      : [
          valueColumn(by, (column) => sql`toString(any(${column}))`, sql`value`),
          sql`countIf(${counts} AND ${isView}) AS views`,
          sql`countIf(${counts} AND ${isNamed}) AS custom_events`,
        ]),
    ...revenueOf(ask, inWindow),
  ]
  return keptSessions(ask, days, selected, inWindow, counts)
}

export function keptSessions(
  ask: Ask,
  days: readonly DayRange[],
  selected: readonly Sql[],
  inWindow: Sql,
  counts: Sql,
): Sql {
  const { filters } = ask
  const kept = filters
    .actions(fieldsOfEvent)
    .map(({ hit, happens }) =>
      happens ? sql`countIf(${inWindow} AND ${hit}) > 0` : sql`countIf(${inWindow} AND ${hit}) = 0`,
    )
  return sql`
    SELECT ${join(selected, sql`, `)}
    FROM events
    WHERE ${scope(ask)} AND ${onDays(days)} AND ${filters.columns}
    GROUP BY day, session_id
    HAVING ${and([sql`countIf(${counts}) > 0`, filters.ends, ...kept])}`
}

/** What every statement selects for a session. */
export const ofSession = (ask: Ask, period: Period, inWindow: Sql): Sql[] => [
  sql`day`,
  sql`any(visitor_id) AS visitor`,
  sql`min(time) AS started`,
  sql`${startsInWindow(period, sql`started`)} AS counted`,
  sessionColumns,
  sql`argMinIf(events.pathname, (time, event_id), events.name = 'pageview') AS entry_page`,
  sql`argMaxIf(events.pathname, (time, event_id), events.name = 'pageview') AS exit_page`,
  ...(ask.columns.has('conversions')
    ? [sql`countIf(${inWindow} AND ${goalOf(ask, fieldsOfEvent)}) > 0 AS converted`]
    : []),
]

export const scope = ({ siteId, excludedCountries }: Ask): Sql =>
  excludedCountries.length > 0
    ? sql`site_id = ${text(siteId)} AND NOT has(${texts(excludedCountries)}, country)`
    : sql`site_id = ${text(siteId)}`

export const valueColumn = (by: Dimension | undefined, column: (name: Sql) => Sql, alias: Sql): Sql => {
  if (by?.name === 'entry_page') return sql`entry_page AS ${alias}`
  if (by?.name === 'exit_page') return sql`exit_page AS ${alias}`
  return by?.column ? sql`${column(by.column)} AS ${alias}` : sql`'' AS ${alias}`
}

/**
 * The rows that a hit belongs to, as an array of (value, pageviews, custom events, whether it makes its visitor one of the row). A page has
 * the visitors of its pageviews (D-11).
 */
export function elementsOfHit({ by, filters, goals, columns }: Ask, fields: HitFields, count: Sql): Sql {
  const isView = sql`${fields.name} = 'pageview'`
  const views = sql`toInt64(if(${isView}, ${count}, 0))`
  const events = sql`toInt64(if(NOT ${isView} AND ${filters.named(fields)}, ${count}, 0))`
  const one = (value: Sql, member: Sql) => sql`(toString(${value}), ${views}, ${events}, toUInt8(${member}))`
  const when = (condition: Sql, value: Sql, member: Sql = always) =>
    sql`arrayFilter(e -> ${condition}, [${one(value, member)}])`
  if (by?.property !== undefined) {
    const key = text(by.property)
    return when(sql`mapContains(${fields.props}, ${key})`, sql`${fields.props}[${key}]`)
  }
  switch (by?.name) {
    case 'hostname':
      return sql`[${one(fields.hostname, always)}]`
    case 'event':
      return when(sql`NOT ${isView}`, fields.name)
    case 'goal':
      return goals.length === 0
        ? when(sql`false`, sql`''`)
        : sql`arrayConcat(${join(
            goals.map((goal) => when(reaches(goal, fields), sql`${text(goal.name)}`)),
            sql`, `,
          )})`
    default:
      return columns.has('events') ? sql`[${one(fields.pathname, isView)}]` : when(isView, fields.pathname)
  }
}

/** Without `goal`, a row of `by=goal` counts whoever has a hit in it. */
export const goalOf = ({ goal, by }: Ask, fields: HitFields): Sql =>
  goal ? reaches(goal, fields) : by?.name === 'goal' ? always : or([])

/** The revenue of a session by currency. It comes from any hit in the window. */
function revenueOf(ask: Ask, inWindow: Sql): Sql[] {
  const names = [...ask.columns].filter((column) => column.startsWith('revenue_'))
  if (names.length === 0) return []
  const isCounted = ask.goal ? sql`${inWindow} AND ${reaches(ask.goal, fieldsOfEvent)}` : inWindow
  return [
    sql`sumMapIf(map(toString(currency), toInt64(events.revenue)), ${isCounted} AND currency IN ${texts(names.map(currencyOf))}) AS revenue`,
  ]
}
