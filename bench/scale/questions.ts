// Every question the bench asks: endpoint x range x filter x window, of sites of several sizes.
import { type Periods, periodsOf } from '../../src/stats/period.ts'
import type { StatsQuery } from '../../src/stats/query.ts'
import { type ReportName, reports } from '../../src/stats/reports.ts'
import type { Fold, OpenFold } from '../../src/traffic/folds.ts'
import type { BenchSite } from './sites.ts'

export const reportNames = Object.keys(reports) as ReportName[]
export const ranges = ['7d', '30d', '90d', '12m'] as const
/** Windows that end yesterday hold closed days only; the others also the half of today that has passed. */
export const windows = ['yesterday', 'today'] as const

export type RangeWord = (typeof ranges)[number]
export type WindowWord = (typeof windows)[number]
export type FilterWord = (typeof filterWords)[number]

export const filterWords = ['none', 'country', 'device', 'hostname', 'utm', 'excluded'] as const

/** Two that are large enough to matter. */
export const excluded = ['GB', 'FR'] as const

export const filtersOf = (domain: string): Record<FilterWord, Pick<StatsQuery, 'filters' | 'excludedCountries'>> => ({
  none: { filters: {}, excludedCountries: [] },
  country: { filters: { country: 'DE' }, excludedCountries: [] },
  device: { filters: { device: 'Mobile' }, excludedCountries: [] },
  hostname: { filters: { hostname: `blog.${domain}` }, excludedCountries: [] },
  utm: { filters: { utmSource: 'newsletter' }, excludedCountries: [] },
  excluded: { filters: {}, excludedCountries: excluded },
})

export interface Question {
  site: BenchSite
  report: ReportName
  range: RangeWord
  window: WindowWord
  filter: FilterWord
}

export const nameOf = ({ site, report, range, window, filter }: Question): string =>
  `${site.name} ${report} ${range} ${window} ${filter}`

export function periodsFor(range: RangeWord, window: WindowWord, now: Temporal.ZonedDateTime): Periods {
  if (window === 'today') return periodsOf({ name: range }, now)
  const lastDay = now.toPlainDate().subtract({ days: 1 })
  const back = range === '12m' ? { months: 12 } : { days: Number.parseInt(range, 10) }
  return periodsOf({ name: 'custom', firstDay: lastDay.subtract(back).add({ days: 1 }), lastDay }, now)
}

export const queryOf = (
  { site, range, window, filter }: Question,
  now: Temporal.ZonedDateTime,
  folds: readonly Fold[],
  open?: OpenFold,
): StatsQuery => ({
  siteId: site.id,
  ...periodsFor(range, window, now),
  ...filtersOf(site.domain)[filter],
  folds,
  open,
  limit: 10,
})
