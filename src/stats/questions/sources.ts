// Decides where the days of a question are read from. A question that v1 can ask, too, has v1's relations, and so v1's numbers: rollups
// where there are some. Any other needs single visits: from `sessions` on closed days, and from `events` on all others or if it is about
// something that only events have. An answer never depends on it.
import type { DayRange } from '../../calendar/days.ts'
import { intersect } from '../../calendar/days.ts'
import { type Period, storedDay } from '../../calendar/periods.ts'
import { ApiError } from '../../errors.ts'
import { type Coverage, type Segment, type TodayRollup, withSessions } from '../../rollups/coverage.ts'
import type { DimensionName } from '../../rollups/dimensions.ts'
import { type ImportedPlan, importedPlanOf, importedScope } from '../../rollups/imported-days.ts'
import { planOf, readsUnsettledDays } from '../../rollups/reading.ts'
import { join, type Sql, sql } from '../../stores/clickhouse-sql.ts'
import type { Filters } from '../../traffic/conditions.ts'
import type { CountryCode } from '../../traffic/country.ts'
import { devices } from '../../traffic/device.ts'
import type { Goal } from '../../traffic/goals.ts'
import { dailyMetrics, dailyTotals, type StatsQuery } from '../daily-metrics.ts'
import type { Dimension } from './dimensions.ts'
import type { Filter } from './filters.ts'
import type { Question } from './question.ts'
import { sumsFromSessions } from './session-sums.ts'
import { type Ask, aliasOf, dailySums } from './statements.ts'

/** Sent as `Stats-Source`, so that a developer sees what a question costs. */
export type Source = 'rollups' | 'sessions' | 'events'

export interface Reading {
  /** A relation (day, value, and the columns of the question). */
  relation: Sql
  source: Source
  /** The days that are read from sessions or from events. Undefined: it is a relation of v1. */
  visits: Visits | undefined
  /** Whether later events change the numbers only together with the state of the site's days. */
  settled: boolean
  /** Days that another product has counted, which are added. */
  imported?: ImportedPlan | undefined
}

export interface Visits {
  sessions: readonly Segment[]
  events: readonly DayRange[]
}

interface AskedOf {
  question: Question
  filters: readonly Filter[]
  ask: Ask
}

export interface Reader extends AskedOf {
  coverage: Coverage
  today: TodayRollup | undefined
}

/** Whether a question is about single visits. No other costs more than a report (D-235). */
export const readsVisits = (question: AskedOf): boolean => reportOf(question) === undefined

export function readingOf(reader: Reader, period: Period): Reading {
  const report = reportOf(reader)
  const own = report ? reportReading(reader, report, period) : sessionReading(reader, period)
  const imported = importedOf(reader, period)
  return imported ? { ...own, imported, relation: withImported(own, imported, reader) } : own
}

/** The days of a question that other products have counted. It asks for one list of theirs, without filters. */
export function importedOf({ ask, filters, coverage, question }: Reader, period: Period): ImportedPlan | undefined {
  return importedPlanOf(coverage, period, {
    lists: [{ list: ask.by?.name ?? 'total', metrics: [...ask.columns] }],
    isFiltered: filters.length > 0,
    byHour: question.kind === 'timeseries' && question.interval === 'hour',
    excludedCountries: ask.excludedCountries,
  })
}

function withImported({ relation, visits }: Reading, { rows }: ImportedPlan, { ask }: Reader): Sql {
  if (rows.length === 0) return relation
  // A list of version 1 leaves out rows without visitors.
  const names = visits ? ask.columns : new Set([...ask.columns, 'visitors'])
  const columns = join(Array.from(names, aliasOf), sql`, `)
  const value = ask.by?.name === 'device' ? sql`lower(value)` : sql`value`
  return sql`(
    SELECT day, value, ${columns} FROM ${relation}
    UNION ALL
    SELECT day, ${value} AS value, ${columns} FROM imported_sums
    WHERE ${importedScope(ask.siteId, rows, ask.excludedCountries)}
  )`
}

const countsOfTotals = ['visitors', 'pageviews', 'sessions', 'bounces', 'duration']

interface AsReport {
  list: DimensionName
  filters: Filters
  /** The column that v1's `views` are. */
  views: 'pageviews' | 'events'
}

/** Lists of v1 without rows that v1 leaves out: every hit has a page, and every visitor a channel, a country and a device. */
const lists: Record<string, DimensionName> = {
  page: 'page',
  channel: 'channel',
  country: 'country',
  device: 'device',
  event: 'event',
}

