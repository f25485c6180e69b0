// How long answers take, all questions in turns and each followed by `SELECT 1` over the same connection: the machine is never the
// same twice, the floor is measured where the answers are.
import type { StatsQuery } from '../../src/stats/query.ts'
import { reports } from '../../src/stats/reports.ts'
import type { Statement } from '../../src/stores/clickhouse-sql.ts'
import { seeded } from '../../test/oracle/random.ts'
import type { MeasuringConnection } from '../api/engine-connection.ts'
import { round, type Spread, spreadOf } from '../api/measure.ts'
import { answer } from './answers.ts'
import { nameOf, type Question } from './questions.ts'
import { type DailyValues, type RowsNeeded, rowsNeeded } from './values.ts'

export interface Cell extends Spread {
  site: string
  report: Question['report']
  range: Question['range']
  window: Question['window']
  filter: Question['filter']
  /** Milliseconds of one answer are p10 and median; how many were measured. */
  times: number
  rows: number
  bytes: number
  memory: number
  needed: RowsNeeded
  /** What the engine said when it did not answer. */
  failed?: string
}

export interface Asked {
  question: Question
  query: StatsQuery
  /** Nothing where it is not judged how many rows are read. */
  values: DailyValues
}

export interface LatencyOptions {
  engine: MeasuringConnection
  asked: readonly Asked[]
  /** Begins no round after so long; a round that takes longer is broken off, once each question was asked. */
  seconds: number
  mostRounds: number
  say: (text: string) => void
}

const select1: Statement = { text: 'SELECT 1', parameters: {} }

export async function measureLatency(
  options: LatencyOptions,
): Promise<{ floor: Spread; cells: Cell[]; rounds: number }> {
  const { engine, asked, seconds, mostRounds, say } = options
  const random = seeded('scale')
  const until = performance.now() + seconds * 1_000
  const floor: number[] = []
  const times = new Map<Asked, number[]>(asked.map((one) => [one, []]))
  const costs = new Map<Asked, Pick<Cell, 'rows' | 'bytes' | 'memory' | 'failed'>>()
  const isOver = () => performance.now() > until
  let rounds = 0
  for (; rounds <= mostRounds && (rounds < 2 || !isOver()); rounds++) {
    for (const one of random.sample(asked, asked.length)) {
      if (isOver() && (times.get(one)?.length ?? 0) > 0) continue
      const { milliseconds, ...cost } = await ask(engine, one)
      costs.set(one, cost)
      const before = performance.now()
      await engine.ask(select1)
      // The first round warms up what an engine in use has warm; it counts only where it stays the only one.
      if (rounds === 0 && !isOver()) continue
      floor.push(performance.now() - before)
      times.get(one)?.push(milliseconds)
    }
    const floorNow = floor.length > 0 ? `SELECT 1 ${spreadOf(floor).p10} ms` : 'to warm up'
    say(`round ${rounds} of ${asked.length} questions, ${floorNow}`)
  }
  const cells = asked.map((one): Cell => {
    const { site, report, range, window, filter } = one.question
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

async function ask(engine: MeasuringConnection, { question, query }: Asked) {
  const begin = performance.now()
  try {
    const { milliseconds, rows, bytes, memory } = await answer(engine, reports[question.report], query)
    return { milliseconds, rows, bytes, memory }
  } catch (error) {
    const failed = `${(error as Error).message}`.slice(0, 200)
    return { milliseconds: performance.now() - begin, rows: 0, bytes: 0, memory: 0, failed }
  }
}

export interface Compared {
  site: string
  report: Question['report']
  range: Question['range']
  filter: Question['filter']
  rawMs: number
  rawRows: number
  foldedMs: number
  /** Whether both gave the same answer; null when raw events gave none, and rawMs is how long it was tried. */
  same: boolean | null
}

export interface CompareOptions {
  /** With a limit that lets raw events be read to the end. */
  engine: MeasuringConnection
  /** The same question of folded days and of raw events. */
  pairs: readonly { question: Question; folded: StatsQuery; raw: StatsQuery }[]
  say: (text: string) => void
}

/** Raw events once, folded days three times around it. */
export async function compareWithRaw({ engine, pairs, say }: CompareOptions): Promise<Compared[]> {
  const compared: Compared[] = []
  for (const { question, folded, raw } of pairs) {
    const report = reports[question.report]
    const before = [await answer(engine, report, folded), await answer(engine, report, folded)]
    const began = performance.now()
    const slow = await answer(engine, report, raw).catch((error: Error) => {
      say(`${nameOf(question)} from raw events: ${error.message.slice(0, 200)}`)
      return undefined
    })
    const rawMs = slow?.milliseconds ?? performance.now() - began
    const after = await answer(engine, report, folded)
    const fast = spreadOf([...before, after].map(({ milliseconds }) => milliseconds)).median
    compared.push({
      site: question.site.name,
      report: question.report,
      range: question.range,
      filter: question.filter,
      rawMs: round(rawMs, 1),
      rawRows: slow?.rows ?? 0,
      foldedMs: fast,
      same: slow ? JSON.stringify(slow.data) === JSON.stringify(after.data) : null,
    })
    say(`${nameOf(question)}: raw ${rawMs.toFixed(0)} ms, folded ${fast.toFixed(1)} ms`)
  }
  return compared
}
