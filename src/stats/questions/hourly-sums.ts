// The sums of each hour.
import type { DayRange } from '../../calendar/days.ts'
import { type Period, storedDay } from '../../calendar/periods.ts'
import { join, type Sql, sql, text } from '../../stores/clickhouse-sql.ts'
import { startsInWindow } from '../daily-metrics.ts'
import { reaches } from './conditions.ts'
import { type Ask, aliasOf, currencyOf, fieldsOfEvent, keptSessions, ofSession } from './statements.ts'

/**
 * A relation (hour, and the columns asked for), from `events`. Visitors count in every hour with a hit, a session in the hour in which it
 * began, revenue in the hour in which it was paid (D-233).
 */
export function hourlySums(ask: Ask, period: Period, hourOf: Sql): Sql {
  const { filters, columns } = ask
  const days: DayRange[] = [[storedDay(period.firstDay), storedDay(period.lastDay)]]
  const inWindow = startsInWindow(period, sql`events.time`)
  const counts = sql`${inWindow} AND ${filters.places(fieldsOfEvent)}`
  const isView = sql`events.name = 'pageview'`
  const isNamed = sql`NOT ${isView} AND ${filters.named(fieldsOfEvent)}`
  const isPaid = sql`${ask.goal ? sql`${inWindow} AND ${reaches(ask.goal, fieldsOfEvent)}` : inWindow} AND events.revenue > 0`
  const none = sql`toInt64(0)`
  const selected = [
    ...ofSession(ask, period, inWindow),
    sql`argMin(${hourOf}, time) AS first_hour`,
    sql`groupArrayIf(('hit', ${hourOf}, toInt64(${isView}), toInt64(${isNamed}), '', ${none}), ${counts}) AS hits`,
    sql`groupArrayIf(('payment', ${hourOf}, ${none}, ${none}, toString(currency), toInt64(events.revenue)), ${isPaid}) AS payments`,
  ]
  const known: Record<string, Sql> = {
    visitors: sql`toInt64(uniqExactIf(visitor, tupleElement(part, 1) = 'hit')) AS visitors`,
    pageviews: sql`toInt64(sum(tupleElement(part, 3))) AS pageviews`,
    sessions: sql`toInt64(countIf(tupleElement(part, 1) = 'start' AND counted)) AS sessions`,
    bounces: sql`toInt64(countIf(tupleElement(part, 1) = 'start' AND counted AND bounced)) AS bounces`,
    duration: sql`toInt64(sumIf(milliseconds, tupleElement(part, 1) = 'start' AND counted)) AS duration`,
    events: sql`toInt64(sum(tupleElement(part, 4))) AS events`,
    conversions: sql`toInt64(uniqExactIf(visitor, tupleElement(part, 1) = 'hit' AND converted)) AS conversions`,
  }
  const ofName = (name: string) =>
    known[name] ??
    sql`toInt64(sumIf(tupleElement(part, 6), tupleElement(part, 5) = ${text(currencyOf(name))})) AS ${aliasOf(name)}`
  return sql`(
    SELECT day, tupleElement(part, 2) AS hour, ${join([...columns].map(ofName), sql`, `)}
    FROM (${keptSessions(ask, days, selected, inWindow, counts)})
    ARRAY JOIN arrayConcat(hits, payments, [('start', first_hour, ${none}, ${none}, '', ${none})]) AS part
    GROUP BY day, hour
  )`
}
