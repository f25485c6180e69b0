// The reports of a site, and how one is read. Routes, OpenAPI, reference, docs and tests iterate over the table `reports` (docs/contract.md 4):
// a new line is a new endpoint.
import { hash } from 'node:crypto'
import fastJson from 'fast-json-stringify'
import {
  intervalOf,
  type Period,
  type Periods,
  periodsOf,
  type RangeName,
  withWholeLastDay,
} from '../calendar/periods.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import type { Coverage, TodayRollup } from '../rollups/coverage.ts'
import { type ImportedPlan, importedPlanOf, importedRemarks } from '../rollups/imported-days.ts'
import { endsInDroppedDay, readsUnsettledDays, recentToday } from '../rollups/reading.ts'
import { currentVisitors } from './current-visitors.ts'
import { planQuery, type StatsQuery } from './daily-metrics.ts'
import type { Cacheable, Needs, Report, SiteReport, StatsParameters, StatsSite } from './report.ts'
import { channels } from './reports/channels.ts'
import { devices } from './reports/devices.ts'
import { events } from './reports/events.ts'
import { geo } from './reports/geo.ts'
import { overview } from './reports/overview.ts'
import { pages } from './reports/pages.ts'
import { referrers } from './reports/referrers.ts'
import { timeseries } from './reports/timeseries.ts'
import { utm } from './reports/utm.ts'

export const reports = {
  overview,
  timeseries,
  pages,
  referrers,
  channels,
  devices,
  geo,
  events,
  utm,
} as const satisfies Record<string, Report>

export type ReportName = keyof typeof reports

/** The reports of the API, and one of the dashboard only. */
const readable = { ...reports, currentVisitors } as const satisfies Record<string, SiteReport>

type ReadableName = keyof typeof readable

/** Each report's own schema serialises its data, so no other field gets out. */
const serializers = Object.fromEntries(
  Object.entries(readable).map(([name, { data }]) => [name, fastJson(data as fastJson.Schema)]),
) as Record<ReadableName, (data: unknown) => string>

export interface StatsRequest {
  report: ReadableName
  site: StatsSite
  parameters: StatsParameters
  /** The key in the fair queue, for example the id of an API key. */
  queueKey: string
  /** The current time of the query, for numbers that must agree with others: `instantOf`. Without it, the time of the request. */
  now?: number
}

export interface StatsResult extends Cacheable {
  /** `{ data, meta }` as JSON text (docs/contract.md 2.1). Serialised once and cached as text. */
  json: string
  /** The report's data as a plain value, parsed from `json` on each access. */
  readonly data: unknown
  meta: Meta
  /** Identical for identical numbers of the same query, whenever they were computed (decision D-61). */
  identity: string
  /** ISO 8601 intervals (decision D-29). */
  period: string
  previousPeriod: string | undefined
  /** The number of rows without the limit; only when the limit cut some off. */
  totalRows: number | undefined
  /** Remarks for the reader of these numbers. */
  warnings: readonly string[]
}

interface Meta {
  site_id: string
  range: RangeName
  limit?: number
  generated_at: string
}

/** What `createStatsService` caches and runs. */
export function reportQuery(cluster: ClusterReader, request: StatsRequest, clock: number) {
  const { report: name, site, parameters, queueKey } = request
  const { range, filters, limit } = parameters
  const report: SiteReport = readable[name]
  const requestedAt = request.now ?? clock
  const today = report.isLive ? undefined : recentToday(site.coverage, requestedAt)
  const cacheKey = JSON.stringify([name, site.id, site.timeZone, site.excludedCountries, range, filters, limit])
  const state = stateOf(site, today)

  function prepare(): (signal: AbortSignal) => Promise<StatsResult> {
    const prepared = prepareQuery(report, site, parameters, requestedAt, today)
    const { query, generatedAt, settled, imported } = prepared
    const warnings = [...prepared.warnings, ...importedRemarks(imported)]
    return async (signal) => {
      const { data, totalRows = 0 } = await report.read(cluster.of(site), query, signal)
      const text = serializers[name](data)
      const meta: Meta = {
        site_id: site.id,
        range: range.name,
        ...(report.limited && { limit }),
        generated_at: generatedAt.toString({ smallestUnit: 'millisecond' }),
      }
      const json = `{"data":${text},"meta":${JSON.stringify(meta)}}`
      return {
        json,
        get data() {
          return JSON.parse(json).data as unknown
        },
        meta,
        identity: identityOf(`${cacheKey} ${text}`),
        period: intervalOf(query.current),
        previousPeriod: report.comparesPeriods ? intervalOf(query.previous) : undefined,
        totalRows: report.limited && totalRows > limit ? totalRows : undefined,
        warnings,
        generatedAt: generatedAt.epochMilliseconds,
        requestedAt,
        state,
        settled,
      }
    }
  }

  return { cacheKey, state, asOf: request.now, isLive: report.isLive ?? false, sites: [site], queueKey, prepare }
}

