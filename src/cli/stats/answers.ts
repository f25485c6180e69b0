// Reads everything that is shown about one site, all reports at the same time.

import type { StatsParameters } from '../../stats/report.ts'
import type { Overview } from '../../stats/reports/overview.ts'
import type { SourceAnswer, SourceSite, StatsSource } from '../../stats/source.ts'

export const listNames = ['pages', 'referrers', 'geo', 'devices', 'events'] as const

export type ListName = (typeof listNames)[number]

type Row = Readonly<Record<string, string | number>>

interface Day {
  date: string
  visitors: number
  pageviews: number
}

/** A day, and the day of the previous period that it is compared with. */
export interface ComparedDay extends Day {
  previous: Day | undefined
}

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
  source: StatsSource,
  site: SourceSite,
  parameters: StatsParameters,
  compares: boolean,
  signal?: AbortSignal,
): Promise<SiteAnswers> {
  const overview = source.read('overview', site.id, parameters, signal)
  const [{ data, period, previousPeriod = '' }, days, previousDays, ...lists] = await Promise.all([
    overview,
    source.read('timeseries', site.id, parameters, signal),
    compares ? overview.then((answer) => readPreviousDays(source, site, parameters, answer, signal)) : [],
    ...listNames.map((name) => source.read(name, site.id, parameters, signal)),
  ])
  return {
    site,
    parameters,
    compares,
    overview: data as Overview,
    period: intervalOf(period),
    previousPeriod: intervalOf(previousPeriod),
    days: compared(days.data as Day[], previousDays, parameters),
    lists: Object.fromEntries(
      lists.map(({ data, totalRows }, index) => [listNames[index], { rows: data as Row[], totalRows }]),
    ) as SiteAnswers['lists'],
    warnings: [...new Set([await overview, days, ...lists].flatMap(({ warnings }) => warnings))],
  }
}

function intervalOf(text: string): Interval {
  const [start = '', end = ''] = text.split('/')
  return { start, end }
}

/** The last 24 hours touch parts of two days. Whole days are no comparison for them. */
async function readPreviousDays(
  source: StatsSource,
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

/** Pairs days by their date, because twelve months do not always have the same number of days. */
function compared(days: readonly Day[], previousDays: readonly Day[], { range }: StatsParameters): ComparedDay[] {
  const byDate = new Map(previousDays.map((day) => [day.date, day]))
  const back = range.name === '12m' ? { months: 12 } : { days: days.length }
  return days.map((day) => ({
    ...day,
    previous: byDate.get(Temporal.PlainDate.from(day.date).subtract(back).toString()),
  }))
}
