// What both parts of a letter say in the same words.
import { counted, inFull } from '../display/formats.ts'
import { filterWords } from '../display/labels.ts'
import { metrics } from '../display/metrics.ts'
import { visibleLine } from '../mail/letter.ts'
import type { Filter } from '../stats/questions/filters.ts'
import type { Metrics, Overview } from '../stats/reports/overview.ts'
import { percentChange } from '../stats/rounding.ts'
import { countryNames } from '../traffic/country.ts'
import type { AccountReport, SiteLine } from './numbers.ts'
import type { ReportedSite } from './order.ts'
import { beforeName, type ReportDays, thisPeriod } from './period.ts'

/** All digits: nobody can hover over a mail for the rest of `1.23M`. */
const metricText = (name: keyof Metrics, value: number): string =>
  name === 'bounce_rate' || name === 'avg_duration' ? metrics[name].text(value) : inFull(value)

/** The five numbers, in the order of the dashboard. */
export const numberLines = ({ current, previous, change }: Overview) =>
  (Object.keys(metrics) as (keyof Metrics)[]).map((name) => ({
    name: metrics[name].name,
    now: metricText(name, current[name]),
    before: metricText(name, previous[name]),
    change: { percent: change[name], isGood: (change[name] ?? 0) > 0 !== (metrics[name].lessIsBetter === true) },
  }))

/** `7,041 visitors, 5.2% more than the week before.` */
export function summary(visitors: number, change: number | null, days: ReportDays): string {
  const before = beforeName(days)
  const compared =
    change === null
      ? ''
      : change === 0
        ? `, as many as ${before}`
        : `, ${inFull(Math.abs(change))}% ${change > 0 ? 'more' : 'fewer'} than ${before}`
  return `${counted(visitors, 'visitor')}${compared}.`
}

const listed = new Intl.ListFormat('en-GB')

/** `China and Russia` */
export const excludedNames = ({ excludedCountries }: ReportedSite): string =>
  listed.format(excludedCountries.map((code) => countryNames[code]))

/** A mail does not say which days these are: the dashboard does. */
export function importedDays(
  sites: readonly Pick<ReportedSite, 'coverage'>[],
  { last, before }: ReportDays,
): string | undefined {
  const [from, until] = [String(before.first), String(last)]
  const isImported = sites.some(({ coverage }) =>
    coverage.imported.some(({ days }) => days.some(([first, last]) => first <= until && from <= last)),
  )
  return isImported
    ? 'Some of these days, or of those before, were imported as daily sums of another product. What such sums cannot tell is without them.'
    : undefined
}

export const sameAsApi = ({ count }: ReportDays): string =>
  `Every number is what the API answers for these ${counted(count, 'day')}.`

export const noTraffic = (days: ReportDays, before: number): string =>
  `Nobody visited the site ${thisPeriod(days)}.${before === 0 ? '' : ` It had ${counted(before, 'visitor')} in ${beforeName(days)}.`}`

/** `Only: Page starts with /blog, Country Germany` */
export const onlyText = (filters: readonly Filter[]): string | undefined =>
  filters.length > 0
    ? `Only: ${filters.map((filter) => visibleLine(filterWords(filter), maxFilter)).join(', ')}`
    : undefined

const maxFilter = 200

export const nobodyMatches = (days: ReportDays): string => `No visit matched these filters ${thisPeriod(days)}.`

export const checkSnippet = 'If this is not what you expect, see whether the snippet is still on its pages:'

export const promise = 'It loads nothing and does not tell us whether you read it.'

/** Both parts of a mail are at most 60 kB together: this many sites with the longest domains that DNS allows take 58 kB. */
export const maxSites = 35

export const moreSites = (sites: number): string =>
  `And ${counted(sites - maxSites, 'more site', 'more sites')}, none with more visitors.`

export const maxAccountName = 80

export const noSites = 'This account has no sites.'

/** The sums of all sites, also of those that are not shown. */
export function accountTotals(lines: readonly SiteLine[]) {
  const visitors = lines.reduce((sum, { current }) => sum + current.visitors, 0)
  const before = lines.reduce((sum, { previous }) => sum + previous.visitors, 0)
  return { visitors, before, percent: percentChange(visitors, before) }
}

export const notesOfSites = ({ sites, days }: AccountReport): string =>
  [
    sites.some(({ excludedCountries }) => excludedCountries.length > 0) &&
      'Without the countries that each site excludes.',
    importedDays(sites, days),
    'Days are those of the time zone of each site.',
    sameAsApi(days),
  ]
    .filter(Boolean)
    .join(' ')