interface PreparedQuery {
  query: StatsQuery
  /** The current time of the query: when today was last rolled up if that was a moment ago, else when the request came. */
  generatedAt: Temporal.Instant
  /** Whether the query reads settled days only (service.ts). */
  settled: boolean
  warnings: readonly string[]
  imported: readonly ImportedPlan[]
}

/** Decides everything that needs no query: the periods, the plan, and how long the result stays right. */
export function prepareQuery(
  needs: Needs,
  site: StatsSite,
  { range, filters, limit }: StatsParameters,
  requestedAt: number,
  today: TodayRollup | undefined,
): PreparedQuery {
  const { coverage, excludedCountries } = site
  const generatedAt = Temporal.Instant.fromEpochMilliseconds(today?.asOf ?? requestedAt)
  const requested = periodsOf(range, generatedAt.toZonedDateTimeISO(site.timeZone))
  const periods = needs.comparesPeriods ? comparablePeriods(requested, coverage) : requested
  const query = planQuery(
    { siteId: site.id, ...periods, filters, excludedCountries, limit },
    { versions: coverage.versions, today, byDay: needs.byDay ?? false },
  )
  const plans = needs.comparesPeriods ? Object.values(query.plans) : [query.plans.current]
  const imported = needs.isLive ? undefined : importedOf(needs, site, query)
  return {
    query: imported ? { ...query, imported } : query,
    generatedAt,
    // Any event can change a title, whatever the period (decision D-18). A window that ends now keeps moving, even where today
    // was already settled in the time zone that the site had before.
    settled:
      !needs.showsTitles &&
      !needs.isLive &&
      periods.current.end.epochMilliseconds < generatedAt.epochMilliseconds &&
      !plans.some((plan) => readsUnsettledDays(plan, coverage.settledThrough)),
    warnings: periods === requested ? [] : [wholeDay(requested.previous)],
    imported: Object.values(imported ?? {}),
  }
}

function importedOf(
  needs: Needs,
  { coverage, excludedCountries }: StatsSite,
  query: StatsQuery,
): StatsQuery['imported'] {
  if (coverage.imported.length === 0) return undefined
  const { lists = [{ list: 'total', metrics: ['visitors'] }] } = needs
  const isFiltered = Object.keys(query.filters).length > 0
  const plan = (period: Period) =>
    importedPlanOf(coverage, period, { lists, isFiltered, excludedCountries, byHour: false })
  const [current, previous] = [plan(query.current), needs.comparesPeriods && plan(query.previous)]
  return { ...(current && { current }), ...(previous && { previous }) }
}

/** If the events of the previous period's last day were dropped, that period ends with the whole day. */
const comparablePeriods = (periods: Periods, coverage: Coverage): Periods =>
  endsInDroppedDay(periods.previous, coverage) ? { ...periods, previous: withWholeLastDay(periods.previous) } : periods

const wholeDay = ({ lastDay }: Period): string =>
  `the previous period ends with all of ${lastDay}, because single events of that day are no longer kept`

/** The state of a site's days. A result of another state is not fresh. */
export const stateOf = (
  { coverage: { versions, invalidations, imported } }: StatsSite,
  today: TodayRollup | undefined,
): string => JSON.stringify([versions, invalidations, today?.version, imported])

/** Identical for identical texts, and short enough for a header. */
export const identityOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 27)

/** Equal to the time that a response is fresh (service.ts). */
const instantMs = 5_000

/** The last full five seconds. All requests in that time have the same instant, and so share the cache. */
export const sharedInstant = (now: number): number => now - (now % instantMs)

/**
 * The current time for several numbers that must agree: when today was last rolled up if that was a moment ago, else the last full five
 * seconds (decision D-183).
 */
export const instantOf = ({ coverage }: Pick<StatsSite, 'coverage'>, now: number): number =>
  recentToday(coverage, now)?.asOf ?? sharedInstant(now)
