// Reports about many sites. All shards are queried at the same time, each for its own sites.
import { periodsOf } from '../calendar/periods.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { recentToday } from '../rollups/reading.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import type { StatsQuery } from './daily-metrics.ts'
import type { Cacheable, Needs, StatsParameters, StatsSite } from './report.ts'
import { identityOf, instantOf, prepareQuery, sharedInstant, stateOf } from './reports.ts'

/** A report with a row for each site. */
export interface SitesReport<Row extends SiteRow> extends Needs {
  /** The first part of its cache keys. */
  name: string
  serialize(rows: readonly Row[]): string
  /** The rows of these sites, which are all on this shard. */
  read(
    clickhouse: ClickHouseReader,
    queries: readonly SiteQuery[],
    now: number,
    signal: AbortSignal,
  ): Promise<readonly Row[]>
  /** The fields of a row that change only if its numbers do. The identity of a result is made from them. */
  stableFields(row: Row): object
}

export interface SiteRow {
  site_id: string
}

export interface SiteQuery extends StatsQuery {
  domain: string
}

export interface SitesRequest<Row extends SiteRow> {
  report: SitesReport<Row>
  sites: readonly (StatsSite & { domain: string })[]
  parameters: StatsParameters
  queueKey: string
  /** The current time, for numbers that must agree with those of each site alone (`instantOf`). Without it, the time of the request. */
  now?: number
}

export interface SitesResult<Row extends SiteRow> extends Cacheable {
  /** The rows in the order of the sites, as JSON text. */
  json: string
  /** The same as plain values, parsed from `json` on each access. */
  readonly data: readonly Row[]
  /** Identical for identical numbers of the same query, whenever they were computed (decision D-61). */
  identity: string
  warnings: readonly string[]
}

/** What `createStatsService` caches and runs. */
export function sitesQuery<Row extends SiteRow>(cluster: ClusterReader, request: SitesRequest<Row>, clock: number) {
  const { report, sites, parameters, queueKey, now: requestedAt = clock } = request
  const asOf = request.now === undefined ? undefined : sharedInstant(request.now)
  const { range, filters } = parameters
  const decisive = sites.map(({ id, domain, timeZone, excludedCountries }) => [id, domain, timeZone, excludedCountries])
  const cacheKey = identityOf(JSON.stringify([report.name, range, filters, decisive]))
  const dated = sites.map((site) => {
    const at = asOf === undefined ? requestedAt : instantOf(site, requestedAt)
    return { site, at, today: recentToday(site.coverage, at) }
  })
  const state = identityOf(JSON.stringify(dated.map(({ site, today }) => stateOf(site, today))))

  function prepare(): (signal: AbortSignal) => Promise<SitesResult<Row>> {
    const utc = Temporal.Instant.fromEpochMilliseconds(requestedAt).toZonedDateTimeISO('UTC')
    if (sites.length === 0) periodsOf(range, utc) // refuses a range that is too long
    const prepared = dated.map(({ site, at, today }) => ({
      site,
      ...prepareQuery(report, site, parameters, at, today),
    }))
    const warnings = new Set(prepared.flatMap((one) => one.warnings.map((warning) => `for some sites, ${warning}`)))
    // Two hundred sites have more days than a header has room for.
    if (prepared.some(({ imported }) => imported.some(({ read }) => read.length > 0)))
      warnings.add('for some sites, days are imported as daily sums of another product: ask for one site to see which')
    if (prepared.some(({ imported }) => imported.some(({ leftOut }) => leftOut.length > 0)))
      warnings.add('for some sites, imported days are left out: ask for one site to see which')
    const settled = prepared.every((one) => one.settled)
    const byShard = Map.groupBy(prepared, ({ site }) => site.shard)
    return async (signal) => {
      const rowsOfShards = await Promise.all(
        Array.from(byShard, ([shard, some]) => {
          const queries = some.map(({ query, site }) => ({ ...query, domain: site.domain }))
          return report.read(cluster.of({ shard }), queries, requestedAt, signal)
        }),
      )
      const bySite = new Map(rowsOfShards.flat().map((row) => [row.site_id, row]))
      const rows = sites.flatMap(({ id }) => bySite.get(id) ?? [])
      const json = report.serialize(rows)
      return {
        json,
        get data() {
          return JSON.parse(json) as readonly Row[]
        },
        identity: identityOf(`${cacheKey} ${JSON.stringify(rows.map(report.stableFields))}`),
        warnings: [...warnings],
        generatedAt: asOf ?? requestedAt,
        requestedAt,
        state,
        settled,
      }
    }
  }

  return { cacheKey, state, asOf, isLive: report.isLive ?? false, sites, queueKey, prepare }
}
