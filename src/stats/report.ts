import type { TSchema } from 'typebox'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import type { StatsQuery } from './query.ts'

/** One endpoint: what it answers, in which shape, and the statement that finds it. */
export interface Report {
  summary: string
  /** The shape of `data` (docs/contract.md 2.3); it serialises the answer, so nothing else can get out. */
  data: TSchema
  /** Whether `limit` applies and is repeated in `meta` (docs/contract.md 8.2). */
  limited: boolean
  read(clickhouse: ClickHouseReader, query: StatsQuery, signal?: AbortSignal): Promise<Found>
}

export interface Found<Data = unknown> {
  data: Data
  /** Of a list with a limit: how many rows there are without it. */
  totalRows?: number
}
