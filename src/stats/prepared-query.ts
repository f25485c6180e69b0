// Everything about a query that is decided before ClickHouse is asked: its periods, its plan, and how long its answer stays right.
import { type Period, periodsOf, type Range } from '../calendar/periods.ts'
import type { Coverage, TodayRollup } from '../rollups/coverage.ts'
import { readsUnsettledDays } from '../rollups/plan.ts'
import type { Filters } from '../traffic/conditions.ts'
import type { CountryCode } from '../traffic/country.ts'
import { comparablePeriods, planQuery, type StatsQuery } from './query.ts'
import type { Report } from './report.ts'
import { type ReportName, reports } from './reports.ts'

export interface StatsSite {
  id: string
  /** IANA name. */
  timeZone: string
  excludedCountries: readonly CountryCode[]
  shard: number
  coverage: Coverage
}

export interface StatsParameters {
  range: Range
  filters: Filters
  limit: number
}

export interface PreparedQuery {
  query: StatsQuery
  /** The current time of the query: when today was last rolled up if that was a moment ago, else when the request came. */
  generatedAt: Temporal.Instant
  /** Whether the query reads settled days only (response-cache.ts). */
  settled: boolean
  warnings: readonly string[]
}

export function prepare(
  { report: name, site, parameters }: { report: ReportName; site: StatsSite; parameters: StatsParameters },
  askedAt: number,
  today: TodayRollup | undefined,
): PreparedQuery {
  const generatedAt = Temporal.Instant.fromEpochMilliseconds(today?.asOf ?? askedAt)
  const report: Report = reports[name]
  const asked = periodsOf(parameters.range, generatedAt.toZonedDateTimeISO(site.timeZone))
  const periods = report.comparesPeriods ? comparablePeriods(asked, site.coverage) : asked
  const query = planQuery(
    {
      siteId: site.id,
      ...periods,
      filters: parameters.filters,
      excludedCountries: site.excludedCountries,
      limit: parameters.limit,
    },
    { versions: site.coverage.versions, today, byDay: report.byDay ?? false },
  )
  const plans = report.comparesPeriods ? Object.values(query.plans) : [query.plans.current]
  return {
    query,
    generatedAt,
    // Any event can change a title, whatever the period (decision D-18). A window that ends now keeps moving, even where today
    // was already settled in the time zone that the site had before.
    settled:
      !report.showsTitles &&
      periods.current.end.epochMilliseconds < generatedAt.epochMilliseconds &&
      !plans.some((plan) => readsUnsettledDays(plan, site.coverage.settledThrough)),
    warnings: periods === asked ? [] : [wholeDay(asked.previous)],
  }
}

const wholeDay = ({ lastDay }: Period): string =>
  `the previous period ends with all of ${lastDay}, because single events of that day are no longer kept`
