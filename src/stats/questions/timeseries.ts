// Numbers of every hour, day, week or month of a window.
import type { DayRange } from '../../calendar/days.ts'
import { type Period, type Range, storedDay } from '../../calendar/periods.ts'
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import { date, ints, type Sql, sql } from '../../stores/clickhouse-sql.ts'
import { hourlySums } from './hourly-sums.ts'
import type { Sums } from './metrics.ts'
import type { Timeseries } from './question.ts'
import { type Prepared, recordOf, summed } from './records.ts'
import { importedOf, type Reader, type Reading, readingOf, refuseDroppedDays } from './sources.ts'
import { bucketsOf, hoursOf, type Windows } from './windows.ts'

export function prepareTimeseries(reader: Reader, question: Timeseries, windows: Windows): Prepared {
  const series = (period: Period): [Pick<Reading, 'source' | 'settled' | 'visits' | 'imported'>, SeriesReader] =>
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
  reader: Reader,
  range: Range,
  period: Period,
): [Pick<Reading, 'source' | 'settled' | 'visits' | 'imported'>, SeriesReader] {
  const { ask, coverage } = reader
  const hours = hoursOf(period, range)
  const days: DayRange = [storedDay(period.firstDay), storedDay(period.lastDay)]
  refuseDroppedDays(days, coverage)
  const relation = hourlySums(ask, period, hourOf(hours, range, period))
  return [
    {
      source: 'events',
      visits: { sessions: [], events: [days] },
      settled: days[1] <= (coverage.settledThrough ?? ''),
      imported: importedOf(reader, period),
    },
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
