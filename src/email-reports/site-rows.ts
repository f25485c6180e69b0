// Reads the rows of a report about one site: all of them from the reports of version 1, or those that its filters choose from questions of version 2.
import { type Filter, filterText } from '../stats/questions/filters.ts'
import { readFields } from '../stats/questions/parameters.ts'
import type { QuestionKind } from '../stats/questions/question.ts'
import type { Metrics, Overview } from '../stats/reports/overview.ts'
import type { ReportName } from '../stats/reports.ts'
import type { StatsService } from '../stats/service.ts'
import { type CountryCode, countryNames } from '../traffic/country.ts'
import type { ReportedSite } from './order.ts'
import { type ReportDays, rangeOf } from './period.ts'

/** All reports wait in one queue, so that a Monday morning does not delay the pages of people. */
export const queueKey = 'reports by e-mail'
export const rows = 5

/** The API orders referrers by views. Enough of them to find the five with most visitors. */
const mostReferrers = 100

export interface Rows {
  overview: Overview
  series: readonly DayRow[]
  seriesBefore: readonly DayRow[]
  pages: readonly PageRow[]
  referrers: readonly ReferrerRow[]
  channels: readonly ChannelRow[]
  countries: readonly CountryRow[]
  events: readonly EventRow[]
}

interface DayRow {
  date: string
  visitors: number
}
interface PageRow {
  pathname: string
  views: number
}
export interface ReferrerRow {
  referrer: string
  visitors: number
}
export interface ChannelRow {
  channel: string
  visitors: number
}
interface CountryRow {
  name: string
  visitors: number
}
interface EventRow {
  name: string
  count: number
  visitors: number
}

/** From the reports of version 1, which are read from rollups. */
export async function readReports(
  stats: StatsService,
  site: ReportedSite,
  days: ReportDays,
  now: number,
  signal: AbortSignal,
): Promise<Rows> {
  const read = async <Data>(report: ReportName, { first, last } = days as ReportDays['before'], limit = rows) => {
    const parameters = { range: rangeOf(first, last), filters: {}, limit }
    return (await stats.read({ report, site, parameters, queueKey, now }, signal)).data as Data
  }
  const [overview, series, seriesBefore, pages, referrers, channels, countries, events] = await Promise.all([
    read<Overview>('overview'),
    read<DayRow[]>('timeseries'),
    days.interval === 'week' ? read<DayRow[]>('timeseries', days.before) : [],
    read<PageRow[]>('pages'),
    read<ReferrerRow[]>('referrers', days, mostReferrers),
    read<ChannelRow[]>('channels'),
    read<CountryRow[]>('geo'),
    read<EventRow[]>('events'),
  ])
  return { overview, series, seriesBefore, pages, referrers, channels, countries, events }
}

export type Ask = ReturnType<typeof asking>

/** Questions of version 2, with the filters of the report. */
export const asking =
  (
    stats: StatsService,
    { site, filters }: { site: ReportedSite; filters: readonly Filter[] },
    now: number,
    signal: AbortSignal,
  ) =>
  async <Data>(kind: QuestionKind, { first, last }: ReportDays['before'], fields: Record<string, string>) => {
    const all = [
      ...Object.entries({ range: 'custom', start: String(first), end: String(last), ...fields }),
      ...filters.map(
        ({ dimension, operator, values }) => ['filter', filterText(dimension.name, operator, values)] as const,
      ),
    ] as const
    const { question } = readFields(all, { kind, goals: site.goals, maxLimit: mostReferrers })
    return (await stats.ask({ site, question, queueKey, now }, signal)).data as Data
  }

export async function readFiltered(ask: Ask, days: ReportDays): Promise<Rows> {
  type Row = Record<string, string | number | null>
  /** Rows without a value are in no list of a report. */
  const list = async (by: string, metrics: string, limit = rows) =>
    (await ask<Row[]>('breakdown', days, { by, metrics, limit: `${limit + 1}` }))
      .filter((row) => row[by] !== null)
      .slice(0, limit)
  const series = (which: ReportDays['before']) => ask<DayRow[]>('timeseries', which, { metrics: 'visitors' })
  const [totals, current, before, pages, referrers, channels, countries, events] = await Promise.all([
    ask<Metrics & Pick<Overview, 'previous' | 'change'>>('totals', days, { compare: 'previous' }),
    series(days),
    days.interval === 'week' ? series(days.before) : [],
    list('page', 'pageviews'),
    list('referrer', 'visitors', mostReferrers - 1),
    list('channel', 'visitors', mostChannels),
    list('country', 'visitors'),
    list('event', 'events,visitors'),
  ])
  const { previous, change, ...metrics } = totals
  return {
    overview: { current: metrics, previous, change },
    series: current,
    seriesBefore: before,
    pages: pages.map((row) => ({ pathname: String(row.page), views: Number(row.pageviews) })),
    referrers: referrers.map((row) => ({ referrer: String(row.referrer), visitors: Number(row.visitors) })),
    channels: channels.map((row) => ({ channel: String(row.channel), visitors: Number(row.visitors) })),
    countries: countries.map((row) => ({
      name: countryNames[row.country as CountryCode],
      visitors: Number(row.visitors),
    })),
    events: events.map((row) => ({
      name: String(row.event),
      count: Number(row.events),
      visitors: Number(row.visitors),
    })),
  }
}

/** More than there are. */
const mostChannels = 50
