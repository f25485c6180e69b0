// Where a day is read from. Everything a report counts is a sum over exact daily integers, because a visitor is counted
// once a day and a session lies within one (decisions D-2 and D-4): nothing has to be unique across days. This file alone knows
// which table those integers come from; a report sees columns day, value, views and visitors. Rows may cancel each other out (an
// excluded country is taken off), so a report leaves out what has no visitors in the end.
import { date, join, type Sql, sql, uint } from '../stores/clickhouse-sql.ts'
import type { DayRange } from '../traffic/folds.ts'
import { type Cell, cellsOf } from './cells.ts'
import { type Dimension, type DimensionName, dimensions } from './dimensions.ts'
import { type Period, storedDay } from './period.ts'
import { planOf, type Segment } from './plan.ts'
import { hitScope, inWindow, onDays, type StatsQuery, sessionScope, startsInWindow } from './query.ts'

/** A relation (day, value, views, visitors) of the current period; `views` counts occurrences for custom events. */
export function hitFacts(query: StatsQuery, name: DimensionName): Sql {
  const chosen: { dimension: Dimension; byDay?: true; shows?: 'country' | 'device' | 'utmSource' } = dimensions[name]
  const { raw, folded } = planOf(query.current, query.folds, { byDay: chosen.byDay ?? false })
  const { value } = chosen.dimension
  const shown = chosen.shows ? value : sql`value`
  const stored = ({ sign, scope }: Cell) => sql`
    SELECT day, ${shown} AS value, ${sign} * views AS views, ${sign} * visitors AS visitors
    FROM folded
    WHERE ${scope} AND ${inSegments(folded, chosen.dimension)}`
  return union([
    ...(raw.length > 0 ? [rawHits(query, chosen.dimension, raw)] : []),
    ...(folded.length > 0 ? cellsOf(query, chosen.shows).map(stored) : []),
  ])
}

const rawHits = (query: StatsQuery, { value, hits, counted }: Dimension, days: readonly DayRange[]): Sql => sql`
    SELECT day, ${value} AS value, toInt64(${counted}) AS views, toInt64(uniqExact(visitor_id)) AS visitors
    FROM events
    WHERE ${hitScope(query, query.current, days)} AND ${hits}
    GROUP BY day, value`

/**
 * A relation (period, day, views, visitors, sessions, bounces, duration in milliseconds) of the current and the previous period:
 * hits inside it, sessions that started inside it. Folded days are whole, so each is in one period and both are read together.
 */
export function totalFacts(query: StatsQuery): Sql {
  const { current, previous } = query
  const plans = [current, previous].map((period) => ({ period, ...planOf(period, query.folds, { byDay: false }) }))
  const folded = plans.flatMap((plan) => plan.folded)
  const stored = ({ sign, scope }: Cell) => sql`
    SELECT if(day < ${date(storedDay(current.firstDay))}, 'previous', 'current') AS period, day, ${sign} * views AS views,
      ${sign} * visitors AS visitors, ${sign} * sessions AS sessions, ${sign} * bounces AS bounces,
      ${sign} * duration AS duration
    FROM folded
    WHERE ${scope} AND ${inSegments(folded, dimensions.day.dimension)}`
  return union([
    ...plans.flatMap(({ period, raw }) =>
      raw.length > 0 ? [rawTotals(query, period, period === current ? sql`'current'` : sql`'previous'`, raw)] : [],
    ),
    ...(folded.length > 0 ? cellsOf(query, undefined).map(stored) : []),
  ])
}

const rawTotals = (query: StatsQuery, period: Period, name: Sql, days: readonly DayRange[]): Sql => sql`
    SELECT
      ${name} AS period,
      day,
      toInt64(sum(hit_views)) AS views,
      toInt64(uniqExactIf(visitor, hits > 0)) AS visitors,
      toInt64(countIf(counted)) AS sessions,
      toInt64(countIf(counted AND session_events = 1 AND session_views = 1)) AS bounces,
      toInt64(sumIf(milliseconds, counted)) AS duration
    FROM (
      SELECT
        day,
        any(visitor_id) AS visitor,
        countIf(${inWindow(query, period)}) AS hits,
        countIf(name = 'pageview' AND ${inWindow(query, period)}) AS hit_views,
        count() AS session_events,
        countIf(name = 'pageview') AS session_views,
        min(time) AS started,
        toUnixTimestamp64Milli(max(time)) - toUnixTimestamp64Milli(started) AS milliseconds,
        hits > 0 AND ${startsInWindow(period, sql`started`)} AS counted
      FROM events
      WHERE ${sessionScope(query, days)}
      GROUP BY day, session_id
    )
    GROUP BY day`

/** A row belongs to an answer only under the version its day is readable under (decision D-73). */
const inSegments = (segments: readonly Segment[], { name }: Dimension): Sql => {
  const readable = segments.map(
    ({ span, version, days }) =>
      sql`(span = ${span === 'month' ? sql`'month'` : sql`'day'`} AND version = ${uint(version)} AND ${onDays(days)})`,
  )
  return sql`dimension = ${name} AND (${join(readable, sql` OR `)})`
}

const union = (parts: readonly Sql[]): Sql => sql`(${join(parts, sql` UNION ALL `)}
  )`
