// Reads the numbers of a question and puts them into the shape of its answer.
import { type Period, type Range, storedDay } from '../../calendar/periods.ts'
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import { date, ints, join, type Sql, sql, text, texts, uint } from '../../stores/clickhouse-sql.ts'
import { percentChange } from '../rounding.ts'
import { type Metric, printed, printedInSql, type Sums } from './metrics.ts'
import type { Breakdown, RowKey, Timeseries } from './question.ts'
import { type Reader, type Reading, readingOf, refuseDroppedDays } from './sources.ts'
import { aliasOf, hourlySums } from './statements.ts'
import { bucketsOf, hoursOf, type Windows } from './windows.ts'

export interface Answer {
  data: unknown
  /** Rows of a breakdown without limit and cursor. */
  totalRows?: number
  /** The last row of the page, if there are more. */
  last?: RowKey | undefined
}

/** An answer that is decided but not read yet. Whatever refuses the question has happened. */
export interface Prepared {
  readings: readonly Pick<Reading, 'source' | 'settled'>[]
  read(clickhouse: ClickHouseReader, signal: AbortSignal): Promise<Answer>
}

export function prepareAnswer(reader: Reader, windows: Windows): Prepared {
  const { question } = reader
  if (question.kind === 'breakdown') return prepareBreakdown(reader, question, windows)
  if (question.kind === 'timeseries') return prepareTimeseries(reader, question, windows)
  const [current, compared] = readingsOf(reader, windows)
  return {
    readings: [current, ...(compared ? [compared] : [])],
    async read(clickhouse, signal) {
      const [sums, before] = await Promise.all([
        readTotals(clickhouse, reader, current, signal),
        compared && readTotals(clickhouse, reader, compared, signal),
      ])
      return { data: recordOf(question.metrics, sums, before) }
    },
  }
}

const readingsOf = (reader: Reader, { current, compared }: Windows): [Reading, Reading | undefined] => [
  readingOf(reader, current),
  compared && readingOf(reader, compared),
]

/** The printed numbers, and those of the compared window with the change between the two. `null`: there is no window to compare with. */
function recordOf(metrics: readonly Metric[], sums: Sums, before: Sums | null | undefined): object {
  const numbers = numbersOf(metrics, sums)
  if (before === undefined) return numbers
  if (before === null) return { ...numbers, previous: null, change: null }
  const previous = numbersOf(metrics, before)
  const change = Object.fromEntries(
    metrics.map(({ name, decimals = 0 }) => {
      const scale = 10 ** decimals
      const whole = (number: number | undefined) => Math.round((number ?? 0) * scale)
      return [name, percentChange(whole(numbers[name]), whole(previous[name]))]
    }),
  )
  return { ...numbers, previous, change }
}

const numbersOf = (metrics: readonly Metric[], sums: Sums): Record<string, number> =>
  Object.fromEntries(metrics.map((metric) => [metric.name, printed(metric, sums)]))

const summed = (columns: ReadonlySet<string>): Sql =>
  join(
    [...columns].map((column) => sql`sum(${aliasOf(column)}) AS ${aliasOf(column)}`),
    sql`, `,
  )

