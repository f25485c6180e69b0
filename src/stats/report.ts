import type { TSchema } from 'typebox'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import type { StatsQuery } from './query.ts'

/** One endpoint: its summary, the shape of its data, and the statement that reads it. */
export interface Report {
  summary: string
  /** What a reader should know beyond the summary, in whole sentences. */
  details?: string
  /** The shape of `data` (docs/contract.md 2.3). It serialises the response, so nothing else can get out. */
  data: TSchema
  /** Whether `limit` applies and is repeated in `meta` (docs/contract.md 8.2). */
  limited: boolean
  /** Whether it needs each day separately, so that it cannot read whole months. */
  byDay?: true
  /** Whether it compares with the previous period. */
  comparesPeriods?: true
  /** Whether it shows page titles, which any event may change. */
  showsTitles?: true
  read(clickhouse: ClickHouseReader, query: StatsQuery, signal?: AbortSignal): Promise<Found>
}

export interface Found<Data = unknown> {
  data: Data
  /** For a list with a limit: the number of rows without the limit. */
  totalRows?: number
}
