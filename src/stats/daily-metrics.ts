// Where a report's numbers come from. Every number is a sum of exact daily integers, because a visitor is counted once per day and a
// session lies within one day (decisions D-2 and D-4): nothing has to be unique across days. Only this file knows which table these
// integers come from. A report sees the columns day, value, views and visitors. Rows may cancel each other out (an excluded country is
// subtracted), so a report leaves out values without visitors.
import type { DayRange } from '../calendar/days.ts'
import { type Period, type Periods, storedDay } from '../calendar/periods.ts'
import type { Segment } from '../rollups/coverage.ts'
import { type Dimension, type DimensionName, dimensions, tableOf } from '../rollups/dimensions.ts'
import { type RollupSource, rollupSources } from '../rollups/reading.ts'
import { date, join, type Sql, sql } from '../stores/clickhouse-sql.ts'
import { sessionColumns } from '../traffic/sessions.ts'
import { hitScope, inWindow, type StatsQuery, sessionScope, startsInWindow } from './query.ts'

/** A relation (day, value, views, visitors) for the current period. For custom events, `views` counts occurrences. */
export function dailyMetrics(query: StatsQuery, name: DimensionName, options: { withTotal?: boolean } = {}): Sql {
  const dimension: Dimension = dimensions[name]
  // The total has the value '': no channel has an empty name.
  const asked = [dimension, ...(options.withTotal ? [dimensions.total] : [])] as const
  const { raw, rolledUp, today } = query.plans.current
  const stored = ({ table, sign, value, scope }: RollupSource) => sql`
    SELECT day, ${value} AS value, ${sign}views AS views, ${sign}visitors AS visitors
    FROM ${table}
    WHERE ${scope}`
  return union([
    ...(raw.length > 0 ? asked.map((dimension) => rawHits(query, dimension, raw)) : []),
    ...sources(query, asked, rolledUp, today).map(stored),
  ])
}

const rawHits = (query: StatsQuery, { value, hits, counted }: Dimension, days: readonly DayRange[]): Sql => sql`
    SELECT day, ${value} AS value, toInt64(${counted}) AS views, toInt64(uniqExact(visitor_id)) AS visitors
    FROM events
    WHERE ${hitScope(query, query.current, days)} AND ${hits}
    GROUP BY day, value`

/**
 * A relation (period, day, views, visitors, sessions, bounces, duration in milliseconds) for the current and the previous period. It
 * counts events inside a period and sessions that started inside it. Rolled-up days are whole, so each is in one period, and both
 * periods are read together.
 */
export function dailyTotals(query: StatsQuery): Sql {
  const { plans, current } = query
  const stored = ({ table, sign, scope }: RollupSource) => sql`
    SELECT if(day < ${date(storedDay(current.firstDay))}, 'previous', 'current') AS period, day, ${sign}views AS views,
      ${sign}visitors AS visitors, ${sign}sessions AS sessions, ${sign}bounces AS bounces,
      ${sign}duration AS duration
    FROM ${table}
    WHERE ${scope}`
  const raw = (name: keyof Periods, label: Sql) =>
    plans[name].raw.length > 0 ? [rawTotals(query, query[name], label, plans[name].raw)] : []
  return union([
    ...raw('current', sql`'current'`),
    ...raw('previous', sql`'previous'`),
    ...sources(
      query,
      [dimensions.total],
      [...plans.current.rolledUp, ...plans.previous.rolledUp],
      [...plans.current.today, ...plans.previous.today],
    ).map(stored),
  ])
}

const sources = (
  query: StatsQuery,
  asked: readonly [Dimension, ...Dimension[]],
  rolledUp: readonly Segment[],
  today: readonly Segment[],
): RollupSource[] => [
  ...(rolledUp.length > 0 ? rollupSources(query, asked, rolledUp, tableOf) : []),
  ...(today.length > 0 ? rollupSources(query, asked, today, () => sql`today_rollups`) : []),
]

/** The columns of a day over its sessions: of the hits inside the period, and of the sessions that count in it. */
export const totalsOfSessions = sql`
      toInt64(sum(hit_views)) AS views,
      toInt64(uniqExactIf(visitor, hits > 0)) AS visitors,
      toInt64(countIf(counted)) AS sessions,
      toInt64(countIf(counted AND bounced)) AS bounces,
      toInt64(sumIf(milliseconds, counted)) AS duration`

const rawTotals = (query: StatsQuery, period: Period, name: Sql, days: readonly DayRange[]): Sql => sql`
    SELECT
      ${name} AS period,
      day, ${totalsOfSessions}
    FROM (
      SELECT
        day,
        any(visitor_id) AS visitor,
        countIf(${inWindow(query, period)}) AS hits,
        countIf(name = 'pageview' AND ${inWindow(query, period)}) AS hit_views,
        min(time) AS started, ${sessionColumns},
        hits > 0 AND ${startsInWindow(period, sql`started`)} AS counted
      FROM events
      WHERE ${sessionScope(query, days)}
      GROUP BY day, session_id
    )
    GROUP BY day`

/** Hundreds of thousands of rows are worth a second thread: pages of a large site took 34 instead of 45 times SELECT 1. */
export const forLongLists = sql`SETTINGS max_threads = 2`

const union = (parts: readonly Sql[]): Sql => sql`(${join(parts, sql` UNION ALL `)}
  )`
