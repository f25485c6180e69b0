// Output for programs: JSON with the unchanged data of the API, or one table as TSV or CSV. Names, order and numbers are those of the API.

import { csvLines } from '../../stats/csv.ts'
import { sumOf } from '../../stats/previous-days.ts'
import type { Metrics } from '../../stats/reports/overview.ts'
import { printable } from '../printable.ts'
import type { SiteOverview } from '../sites-source.ts'
import { type ListName, listNames, type SiteAnswers } from './answers.ts'

export const metricNames = [
  'visitors',
  'pageviews',
  'sessions',
  'bounce_rate',
  'avg_duration',
] as const satisfies readonly (keyof Metrics)[]

/** The field that names a row, and its numbers. */
export const fields: Readonly<Record<ListName, { label: string; numbers: readonly string[] }>> = {
  pages: { label: 'pathname', numbers: ['views', 'visitors'] },
  referrers: { label: 'referrer', numbers: ['views', 'visitors'] },
  geo: { label: 'name', numbers: ['visitors'] },
  devices: { label: 'name', numbers: ['visitors'] },
  events: { label: 'name', numbers: ['count', 'visitors'] },
}

export function dataOf({ site, parameters, compares, overview, days, lists, ...answers }: SiteAnswers): object {
  const dayOf = ({ date, visitors, pageviews }: SiteAnswers['days'][number]) => ({ date, visitors, pageviews })
  return {
    site_id: site.id,
    domain: site.domain,
    time_zone: site.timeZone,
    range: parameters.range.name,
    period: answers.period,
    previous_period: answers.previousPeriod,
    overview,
    timeseries: days.map(dayOf),
    ...(compares && { previous_timeseries: days.flatMap(({ previous }) => previous) }),
    ...Object.fromEntries(listNames.map((name) => [name, lists[name].rows])),
    warnings: answers.warnings,
  }
}

export type Table = readonly (readonly (string | number)[])[]

/** One line per number, so that every line has the same columns. */
export function siteTable({ overview, days, lists, compares }: SiteAnswers): Table {
  const { current, previous, change } = overview
  const compared = (...cells: (string | number)[]) => (compares ? cells : [])
  return [
    ['report', 'name', 'metric', 'value', ...compared('previous', 'change')],
    ...metricNames.map((metric) => [
      'overview',
      '',
      metric,
      current[metric],
      ...compared(previous[metric], change[metric] ?? ''),
    ]),
    ...days.flatMap((day) =>
      (['visitors', 'pageviews'] as const).map((metric) => [
        'timeseries',
        day.date,
        metric,
        day[metric],
        ...compared(day.previous.length > 0 ? sumOf(day.previous, metric) : '', ''),
      ]),
    ),
    ...listNames.flatMap((report) =>
      lists[report].rows.flatMap((row) =>
        fields[report].numbers.map((metric) => [
          report,
          row[fields[report].label] ?? '',
          metric,
          row[metric] ?? '',
          ...compared('', ''),
        ]),
      ),
    ),
  ]
}

export function sitesTable(sites: readonly SiteOverview[], compares: boolean): Table {
  const named = (prefix: string) => metricNames.map((name) => `${prefix}_${name}`)
  return [
    ['site_id', 'domain', ...metricNames, ...(compares ? [...named('previous'), ...named('change')] : [])],
    ...sites.map(({ site_id, domain, current, previous, change }) => [
      site_id,
      domain,
      ...metricNames.map((name) => current[name]),
      ...(compares
        ? [...metricNames.map((name) => previous[name]), ...metricNames.map((name) => change[name] ?? '')]
        : []),
    ]),
  ]
}

/** Without a line end after the last line, because every output gets one. */
export const tsvOf = (table: Table): string =>
  inert(table)
    .map((cells) => cells.join('\t'))
    .join('\n')

export const csvOf = (table: Table): string => csvLines(inert(table)).slice(0, -1)

const inert = (table: Table): Table =>
  table.map((cells) => cells.map((cell) => (typeof cell === 'string' ? printable(cell) : cell)))
