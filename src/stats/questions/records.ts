// What all answers share: their records of printed numbers, and how sums are read.
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import { join, type Sql, sql } from '../../stores/clickhouse-sql.ts'
import { changesBetween, type Metric, printed, type Sums } from './metrics.ts'
import type { RowKey } from './question.ts'
import { type Reader, type Reading, readingOf } from './sources.ts'
import { aliasOf } from './statements.ts'
import type { Windows } from './windows.ts'

interface Answer {
  data: unknown
  /** Rows of a breakdown without limit and cursor. */
  totalRows?: number
  /** The last row of the page, if there are more. */
  last?: RowKey | undefined
}

/** An answer that is decided but not read yet. Whatever refuses the question has happened. */
export interface Prepared {
  readings: readonly Pick<Reading, 'source' | 'settled' | 'visits' | 'imported'>[]
  read(clickhouse: ClickHouseReader, signal: AbortSignal): Promise<Answer>
}

export const readingsOf = (reader: Reader, { current, compared }: Windows): [Reading, Reading | undefined] => [
  readingOf(reader, current),
  compared && readingOf(reader, compared),
]

/** The printed numbers, and those of the compared window with the change between the two. `null`: there is no window to compare with. */
export function recordOf(metrics: readonly Metric[], sums: Sums, before: Sums | null | undefined): object {
  const numbers = numbersOf(metrics, sums)
  if (before === undefined) return numbers
  if (before === null) return { ...numbers, previous: null, change: null }
  const previous = numbersOf(metrics, before)
  return { ...numbers, previous, change: changesBetween(metrics, numbers, previous) }
}

const numbersOf = (metrics: readonly Metric[], sums: Sums): Record<string, number> =>
  Object.fromEntries(metrics.map((metric) => [metric.name, printed(metric, sums)]))

export const summed = (columns: ReadonlySet<string>): Sql =>
  join(
    [...columns].map((column) => sql`sum(${aliasOf(column)}) AS ${aliasOf(column)}`),
    sql`, `,
  )

export async function readTotals(
  clickhouse: ClickHouseReader,
  { ask }: Reader,
  { relation }: Reading,
  signal: AbortSignal,
): Promise<Sums> {
  const [row] = await clickhouse.rows<Record<string, number>>(
    sql`SELECT ${summed(ask.columns)} FROM ${relation}`,
    signal,
  )
  return row ?? {}
}
