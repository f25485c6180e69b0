// The rows of a list, page by page.
import type { Period } from '../../calendar/periods.ts'
import { ApiError } from '../../errors.ts'
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import { isTooLarge } from '../../stores/clickhouse-errors.ts'
import { ints, join, type Sql, sql, text, texts, uint } from '../../stores/clickhouse-sql.ts'
import { type Metric, printedInSql, type Sums } from './metrics.ts'
import type { Breakdown, RowKey } from './question.ts'
import { type Prepared, readingsOf, readTotals, recordOf, summed } from './records.ts'
import { type Reader, type Reading, readingOf } from './sources.ts'
import { aliasOf } from './statements.ts'
import type { Windows } from './windows.ts'

interface Row extends Record<string, string | number> {
  value: string
  total_rows: number
}

export function prepareBreakdown(reader: Reader, question: Breakdown, windows: Windows): Prepared {
  const [current, compared] = readingsOf(reader, windows)
  const needsAll = question.metrics.some(({ by }) => by === 'all_visitors')
  return {
    readings: [current, ...(compared ? [compared] : [])],
    async read(clickhouse, signal) {
      const all = async (period: Period | undefined): Promise<Sums> =>
        needsAll && period ? { all_visitors: await readAllVisitors(clickhouse, reader, period, signal) } : {}
      const [ofAll, ofAllBefore] = await Promise.all([all(windows.current), all(windows.compared)])
      const found = await readRows(clickhouse, reader, question, current, ofAll, signal)
      const rows = found.slice(0, question.limit)
      const before = compared && (await readValues(clickhouse, reader, compared, rows, signal))
      const data = rows.map((row) => ({
        [question.by.name]: row.value === '' ? null : row.value,
        ...recordOf(
          question.metrics,
          { ...countsOf(row), ...ofAll },
          before && { ...countsOf(before.get(row.value)), ...ofAllBefore },
        ),
      }))
      const last = found.length > rows.length ? rows.at(-1) : undefined
      return { data, totalRows: rows[0]?.total_rows ?? 0, last: last && rowKey(question, last) }
    },
  }
}

const countsOf = (row: Row | undefined): Sums => (row ?? {}) as Sums

/** The rate of a goal divides by all visitors of the question, not by those of its row. */
async function readAllVisitors(
  clickhouse: ClickHouseReader,
  reader: Reader,
  period: Period,
  signal: AbortSignal,
): Promise<number> {
  const total: Reader = {
    ...reader,
    ask: { ...reader.ask, by: undefined, columns: new Set(['visitors']) },
    coverage: { ...reader.coverage, imported: [] }, // whose goals nobody knows
  }
  const { visitors = 0 } = await readTotals(clickhouse, total, readingOf(total, period), signal)
  return visitors
}

/** Rows of the compared window with the values of these rows. */
async function readValues(
  clickhouse: ClickHouseReader,
  { ask }: Reader,
  { relation }: Reading,
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<Map<string, Row>> {
  if (rows.length === 0) return new Map()
  const found = await clickhouse.rows<Row>(
    sql`
      SELECT value, ${summed(ask.columns)}
      FROM ${relation}
      WHERE value IN ${texts(rows.map(({ value }) => value))}
      GROUP BY value`,
    signal,
  )
  return new Map(found.map((row) => [row.value, row]))
}

/** The rows of a page and one more, in order: by the metric of `order`, then by the others descending, then by value (D-25). */
async function readRows(
  clickhouse: ClickHouseReader,
  { ask }: Reader,
  question: Breakdown,
  { relation, visits }: Reading,
  ofAll: Sums,
  signal: AbortSignal,
): Promise<Row[]> {
  const { limit, after } = question
  const ordered = orderedMetrics(question)
  const constants = Object.entries(ofAll).map(([name, number]) => sql`, ${uint(number)} AS ${aliasOf(name)}`)
  const keys = ordered.map((metric, index) => {
    const number = printedInSql(metric, aliasOf)
    return sql`${index === 0 && question.order.ascending ? number : sql`-${number}`} AS ${keyName(index)}`
  })
  const position = (numbers: readonly Sql[], value: Sql) =>
    sql`(${join([...numbers, sql`${value} = ''`, value], sql`, `)})`
  const ofRow = position(
    keys.map((_, index) => keyName(index)),
    sql`value`,
  )
  const isAfter = after
    ? sql`WHERE ${ofRow} > ${position(
        after.numbers.map((_, index) => sql`${ints(after.numbers)}[${uint(index + 1)}]`),
        sql`${text(after.value)}`,
      )}`
    : sql``
  // Rows of rollups may cancel each other out: an excluded country is subtracted.
  const exists =
    visits === undefined ? sql`HAVING ${ask.columns.has('visitors') ? sql`visitors` : sql`sum(visitors)`} > 0` : sql``
  const rows = clickhouse.rows<Row>(
    sql`
      SELECT * FROM (
        SELECT *, ${join(keys, sql`, `)}, count() OVER () AS total_rows
        FROM (SELECT value, ${summed(ask.columns)}${join([sql``, ...constants], sql``)} FROM ${relation} GROUP BY value ${exists})
      )
      ${isAfter}
      ORDER BY ${ofRow}
      LIMIT ${uint(limit + 1)}
      SETTINGS max_result_bytes = 32000000`,
    signal,
  )
  return rows.catch((error) => {
    throw isTooLarge(error) ? new ApiError('query_too_expensive', tooLarge) : error
  })
}

/**
 * An API process holds an answer several times before it is sent: 26 MB of CSV took 0.24 GB, and 191 MB, which is 100,000 of the longest
 * paths, 1.2 GB.
 */
const tooLarge = 'The rows of this list have more than 32 MB of text. Ask for fewer rows with limit, or filter it.'

const orderedMetrics = ({ metrics, order }: Breakdown): Metric[] => [
  metrics[order.metric] as Metric,
  ...metrics.filter((_, index) => index !== order.metric),
]

const keyName = (index: number): Sql => aliasOf(`key_${index}`)

const rowKey = (question: Breakdown, row: Row): RowKey => ({
  numbers: orderedMetrics(question).map((_, index) => row[`key_${index}`] as number),
  value: row.value,
})
