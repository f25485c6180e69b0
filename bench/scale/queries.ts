// Every query of the bench: endpoint x range x filter x window, for sites of several sizes.
import { type Periods, periodsOf } from '../../src/calendar/periods.ts'
import type { RollupVersion, TodayRollup } from '../../src/rollups/coverage.ts'
import { planQuery, type StatsQuery } from '../../src/stats/daily-metrics.ts'
import type { Report } from '../../src/stats/report.ts'
import { type ReportName, reports } from '../../src/stats/reports.ts'
import type { BenchSite } from './sites.ts'

export const reportNames = Object.keys(reports) as ReportName[]
export const ranges = ['7d', '30d', '90d', '12m'] as const
/** Windows that end yesterday contain only closed days; the others also contain the past half of today. */
export const windows = ['yesterday', 'today'] as const

export type RangeWord = (typeof ranges)[number]
export type WindowWord = (typeof windows)[number]
export type FilterWord = (typeof filterWords)[number]

export const filterWords = ['none', 'country', 'device', 'hostname', 'utm', 'excluded'] as const

/** Two countries that are large enough to matter. */
export const excluded = ['GB', 'FR'] as const

export const filtersOf = (domain: string): Record<FilterWord, Pick<StatsQuery, 'filters' | 'excludedCountries'>> => ({
  none: { filters: {}, excludedCountries: [] },
  country: { filters: { country: 'DE' }, excludedCountries: [] },
  device: { filters: { device: 'Mobile' }, excludedCountries: [] },
  hostname: { filters: { hostname: `blog.${domain}` }, excludedCountries: [] },
  utm: { filters: { utmSource: 'newsletter' }, excludedCountries: [] },
  excluded: { filters: {}, excludedCountries: excluded },
})

export interface BenchQuery {
  site: BenchSite
  report: ReportName
  range: RangeWord
  window: WindowWord
  filter: FilterWord
}

export const nameOf = ({ site, report, range, window, filter }: BenchQuery): string =>
  `${site.name} ${report} ${range} ${window} ${filter}`

export function periodsFor(range: RangeWord, window: WindowWord, now: Temporal.ZonedDateTime): Periods {
  if (window === 'today') return periodsOf({ name: range }, now)
  const lastDay = now.toPlainDate().subtract({ days: 1 })
  const back = range === '12m' ? { months: 12 } : { days: Number.parseInt(range, 10) }
  return periodsOf({ name: 'custom', firstDay: lastDay.subtract(back).add({ days: 1 }), lastDay }, now)
}

export const queryOf = (
  { site, report, range, window, filter }: BenchQuery,
  now: Temporal.ZonedDateTime,
  versions: readonly RollupVersion[],
  today?: TodayRollup,
): StatsQuery =>
  planQuery(
    { siteId: site.id, ...periodsFor(range, window, now), ...filtersOf(site.domain)[filter], limit: 10 },
    { versions, today, byDay: (reports[report] as Report).byDay ?? false },
  )