async function readTotals(
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

function prepareTimeseries(reader: Reader, question: Timeseries, windows: Windows): Prepared {
  const series = (period: Period): [Pick<Reading, 'source' | 'settled'>, SeriesReader] =>
    question.interval === 'hour'
      ? hourSeries(reader, question.range, period)
      : daySeries(reader, question.interval, period)
  const [current, readCurrent] = series(windows.current)
  const [compared, readCompared] = windows.compared ? series(windows.compared) : []
  return {
    readings: [current, ...(compared ? [compared] : [])],
    async read(clickhouse, signal) {
      const [points, before] = await Promise.all([readCurrent(clickhouse, signal), readCompared?.(clickhouse, signal)])
      const data = points.map(({ label, sums }, index) => ({
        ...label,
        ...recordOf(question.metrics, sums, before && (before[index]?.sums ?? null)),
      }))
      return { data }
    },
  }
}

interface Point {
  label: { date: string } | { time: string }
  sums: Sums
}

type SeriesReader = (clickhouse: ClickHouseReader, signal: AbortSignal) => Promise<Point[]>

function daySeries(
  reader: Reader,
  interval: Exclude<Timeseries['interval'], 'hour'>,
  period: Period,
): [Reading, SeriesReader] {
  const { columns } = reader.ask
  const reading = readingOf(reader, period)
  const buckets = bucketsOf(period, interval)
  return [
    reading,
    async (clickhouse, signal) => {
      const rows = await clickhouse.rows<Record<string, number> & { date: string }>(
        sql`SELECT day AS date, ${summed(columns)} FROM ${reading.relation} GROUP BY day`,
        signal,
      )
      const byDay = new Map(rows.map((row) => [row.date, row as Sums]))
      return buckets.map(({ label, days }) => ({
        label: { date: label },
        sums: addUp(
          columns,
          days.map((day) => byDay.get(day) ?? {}),
        ),
      }))
    },
  ]
}

const addUp = (columns: ReadonlySet<string>, rows: readonly Sums[]): Sums =>
  Object.fromEntries(Array.from(columns, (column) => [column, rows.reduce((sum, row) => sum + (row[column] ?? 0), 0)]))

/** Hours are read from events: no other table has the time of a hit. */
function hourSeries(
  { ask, coverage }: Reader,
  range: Range,
  period: Period,
): [Pick<Reading, 'source' | 'settled'>, SeriesReader] {
  const hours = hoursOf(period, range)
  refuseDroppedDays([storedDay(period.firstDay), storedDay(period.lastDay)], coverage)
  const relation = hourlySums(ask, period, hourOf(hours, range, period))
  return [
    { source: 'events', settled: storedDay(period.lastDay) <= (coverage.settledThrough ?? '') },
    async (clickhouse, signal) => {
      const rows = await clickhouse.rows<Record<string, number> & { hour: number }>(
        sql`SELECT hour, ${summed(ask.columns)} FROM ${relation} GROUP BY hour`,
        signal,
      )
      const byHour = new Map(rows.map((row) => [row.hour, row as Sums]))
      return hours.map((hour) => ({
        label: {
          time: hour.toString({ timeZoneName: 'never', smallestUnit: hour.millisecond ? 'millisecond' : 'second' }),
        },
        sums: byHour.get(hour.epochMilliseconds) ?? {},
      }))
    },
  ]
}

/** The beginning of a hit's hour in UTC milliseconds. A hit whose time lies outside its day counts in the nearest hour of the day. */
function hourOf(hours: readonly Temporal.ZonedDateTime[], range: Range, period: Period): Sql {
  const time = sql`toUnixTimestamp64Milli(events.time)`
  const begins = ints(hours.map(({ epochMilliseconds }) => epochMilliseconds))
  if (hours.length === 0) return sql`toInt64(0)`
  if (range.name === '24h') return sql`roundDown(${time}, ${begins})`
  const bounds = [...boundsOfDays(period)]
  const index = sql`dateDiff('day', ${date(storedDay(period.firstDay))}, day) + 1`
  const within = sql`least(greatest(${time}, ${ints(bounds.map(([start]) => start))}[${index}]), ${ints(bounds.map(([, end]) => end - 1))}[${index}])`
  return sql`roundDown(${within}, ${begins})`
}

function* boundsOfDays({ firstDay, lastDay, start }: Period): Generator<readonly [start: number, end: number]> {
  for (let day = firstDay; Temporal.PlainDate.compare(day, lastDay) <= 0; day = day.add({ days: 1 })) {
    const startOf = (one: Temporal.PlainDate) => one.toZonedDateTime(start.timeZoneId).epochMilliseconds
    yield [startOf(day), startOf(day.add({ days: 1 }))]
  }
}

interface Row extends Record<string, string | number> {
  value: string
  total_rows: number
}

function prepareBreakdown(reader: Reader, question: Breakdown, windows: Windows): Prepared {
  const [current, compared] = readingsOf(reader, windows)
  const needsAll = question.metrics.some(({ by }) => by === 'all_visitors')
  return {
    readings: [current, ...(compared ? [compared] : [])],
    async read(clickhouse, signal) {
      const all = async (period: Period | undefined): Promise<Sums> =>
        needsAll && period ? { all_visitors: await readAllVisitors(clickhouse, reader, period, signal) } : {}
      const [ofAll, ofAllBefore] = await Promise.all([all(windows.current), all(windows.compared)])
      const rows = await readRows(clickhouse, reader, question, current, ofAll, signal)
      const before = compared && (await readValues(clickhouse, reader, compared, rows, signal))
      const data = rows.map((row) => ({
        [question.by.name]: row.value === '' ? null : row.value,
        ...recordOf(
          question.metrics,
          { ...countsOf(row), ...ofAll },
          before && { ...countsOf(before.get(row.value)), ...ofAllBefore },
        ),
      }))
      const last = rows.length === question.limit ? rows.at(-1) : undefined
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
  const total: Reader = { ...reader, ask: { ...reader.ask, by: undefined, columns: new Set(['visitors']) } }
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

/** The rows of a page, in order: by the metric of `order`, then by the others descending, then by value (D-25). */
async function readRows(
  clickhouse: ClickHouseReader,
  { ask }: Reader,
  question: Breakdown,
  { relation, isReport }: Reading,
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
  const exists = isReport ? sql`HAVING ${ask.columns.has('visitors') ? sql`visitors` : sql`sum(visitors)`} > 0` : sql``
  return clickhouse.rows<Row>(
    sql`
      SELECT * FROM (
        SELECT *, ${join(keys, sql`, `)}, count() OVER () AS total_rows
        FROM (SELECT value, ${summed(ask.columns)}${join([sql``, ...constants], sql``)} FROM ${relation} GROUP BY value ${exists})
      )
      ${isAfter}
      ORDER BY ${ofRow}
      LIMIT ${uint(limit)}`,
    signal,
  )
}

const orderedMetrics = ({ metrics, order }: Breakdown): Metric[] => [
  metrics[order.metric] as Metric,
  ...metrics.filter((_, index) => index !== order.metric),
]

const keyName = (index: number): Sql => aliasOf(`key_${index}`)

const rowKey = (question: Breakdown, row: Row): RowKey => ({
  numbers: orderedMetrics(question).map((_, index) => row[`key_${index}`] as number),
  value: row.value,
})
