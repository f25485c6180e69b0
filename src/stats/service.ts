// The one way to read statistics: periods, plan, fair queue, cache and coalescing for every caller. It knows no HTTP and no
// accounts; a site arrives as plain data.
import fastJson from 'fast-json-stringify'
import { intervalOf, type Periods, periodsOf, type RangeName, type rollingDays } from '../calendar/periods.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import type { TodayRollup } from '../rollups/coverage.ts'
import { recentToday } from '../rollups/plan.ts'
import type { Scope } from '../rollups/reading.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import type { Filters } from '../traffic/conditions.ts'
import { createAnswers, type Given, identityOf } from './answers.ts'
import { createFairQueues } from './fair-queue.ts'
import { type PreparedQuery, prepare, type StatsParameters, type StatsSite } from './prepared-query.ts'
import { comparablePeriods, planQuery, type StatsQuery } from './query.ts'
import { type Hour, readCurrentVisitors, readHours } from './recent-events.ts'
import type { Report } from './report.ts'
import { type ReportName, reports } from './reports.ts'
import type { Cacheable } from './response-cache.ts'
import { readSummaries, type SiteSummary } from './site-summaries.ts'
import { readSitesOverview, serializeSitesOverview } from './sites-overview.ts'

export type { StatsParameters, StatsSite } from './prepared-query.ts'

export interface StatsService {
  /** The signal aborts the wait for a turn, and the query itself when nobody else waits for the same one. */
  read(request: StatsRequest, signal: AbortSignal): Promise<StatsResult>
  /** The hours of a period of 24 hours. */
  readHours(request: LiveRequest & { period: keyof Periods }, signal: AbortSignal): Promise<Hour[]>
  /** The visitors of the last five minutes. */
  readCurrentVisitors(request: LiveRequest, signal: AbortSignal): Promise<number>
  /** The visitors of many sites, by site id. */
  readSummaries(request: SummariesRequest, signal: AbortSignal): Promise<Map<string, SiteSummary>>
  /** The overview of many sites, in their order. */
  readSitesOverview(request: SitesRequest, signal: AbortSignal): Promise<SitesResult>
}

interface StatsRequest {
  report: ReportName
  site: StatsSite
  parameters: StatsParameters
  /** Whose turn it is in the fair queue, for example the id of an API key. */
  queueKey: string
  /** The current time of the query, for numbers that must agree with others: `instantOf`. Without it, the time of the request. */
  now?: number
}

/** What no report has: it is read from the events of the last hours. */
interface LiveRequest {
  site: StatsSite
  filters: Filters
  queueKey: string
  now: number
}

interface SummariesRequest {
  sites: readonly StatsSite[]
  range: { name: keyof typeof rollingDays }
  queueKey: string
  now: number
}

interface SitesRequest {
  sites: readonly (StatsSite & { domain: string })[]
  parameters: StatsParameters
  queueKey: string
}

interface SitesResult {
  /** `data` as JSON text. */
  json: string
  /** Identical for identical numbers of the same query, whenever they were computed (decision D-61). */
  identity: string
  generatedAt: number
  warnings: readonly string[]
  staleMs: number | undefined
}

export interface StatsResult extends Answer {
  /** The report's data as a plain value, parsed from `json` on each access. */
  readonly data: unknown
  /** Set when ClickHouse is down and this repeats an earlier result: its age in milliseconds. */
  staleMs: number | undefined
}

