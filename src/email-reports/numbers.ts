// Reads the numbers of a report. Each is what the API answers for the same days (decision D-220).

import { inFull } from '../display/formats.ts'
import { ApiError } from '../errors.ts'
import { visibleLine } from '../mail/letter.ts'
import { sitesParameters } from '../stats/parameters.ts'
import type { Filter } from '../stats/questions/filters.ts'
import type { Metrics, Overview } from '../stats/reports/overview.ts'
import { instantOf } from '../stats/reports.ts'
import { halfUp } from '../stats/rounding.ts'
import type { StatsService } from '../stats/service.ts'
import { sitesOverview } from '../stats/sites-overview.ts'
import type { ReportedSite, ReportOrder } from './order.ts'
import { type ReportDays, rangeOf } from './period.ts'
import {
  type Ask,
  asking,
  type ChannelRow,
  queueKey,
  type ReferrerRow,
  readFiltered,
  readReports,
  rows,
} from './site-rows.ts'

/** Everything that a letter about one site is made from. */
export interface SiteReport {
  order: ReportOrder
  site: ReportedSite
  /** Empty: about everything. */
  filters: readonly Filter[]
  days: ReportDays
  numbers: SiteNumbers
}

export interface SiteNumbers {
  overview: Overview
  days: readonly Day[]
  lists: readonly List[]
}

export interface Day {
  date: Temporal.PlainDate
  visitors: number
  /** On the same day of the week before; not read for a month. */
  before: number | undefined
}

export interface List {
  title: string
  unit: string
  rows: readonly ListRow[]
  /** What it says without rows. */
  nothing: string
}

export interface ListRow {
  name: string
  count: number
  /** A share of all, or a second number. */
  beside: string
}

/** Longer names are cut. */
const maxName = 80

export async function readSite(
  stats: StatsService,
  { site, filters }: Pick<SiteReport, 'site' | 'filters'>,
  days: ReportDays,
  clock: number,
  signal: AbortSignal,
): Promise<SiteNumbers> {
  const now = instantOf(site, clock)
  const ask = asking(stats, { site, filters }, now, signal)
  const [read, goals] = await Promise.all([
    filters.length > 0 ? readFiltered(ask, days) : readReports(stats, site, days, now, signal),
    site.goals.length > 0 ? readGoals(ask, days, signal) : undefined,
  ])
  const { overview, series, seriesBefore, pages, referrers, channels, countries, events } = read
  const { current } = overview
  return {
    overview,
    days: series.map(({ date, visitors }, index) => ({
      date: Temporal.PlainDate.from(date),
      visitors,
      before: seriesBefore[index]?.visitors,
    })),
    lists: [
      {
        title: 'Pages',
        unit: 'views',
        nothing: 'No page was viewed.',
        rows: pages.map(({ pathname, views }) => row(pathname, views, current.pageviews)),
      },
      {
        title: 'Sources',
        unit: 'visitors',
        nothing: 'No source is known.',
        rows: sourcesOf(referrers, channels).map(({ name, visitors }) => row(name, visitors, current.visitors)),
      },
      {
        title: 'Countries',
        unit: 'visitors',
        nothing: 'No country is known.',
        rows: countries.map(({ name, visitors }) => row(name, visitors, current.visitors)),
      },
      {
        title: 'Custom events',
        unit: 'times, visitors',
        nothing: 'No custom event was sent.',
        rows: events.map(({ name, count, visitors }) => ({ name: shownName(name), count, beside: inFull(visitors) })),
      },
      ...(goals ? [goals] : []),
    ],
  }
}

/**
 * The goals that most visitors reached. They are not read from rollups, so a report comes without them if they cannot be read: another attempt would
 * be refused again, or take too long again.
 */
async function readGoals(ask: Ask, days: ReportDays, signal: AbortSignal): Promise<List> {
  const list = { title: 'Goals', unit: 'visitors, rate', nothing: 'No goal was reached.' }
  try {
    const reached = await ask<{ goal: string; conversions: number; conversion_rate: number }[]>('breakdown', days, {
      by: 'goal',
      metrics: 'conversions,conversion_rate',
      limit: `${rows}`,
    })
    return {
      ...list,
      rows: reached.map(({ goal, conversions, conversion_rate: rate }) => ({
        name: shownName(goal),
        count: conversions,
        beside: rate === 0 ? '<0.1%' : `${rate}%`,
      })),
    }
  } catch (error) {
    signal.throwIfAborted()
    const isRefused = error instanceof ApiError
    const nothing = isRefused ? 'Too much traffic to count goals in a report.' : 'Goals could not be counted this time.'
    return { ...list, rows: [], nothing }
  }
}

/** The referrers do not contain visits without one, so the channel Direct joins them. */
function sourcesOf(referrers: readonly ReferrerRow[], channels: readonly ChannelRow[]) {
  const direct = channels.filter(({ channel }) => channel === 'Direct')
  return [
    ...direct.map(({ channel, visitors }) => ({ name: channel, visitors })),
    ...referrers.map(({ referrer, visitors }) => ({ name: referrer, visitors })),
  ]
    .sort((one, other) => other.visitors - one.visitors)
    .slice(0, rows)
}

const row = (name: string, count: number, total: number): ListRow => {
  const share = halfUp(count * 100, total)
  return { name: shownName(name), count, beside: share === 0 ? '<1%' : `${share}%` }
}

/** A name of blanks would be invisible. */
const shownName = (name: string): string => visibleLine(name, maxName) || '(blank)'

/** Everything that a letter about the sites of an account is made from. */
export interface AccountReport {
  order: ReportOrder
  account: string
  sites: readonly ReportedSite[]
  days: ReportDays
  /** Most visitors first. */
  lines: readonly SiteLine[]
}

export interface SiteLine {
  domain: string
  current: Metrics
  previous: Metrics
  change: Overview['change']
}

export async function readSites(
  stats: StatsService,
  sites: readonly ReportedSite[],
  { first, last }: ReportDays,
  now: number,
  signal: AbortSignal,
): Promise<SiteLine[]> {
  const atOnce = sitesParameters.limit.max
  const parameters = { range: rangeOf(first, last), filters: {}, limit: atOnce }
  const lines: SiteLine[] = []
  for (let from = 0; from < sites.length; from += atOnce) {
    const some = sites.slice(from, from + atOnce)
    const { data } = await stats.readSites({ report: sitesOverview, sites: some, parameters, queueKey, now }, signal)
    lines.push(...data)
  }
  return lines.sort(
    (one, other) =>
      other.current.visitors - one.current.visitors ||
      other.current.pageviews - one.current.pageviews ||
      (one.domain < other.domain ? -1 : 1),
  )
}
