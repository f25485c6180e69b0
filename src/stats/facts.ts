// Where a day is read from. Everything a report counts is a sum over exact daily integers, because a visitor is counted
// once a day and a session lies within one (decisions D-2 and D-4): nothing has to be unique across days. This file alone knows
// which table those integers come from; a report sees columns day, value, views and visitors.
import { type Sql, sql } from '../stores/clickhouse-sql.ts'
import type { Period } from './period.ts'
import { hitScope, inWindow, type StatsQuery, sessionScope, startsInWindow } from './query.ts'

/** What hits can be broken down by, and which hits take part; sessions without a referrer or source are in no row. */
const dimensions = {
  day: { value: sql`''`, hits: sql`true`, counted: sql`countIf(name = 'pageview')` },
  page: { value: sql`pathname`, hits: sql`name = 'pageview'`, counted: sql`count()` },
  referrer: { value: sql`referrer`, hits: sql`referrer != ''`, counted: sql`countIf(name = 'pageview')` },
  channel: { value: sql`channel`, hits: sql`true`, counted: sql`countIf(name = 'pageview')` },
  device: { value: sql`device`, hits: sql`true`, counted: sql`countIf(name = 'pageview')` },
  country: { value: sql`country`, hits: sql`true`, counted: sql`countIf(name = 'pageview')` },
  event: { value: sql`name`, hits: sql`name != 'pageview'`, counted: sql`count()` },
  utm: { value: sql`utm_source`, hits: sql`utm_source != ''`, counted: sql`countIf(name = 'pageview')` },
}

export type Dimension = keyof typeof dimensions

/** A relation (day, value, views, visitors) of the current period; `views` counts occurrences for custom events. */
export function hitFacts(query: StatsQuery, dimension: Dimension): Sql {
  const { value, hits, counted } = dimensions[dimension]
  return sql`(
    SELECT day, ${value} AS value, ${counted} AS views, uniqExact(visitor_id) AS visitors
    FROM events
    WHERE ${hitScope(query, query.current)} AND ${hits}
    GROUP BY day, value
  )`
}

/** A relation (day, views, visitors, sessions, bounces, duration in milliseconds): hits inside the period, sessions that started inside it. */
export function totalFacts(query: StatsQuery, period: Period): Sql {
  return sql`(
    SELECT
      day,
      sum(hit_views) AS views,
      uniqExactIf(visitor, hits > 0) AS visitors,
      countIf(counted) AS sessions,
      countIf(counted AND session_events = 1 AND session_views = 1) AS bounces,
      sumIf(milliseconds, counted) AS duration
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
      WHERE ${sessionScope(query, period)}
      GROUP BY day, session_id
    )
    GROUP BY day
  )`
}