interface Answer {
  /** `{ data, meta }` as JSON text (docs/contract.md 2.1). Serialised once and cached as text. */
  json: string
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

type CachedAnswer = Answer & Cacheable

export interface StatsServiceOptions {
  cluster: ClusterReader
  /** UTC milliseconds. */
  now(): number
  /** Memory for cached results. With 0 every request queries ClickHouse. */
  cacheBytes: number
}

export function createStatsService({ cluster, now, cacheBytes }: StatsServiceOptions): StatsService {
  const queueOf = createFairQueues()
  const answers = createAnswers(now, cacheBytes)

  return {
    async read(request, signal) {
      const askedAt = request.now ?? now()
      const today = recentToday(request.site.coverage, askedAt)
      const cacheKey = cacheKeyOf(request)
      const state = stateOf(request.site, today)
      const ask = () => {
        const prepared = prepare(request, askedAt, today)
        return async (abandoned: AbortSignal): Promise<CachedAnswer> => {
          const answer = await runReport(cluster.of(request.site), request, prepared, cacheKey, abandoned)
          const { generatedAt, settled } = prepared
          return { ...answer, generatedAt: generatedAt.epochMilliseconds, askedAt, state, settled }
        }
      }
      const { queueKey } = request
      const queue = queueOf([request.site])
      return resultOf(await answers.give({ cacheKey, state, queue, queueKey, now: request.now }, ask, signal))
    },
    readHours({ site, filters, queueKey, now, period }, signal) {
      const periods = periodsOf({ name: '24h' }, localTime(site, now))
      return queueOf([site]).take(queueKey, signal, () =>
        readHours(cluster.of(site), scopeOf(site, filters), periods[period], signal),
      )
    },
    readCurrentVisitors({ site, filters, queueKey, now }, signal) {
      const scope = scopeOf(site, filters)
      return queueOf([site]).take(queueKey, signal, () =>
        readCurrentVisitors(cluster.of(site), scope, localTime(site, now), signal),
      )
    },
    async readSummaries({ sites, range, queueKey, now }, signal) {
      if (sites.length === 0) return new Map()
      const queries = sites.map((site) => ({ ...summaryQuery(site, range, now), site }))
      const found = await queueOf(sites).take(queueKey, signal, () =>
        ofEachShard(cluster, queries, (clickhouse, some) => readSummaries(clickhouse, some, now, signal)),
      )
      return new Map(found.flatMap((some) => [...some]))
    },
    async readSitesOverview({ sites, parameters, queueKey }, signal) {
      const askedAt = now()
      const { range, filters } = parameters
      const decisive = sites.map(({ id, domain, timeZone, excludedCountries }) => [
        id,
        domain,
        timeZone,
        excludedCountries,
      ])
      const cacheKey = identityOf(JSON.stringify(['sites', range, filters, decisive]))
      const todayOf = ({ coverage }: StatsSite) => recentToday(coverage, askedAt)
      const state = identityOf(JSON.stringify(sites.map((site) => stateOf(site, todayOf(site)))))
      const ask = () => {
        if (sites.length === 0) periodsOf(range, localTime({ timeZone: 'UTC' }, askedAt)) // refuses a range that is too long
        const prepared = sites.map((site) => prepare({ report: 'overview', site, parameters }, askedAt, todayOf(site)))
        const queries = prepared.map(({ query }, index) => {
          const site = sites[index] as (typeof sites)[number]
          return { ...query, domain: site.domain, site }
        })
        const warnings = new Set(prepared.flatMap((one) => one.warnings.map((warning) => `for some sites, ${warning}`)))
        const settled = prepared.every((one) => one.settled)
        return async (abandoned: AbortSignal) => {
          const found = await ofEachShard(cluster, queries, (clickhouse, some) =>
            readSitesOverview(clickhouse, some, abandoned),
          )
          const bySite = new Map(found.flat().map((row) => [row.site_id, row]))
          const rows = queries.flatMap(({ siteId }) => bySite.get(siteId) ?? [])
          // A period that ends now moves without any change of the numbers.
          const unmoved = rows.map(({ period, ...row }) => ({ ...row, start: period.start }))
          const identity = identityOf(`${cacheKey} ${JSON.stringify(unmoved)}`)
          return {
            json: serializeSitesOverview(rows),
            identity,
            warnings: [...warnings],
            generatedAt: askedAt,
            askedAt,
            state,
            settled,
          }
        }
      }
      const { found, staleMs } = await answers.give({ cacheKey, state, queue: queueOf(sites), queueKey }, ask, signal)
      return { ...found, staleMs }
    },
  }
}

/** Asks every shard for its own sites, all at once. */
const ofEachShard = <Query extends { site: StatsSite }, Found>(
  cluster: ClusterReader,
  queries: readonly Query[],
  read: (clickhouse: ClickHouseReader, some: readonly Query[]) => Promise<Found>,
): Promise<Found[]> =>
  Promise.all(
    Array.from(
      Map.groupBy(queries, ({ site }) => site.shard),
      ([shard, some]) => read(cluster.of({ shard }), some),
    ),
  )

/** Of the same instant as the dashboard of the site. */
function summaryQuery(site: StatsSite, range: SummariesRequest['range'], now: number): StatsQuery {
  const { coverage } = site
  const asOf = instantOf(site, now)
  const periods = comparablePeriods(periodsOf(range, localTime(site, asOf)), coverage)
  return planQuery(
    { ...scopeOf(site, {}), ...periods, limit: 0 },
    { versions: coverage.versions, today: recentToday(coverage, asOf), byDay: true },
  )
}

const localTime = ({ timeZone }: Pick<StatsSite, 'timeZone'>, now: number): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)

