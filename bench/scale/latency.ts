// Response times. All queries run in turn, and each is followed by `SELECT 1` on the same connection: the load of a machine always
// changes, so the floor is measured next to the responses.
import type { StatsQuery } from '../../src/stats/daily-metrics.ts'
import { reports } from '../../src/stats/reports.ts'
import type { Statement } from '../../src/stores/clickhouse-sql.ts'
import { seeded } from '../../test/support/random.ts'
import type { MeasuringConnection } from '../api/clickhouse-connection.ts'
import { round, type Spread, spreadOf } from '../api/measure.ts'
import { answer } from './answers.ts'
import { type BenchQuery, nameOf } from './queries.ts'
import { type DailyValues, type RowsNeeded, rowsNeeded } from './values.ts'

export interface Cell extends Spread {
  site: string
  report: BenchQuery['report']
  range: BenchQuery['range']
  window: BenchQuery['window']
  filter: BenchQuery['filter']
  /** p10 and median are milliseconds of one response; `times` is the number of measurements. */
  times: number
  rows: number
  bytes: number
  memory: number
  needed: RowsNeeded
  /** The error of ClickHouse when the query failed. */
  failed?: string
}

export interface Asked {
  benchQuery: BenchQuery
  query: StatsQuery
  /** Empty where the number of rows read is not judged. */
  values: DailyValues
}

export interface LatencyOptions {
  clickhouse: MeasuringConnection
  asked: readonly Asked[]
  /** No round begins after this time. A round that takes longer is stopped once each query has run. */
  seconds: number
  maxRounds: number
  say: (text: string) => void
}

const select1: Statement = { text: 'SELECT 1', parameters: {} }

export async function measureLatency(
  options: LatencyOptions,
): Promise<{ floor: Spread; cells: Cell[]; rounds: number }> {
  const { clickhouse, asked, seconds, maxRounds, say } = options
  const random = seeded('scale')
  const until = performance.now() + seconds * 1_000
  const floor: number[] = []
  const times = new Map<Asked, number[]>(asked.map((one) => [one, []]))
  const costs = new Map<Asked, Pick<Cell, 'rows' | 'bytes' | 'memory' | 'failed'>>()
  const isOver = () => performance.now() > until
  let rounds = 0
  for (; rounds <= maxRounds && (rounds < 2 || !isOver()); rounds++) {
    for (const one of random.sample(asked, asked.length)) {
      if (isOver() && (times.get(one)?.length ?? 0) > 0) continue
      const { milliseconds, ...cost } = await ask(clickhouse, one)
      costs.set(one, cost)
      const before = performance.now()
      await clickhouse.ask(select1)
      // The first round warms up caches as in a running ClickHouse. It counts only if it stays the only one.
      if (rounds === 0 && !isOver()) continue
      floor.push(performance.now() - before)
      times.get(one)?.push(milliseconds)
    }
    const floorNow = floor.length > 0 ? `SELECT 1 ${spreadOf(floor).p10} ms` : 'warm-up'
    say(`round ${rounds} of ${asked.length} queries, ${floorNow}`)
  }
  const cells = asked.map((one): Cell => {
    const { site, report, range, window, filter } = one.benchQuery
    const measured = times.get(one) ?? []
    return {
      site: site.name,
      report,
      range,
      window,
      filter,
      ...spreadOf(measured),
      times: measured.length,
      ...(costs.get(one) ?? { rows: 0, bytes: 0, memory: 0, failed: 'not asked' }),
      needed: rowsNeeded(one.values, report, filter, one.query),
    }
  })
  return { floor: spreadOf(floor), cells, rounds: rounds - 1 }
}

async function ask(clickhouse: MeasuringConnection, { benchQuery, query }: Asked) {
  const begin = performance.now()
  try {
    const { milliseconds, rows, bytes, memory } = await answer(clickhouse, reports[benchQuery.report], query)
    return { milliseconds, rows, bytes, memory }
  } catch (error) {
    const failed = `${(error as Error).message}`.slice(0, 200)
    return { milliseconds: performance.now() - begin, rows: 0, bytes: 0, memory: 0, failed }
  }
}

export interface Compared {
  site: string
  report: BenchQuery['report']
  range: BenchQuery['range']
  filter: BenchQuery['filter']
  rawMs: number
  rawRows: number
  rolledUpMs: number
  /** Whether both gave the same response; null when raw events gave none, and then rawMs is the time of the attempt. */
  same: boolean | null
}

export interface CompareOptions {
  /** With a time limit that allows reading all raw events. */
  clickhouse: MeasuringConnection
  /** The same query on rolled-up days and on raw events. */
  pairs: readonly { benchQuery: BenchQuery; rolledUp: StatsQuery; raw: StatsQuery }[]
  say: (text: string) => void
}

/** Queries raw events once, and rollups three times around it. */
export async function compareWithRaw({ clickhouse, pairs, say }: CompareOptions): Promise<Compared[]> {
  const compared: Compared[] = []
  for (const { benchQuery, rolledUp, raw } of pairs) {
    const report = reports[benchQuery.report]
    const before = [await answer(clickhouse, report, rolledUp), await answer(clickhouse, report, rolledUp)]
    const began = performance.now()
    const slow = await answer(clickhouse, report, raw).catch((error: Error) => {
      say(`${nameOf(benchQuery)} from raw events: ${error.message.slice(0, 200)}`)
      return undefined
    })
    const rawMs = slow?.milliseconds ?? performance.now() - began
    const after = await answer(clickhouse, report, rolledUp)
    const fast = spreadOf([...before, after].map(({ milliseconds }) => milliseconds)).median
    compared.push({
      site: benchQuery.site.name,
      report: benchQuery.report,
      range: benchQuery.range,
      filter: benchQuery.filter,
      rawMs: round(rawMs, 1),
      rawRows: slow?.rows ?? 0,
      rolledUpMs: fast,
      same: slow ? JSON.stringify(slow.data) === JSON.stringify(after.data) : null,
    })
    say(`${nameOf(benchQuery)}: raw ${rawMs.toFixed(0)} ms, rolled up ${fast.toFixed(1)} ms`)
  }
  return compared
}