function reportOf({ question, filters, ask }: AskedOf): AsReport | undefined {
  const reportFilters = filtersOfReport(filters)
  if (!reportFilters || (question.kind === 'timeseries' && question.interval === 'hour')) return undefined
  const has = (known: readonly string[]) => [...ask.columns].every((column) => known.includes(column))
  if (!ask.by) return has(countsOfTotals) ? { list: 'total', filters: reportFilters, views: 'pageviews' } : undefined
  const list = lists[ask.by.name]
  const views = list === 'event' ? 'events' : 'pageviews'
  return list && has(['visitors', views]) ? { list, filters: reportFilters, views } : undefined
}

/** In the words of version 1. Undefined: it has no such filters. */
export function filtersOfReport(filters: readonly Filter[]): Filters | undefined {
  const found: Record<string, string> = {}
  for (const { dimension, operator, values } of filters) {
    const name = nameInReports(dimension)
    const [value, ...more] = values
    if (!name || operator !== 'is' || !value || more.length > 0 || name in found) return undefined
    found[name] = name === 'device' ? (devices.find((label) => label.toLowerCase() === value) as string) : value
  }
  return found as Filters
}

const nameInReports = ({ name }: Dimension): keyof Filters | undefined =>
  name === 'utm_source'
    ? 'utmSource'
    : name === 'country' || name === 'device' || name === 'hostname'
      ? name
      : undefined

function reportReading({ question, ask, coverage, today }: Reader, report: AsReport, period: Period): Reading {
  const plan = planOf(period, { versions: coverage.versions, today, byDay: question.kind === 'timeseries' })
  const query: StatsQuery = {
    siteId: ask.siteId,
    excludedCountries: ask.excludedCountries as readonly CountryCode[],
    filters: report.filters,
    limit: 0,
    current: period,
    previous: period,
    plans: { current: plan, previous: { raw: [], rolledUp: [], today: [] } },
  }
  const value = report.list === 'device' ? sql`lower(value)` : sql`value`
  const views = report.views === 'events' ? sql`events` : sql`pageviews`
  const relation =
    report.list === 'total'
      ? sql`(SELECT day, '' AS value, views AS pageviews, visitors, sessions, bounces, duration FROM ${dailyTotals(query)})`
      : sql`(SELECT day, ${value} AS value, views AS ${views}, visitors FROM ${dailyMetrics(query, report.list)})`
  return {
    relation,
    visits: undefined,
    source: plan.rolledUp.length + plan.today.length > 0 ? 'rollups' : 'events',
    settled: !readsUnsettledDays(plan, coverage.settledThrough),
  }
}

function sessionReading({ question, ask, filters, coverage }: Reader, period: Period): Reading {
  const days: DayRange = [storedDay(period.firstDay), storedDay(period.lastDay)]
  refuseDroppedDays(days, coverage)
  const versions = needsEvents(ask, filters) ? [] : withSessions(coverage.versions)
  const { raw, rolledUp } = planOf(period, { versions, byDay: true })
  const byDay = question.kind === 'timeseries'
  const relations = [
    ...(rolledUp.length > 0 ? [sumsFromSessions(ask, rolledUp, byDay)] : []),
    ...(raw.length > 0 ? [dailySums(ask, period, raw)] : []),
  ]
  return {
    relation:
      relations.length === 1
        ? (relations[0] as Sql)
        : sql`(SELECT * FROM ${join(relations, sql` UNION ALL SELECT * FROM `)})`,
    visits: { sessions: rolledUp, events: raw },
    source: rolledUp.length > 0 ? 'sessions' : 'events',
    settled: days[1] <= (coverage.settledThrough ?? ''),
  }
}

/** Sessions have no properties and no revenue. */
export function needsEvents(ask: Ask, filters: readonly Filter[]): boolean {
  const { by, columns } = ask
  return (
    by?.property !== undefined ||
    filters.some(({ dimension }) => dimension.property !== undefined) ||
    goalsOf(ask, filters).some(({ condition }) => condition.kind === 'event' && condition.property !== undefined) ||
    [...columns].some((column) => column.startsWith('revenue_'))
  )
}

/** The goals that hits are compared with. A filter without a value is about all of them. */
export function goalsOf({ by, goal, goals }: Ask, filters: readonly Filter[]): Goal[] {
  const named = filters.filter(({ dimension }) => dimension.name === 'goal').flatMap(({ values }) => values)
  const all = by?.name === 'goal' || named.includes('')
  return [...(goal ? [goal] : []), ...goals.filter(({ name }) => all || named.includes(name))]
}

/** Of days that retention has dropped, only rollups are left (D-79). */
export function refuseDroppedDays(days: DayRange, { versions, eventsFrom }: Coverage): void {
  const dropped = versions.some((version) => intersect([days], version.days).some(([first]) => first < eventsFrom))
  if (dropped)
    throw new ApiError(
      'range_not_kept',
      `This question needs single visits, which are kept from ${eventsFrom} on. Ask for that day or a later one, or without filters on pages, referrers, events and the like.`,
    )
}
