import type { TSchema } from 'typebox'
import type { Range } from '../calendar/periods.ts'
import type { Coverage } from '../rollups/coverage.ts'
import type { ImportedNeeds } from '../rollups/imported-days.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import type { Filters } from '../traffic/conditions.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { Goal } from '../traffic/goals.ts'
import type { StatsQuery } from './daily-metrics.ts'

export interface StatsSite {
  id: string
  /** IANA name. */
  timeZone: string
  excludedCountries: readonly CountryCode[]
  goals: readonly Goal[]
  shard: number
  coverage: Coverage
  /** When events got the columns that `isLater` dimensions have; undefined if the site is younger. UTC milliseconds. */
  detailsSince?: number | undefined
}

export interface StatsParameters {
  range: Range
  filters: Filters
  limit: number
}

/** One endpoint: its summary, the shape of its data, and the statement that reads it. */
export interface Report extends SiteReport {
  summary: string
  /** Details for the reference, in whole sentences. */
  details?: string
}

/** A report about one site: an endpoint, or a part of the dashboard only. */
export interface SiteReport extends Needs {
  /** The shape of `data` (docs/contract.md 2.3). It serialises the response, so no other field gets out. */
  data: TSchema
  /** Whether `limit` applies and is repeated in `meta` (docs/contract.md 8.2). */
  limited: boolean
  read(clickhouse: ClickHouseReader, query: StatsQuery, signal?: AbortSignal): Promise<ReportData>
}

/** What a report requires of the days that it reads. */
export interface Needs {
  /** Whether it needs each day separately, so that it cannot read whole months. */
  byDay?: true
  /** Whether it compares with the previous period. */
  comparesPeriods?: true
  /** The lists of imported sums that it reads, with the numbers that it needs of them. Without it, the sums of the whole site. */
  lists?: ImportedNeeds['lists']
  /** Whether it shows page titles, which any event may change. */
  showsTitles?: true
  /**
   * Whether it is about the current visitors. It reads no rollups. Pages show it without its age, so it is cached for its instant, but not
   * repeated while ClickHouse is down.
   */
  isLive?: true
}

interface ReportData {
  data: unknown
  /** For a list with a limit: the number of rows without the limit. */
  totalRows?: number
}

/** A result that is returned again instead of querying ClickHouse (service.ts). */
export interface Cacheable {
  json: string
  /** The instant up to which events are counted, in UTC milliseconds. */
  generatedAt: number
  /** When the result was requested. Later than generatedAt if today was counted a moment before (decision D-81). */
  requestedAt: number
  /** The state of the site's days at that time. When it changes, the result is no longer fresh. */
  state: string
  /** True when the result covers settled days only: an event can change it only by changing the state too. */
  settled: boolean
  /** Set when ClickHouse is down and this repeats an earlier result: its age in milliseconds. */
  staleMs?: number
}
