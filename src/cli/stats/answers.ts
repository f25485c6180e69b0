// Reads everything that is shown about one site, all reports at the same time.

import { type ComparedDay, compareDays, type Day } from '../../stats/previous-days.ts'
import type { StatsParameters } from '../../stats/report.ts'
import type { Overview } from '../../stats/reports/overview.ts'
import type { SourceAnswer, SourceSite } from '../../stats/source.ts'
import type { SitesSource } from '../sites-source.ts'

export const listNames = ['pages', 'referrers', 'geo', 'devices', 'events'] as const

export type ListName = (typeof listNames)[number]

type Row = Readonly<Record<string, string | number>>

export interface SiteAnswers {
  site: SourceSite
  parameters: StatsParameters
  /** Whether the previous period is shown. */
  compares: boolean
  overview: Overview
  period: Interval
  previousPeriod: Interval
  days: readonly ComparedDay[]
  lists: Readonly<Record<ListName, { rows: readonly Row[]; totalRows: number | undefined }>>
  warnings: readonly string[]
}

/** The instants as ISO 8601 with the offset of the site's time zone. */
export interface Interval {
  start: string
  end: string
}

export async function readAnswers(
  source: SitesSource,
  site: SourceSite,
  parameters: StatsParameters,
  compares: boolean,
  signal?: AbortSignal,
): Promise<SiteAnswers> {
  const overview = source.read('overview', site.id, parameters, signal)
  const [{ data, period, previousPeriod = '' }, days, wholeDays, ...lists] = await Promise.all([
    overview,
    source.read('timeseries', site.id, parameters, signal),
    compares ? overview.then((answer) => readWholeDays(source, site, parameters, answer, signal)) : [],
    ...listNames.map((name) => source.read(name, site.id, parameters, signal)),
  ])
  const previous = { numbers: (data as Overview).previous, period: previousPeriod }
  return {
    site,
    parameters,
    compares,
    overview: data as Overview,
    period: intervalOf(period),
    previousPeriod: intervalOf(previousPeriod),
    days: compareDays(days.data as Day[], wholeDays, previous, parameters.range.name),
    lists: Object.fromEntries(
      lists.map(({ data, totalRows }, index) => [listNames[index], { rows: data as Row[], totalRows }]),
    ) as SiteAnswers['lists'],
    warnings: [...new Set([await overview, days, ...lists].flatMap(({ warnings }) => warnings))],
  }
}

export function intervalOf(text: string): Interval {
  const [start = '', end = ''] = text.split('/')
  return { start, end }
}

/** The days of the previous period. The last 24 hours touch parts of two days, for which whole days are no comparison. */
async function readWholeDays(
  source: SitesSource,
  site: SourceSite,
  parameters: StatsParameters,
  { previousPeriod = '' }: SourceAnswer,
  signal?: AbortSignal,
): Promise<Day[]> {
  const { start, end } = intervalOf(previousPeriod)
  if (parameters.range.name === '24h' || start === end) return []
  const range = { name: 'custom', firstDay: dateOf(start), lastDay: lastDateOf(end) } as const
  const { data } = await source.read('timeseries', site.id, { ...parameters, range }, signal)
  return data as Day[]
}

export const dateOf = (instant: string): Temporal.PlainDate => Temporal.PlainDate.from(instant)

/** A period does not include its end. */
export const lastDateOf = (end: string): Temporal.PlainDate =>
  Temporal.PlainDateTime.from(end).subtract({ milliseconds: 1 }).toPlainDate()