const scopeOf = ({ id, excludedCountries }: StatsSite, filters: Filters): Scope => ({
  siteId: id,
  filters,
  excludedCountries,
})

/** Shared by all who ask within it, so that they share the cache too. As long as a response is fresh (response-cache.ts). */
const instantMs = 5_000

/**
 * The current time for several numbers that must agree: when today was last rolled up if that was a moment ago, else the last full five
 * seconds (decision D-183).
 */
export const instantOf = ({ coverage }: Pick<StatsSite, 'coverage'>, now: number): number =>
  recentToday(coverage, now)?.asOf ?? now - (now % instantMs)

/** Everything that decides the numbers, except the time and the state of the site's days. Who asks does not matter. */
const cacheKeyOf = ({ report, site, parameters: { range, filters, limit } }: StatsRequest): string =>
  JSON.stringify([report, site.id, site.timeZone, site.excludedCountries, range, filters, limit])

const stateOf = ({ coverage: { versions, invalidations } }: StatsSite, today: TodayRollup | undefined): string =>
  JSON.stringify([versions, invalidations, today?.version])

const resultOf = ({ found, staleMs }: Given<CachedAnswer>): StatsResult => ({
  ...found,
  staleMs,
  get data() {
    return JSON.parse(found.json).data as unknown
  },
})

async function runReport(
  clickhouse: ClickHouseReader,
  { report: name, site, parameters }: StatsRequest,
  { query, generatedAt, warnings }: PreparedQuery,
  cacheKey: string,
  signal: AbortSignal,
): Promise<Answer> {
  const report: Report = reports[name]
  const { data, totalRows = 0 } = await report.read(clickhouse, query, signal)
  const text = serializers[name](data)
  const meta: Meta = {
    site_id: site.id,
    range: parameters.range.name,
    ...(report.limited && { limit: parameters.limit }),
    generated_at: generatedAt.toString({ smallestUnit: 'millisecond' }),
  }
  return {
    json: `{"data":${text},"meta":${JSON.stringify(meta)}}`,
    meta,
    identity: identityOf(`${cacheKey} ${text}`),
    period: intervalOf(query.current),
    previousPeriod: report.comparesPeriods ? intervalOf(query.previous) : undefined,
    totalRows: report.limited && totalRows > parameters.limit ? totalRows : undefined,
    warnings,
  }
}

/** Each report's own schema writes its data, so nothing else can get out. */
const serializers = Object.fromEntries(
  Object.entries(reports).map(([name, { data }]) => [name, fastJson(data as fastJson.Schema)]),
) as Record<ReportName, (data: unknown) => string>
