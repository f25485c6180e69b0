// Where a day is read from. Everything a report counts is a sum over exact daily integers, because a visitor is counted
// once a day and a session lies within one (decisions D-2 and D-4): nothing has to be unique across days. This file alone knows
// which table those integers come from; a report sees columns day, value, views and visitors. Rows may cancel each other out (an
// excluded country is taken off), so a report leaves out what has no visitors in the end.
import { date, join, type Sql, sql } from '../stores/clickhouse-sql.ts'
import type { DayRange } from '../traffic/folds.ts'
import { type Tallies, talliesOf } from './cells.ts'
import { type Dimension, type DimensionName, dimensions, tableOf } from './dimensions.ts'
import { type Period, storedDay } from './period.ts'
import { planOf } from './plan.ts'
import { hitScope, inWindow, type StatsQuery, sessionScope, startsInWindow } from './query.ts'

/** A relation (day, value, views, visitors) of the current period; `views` counts occurrences for custom events. */
export function hitFacts(query: StatsQuery, name: DimensionName, options: { withTotal?: boolean } = {}): Sql {
  const dimension: Dimension = dimensions[name]
  // The total is the value '': no channel has an empty name.
  const asked = [dimension, ...(options.withTotal ? [dimensions.total] : [])] as const
  const { raw, folded, open } = planOf(query.current, query, { byMonth: dimension.isLong ?? false })
  const stored = ({ table, sign, value, scope }: Tallies) => sql`
    SELECT day, ${value} AS value, ${sign}views AS views, ${sign}visitors AS visitors
    FROM ${table}
    WHERE ${scope}`
  return union([
    ...(raw.length > 0 ? asked.map((dimension) => rawHits(query, dimension, raw)) : []),
    ...(folded.length > 0 ? talliesOf(query, asked, folded, tableOf).map(stored) : []),
    ...(open.length > 0 ? talliesOf(query, asked, open, openTable).map(stored) : []),
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
  const plans = [current, previous].map((period) => ({ period, ...planOf(period, query, { byMonth: false }) }))
  const folded = plans.flatMap((plan) => plan.folded)
  const open = plans.flatMap((plan) => plan.open)
  const stored = ({ table, sign, scope }: Tallies) => sql`
    SELECT if(day < ${date(storedDay(current.firstDay))}, 'previous', 'current') AS period, day, ${sign}views AS views,
      ${sign}visitors AS visitors, ${sign}sessions AS sessions, ${sign}bounces AS bounces,
      ${sign}duration AS duration
    FROM ${table}
    WHERE ${scope}`
  return union([
    ...plans.flatMap(({ period, raw }) =>
      raw.length > 0 ? [rawTotals(query, period, period === current ? sql`'current'` : sql`'previous'`, raw)] : [],
    ),
    ...(folded.length > 0 ? talliesOf(query, [dimensions.total], folded, tableOf).map(stored) : []),
    ...(open.length > 0 ? talliesOf(query, [dimensions.total], open, openTable).map(stored) : []),
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

/** Hundreds of thousands of rows are worth a second thread: pages of a large site took 34 instead of 45 times SELECT 1. */
export const forLongLists = sql`SETTINGS max_threads = 2`

const openTable = () => sql`open_tallies`

const union = (parts: readonly Sql[]): Sql => sql`(${join(parts, sql` UNION ALL `)}
  )`
