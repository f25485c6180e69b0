// The same questions to Footfall, Plausible and Umami: all with tables of their own on one ClickHouse (Umami also on PostgreSQL), filled
// with the same traffic, asked in turn in one run. Answers are compared as well as times.
//   npm run bench:peers                                        a site of a million events, in about five minutes
//   npm run bench:peers -- --events 100000000 [--rounds 5]     the largest site of bench:scale
//   npm run bench:peers -- --write                             puts the result into docs/peers.json and docs/peers.md
// The tables are filled once and kept in the cache folder. Umami's PostgreSQL is asked up to --postgres events.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { peersFiles } from '../../dev/docs/peers-page.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { readOptions } from '../../test/support/options.ts'
import { cpuSeconds, machineTime, round, since, spreadOf } from '../api/measure.ts'
import { untilMerged } from '../rollup/merges.ts'
import { geometricMean } from '../scale/judge.ts'
import { windows } from '../scale/queries.ts'
import { countToday, type RollupCost, rollUp } from '../scale/rollups.ts'
import { makeSite, openWorld, type World } from '../scale/world.ts'
import { difference } from './comparing.ts'
import { footfallSide } from './footfall.ts'
import { plausibleSides } from './plausible.ts'
import {
  type Answer,
  isReport,
  type PeerRange,
  peerRanges,
  type Question,
  questionNames,
  titleOf,
} from './questions.ts'
import type { Cell, PeersResult } from './result.ts'
import type { Side } from './side.ts'
import { umamiSide } from './umami.ts'
import { umamiPostgresSide } from './umami-postgres.ts'

const {
  events,
  rounds,
  postgres: maxOfPostgres,
  write,
} = readOptions('peers', { events: 1_000_000, rounds: 5, postgres: 1_000_000, write: false })

/** At 100 million events, of the nine reports and of filtered questions. */
const minTimes = { reports: 20, filtered: 2 }
const judgedFrom = 100_000_000
/** A statement that takes longer is not repeated. */
const tediousMs = 5_000

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const world = await openWorld({ events, sites: 1, fresh: false, say })
const { clickhouse, state } = world
const [whale] = world.sizes
try {
  const made = await makeSite(world, whale, say)
  const rollup = (await state.once(`roll up ${whale.name}`, () => rollUp(world, whale))) as RollupCost
  const { months, eventsOf30Days } = await traffic()
  say('Writing the same events into the tables of every product')
  const writing = await state.once('wrote events again', () => writeAgain(world, months))
  const footfall = await footfallSide(world, writing)
  const others: Side[] = [
    ...(await plausibleSides(world, { months, eventsOf30Days })),
    await umamiSide(world, months),
    ...(events <= maxOfPostgres ? [await umamiPostgresSide(world)] : []),
  ]
  await untilMerged(clickhouse)
  await countToday(world, whale)
  const sides = [footfall, ...others]
  const machine = machineTime()
  const cells: Cell[] = []
  const unexplained: string[] = []
  for (const range of peerRanges)
    for (const window of windows)
      for (const name of questionNames) {
        const cell = await cellOf({ name, range, window })
        cells.push(cell)
        say(`${cell.question}: ${cell.sides.map(({ name: side, p10 }) => `${side} ${round(p10, 0)} ms`).join(', ')}`)
      }
  const { steal } = since(machine)
  const result: PeersResult = {
    bench: 'peers',
    measuredAt: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: round(totalmem() / 1024 ** 3, 1),
      steal,
    },
    events: made,
    rounds,
    sides: await Promise.all(
      sides.map(async (side) => ({
        name: side.name,
        source: side.source,
        bytesPerEvent: round((await side.bytes()) / made, 1),
        writingMicroseconds: round((1e6 * side.writing) / made, 2),
        ...(side === footfall && { rollingUpMicroseconds: round((1e6 * rollup.cpuSeconds) / made, 2) }),
      })),
    ),
    cells,
    timesFaster: {
      reports: byRange((range) => timesFaster(cells, { range, isReport: true })),
      filtered: byRange((range) => timesFaster(cells, { range, isReport: false })),
    },
    unexplained,
    ok: true,
  }
  const isFast = peerRanges.every(
    (range) =>
      result.timesFaster.reports[range] >= minTimes.reports && result.timesFaster.filtered[range] >= minTimes.filtered,
  )
  result.ok = unexplained.length === 0 && (isFast || events < judgedFrom)
  if (write) {
    const docs = new URL('../../docs/', import.meta.url)
    const before = JSON.parse(readFileSync(new URL('peers.json', docs), 'utf8')) as PeersResult[]
    const all = [...before.filter((one) => sizeOf(one) !== sizeOf(result)), result].sort(
      (one, other) => one.events - other.events,
    )
    writeFileSync(new URL('peers.json', docs), `${JSON.stringify(all)}\n`)
    for (const [name, content] of Object.entries(peersFiles(JSON.stringify(all))))
      writeFileSync(new URL(`../../${name}`, import.meta.url), content)
  }
  console.log(JSON.stringify(result))
  process.exitCode = result.ok ? 0 : 1

  async function cellOf(question: Question): Promise<Cell> {
    const wide = await footfall.askWidely(question)
    const taken = new Map<Side, number[]>()
    const answers = new Map<Side, Answer>()
    for (let round = 0; round < rounds; round++)
      for (const side of sides) {
        const times = taken.get(side) ?? []
        if (times.some((ms) => ms > tediousMs)) continue
        const began = performance.now()
        const asked = side.ask(question)
        if (!asked) continue
        answers.set(side, await asked)
        taken.set(side, [...times, performance.now() - began])
      }
    return {
      question: titleOf(question),
      range: question.range,
      isReport: isReport(question.name),
      sides: [...taken].map(([side, times]) => {
        const { unexplained: without, ...compared } = difference(wide, answers.get(side) as Answer, {
          question: question.name,
          reasons: side.reasons,
        })
        unexplained.push(...without.map((one) => `${side.name}, ${titleOf(question)}: ${one}`))
        return { name: side.name, ...spreadOf(times), ...compared }
      }),
    }
  }
} finally {
  await world.close()
}
process.exit()

/** The months with events, and how many events the last thirty days have. */
async function traffic(): Promise<{ months: string[]; eventsOf30Days: number }> {
  const rows = await clickhouse.rowsPatiently<{ month: string }>(
    sql`SELECT DISTINCT toString(toStartOfMonth(day)) AS month FROM events WHERE site_id = ${text(whale.id)} ORDER BY month`,
  )
  const [row] = await clickhouse.rowsPatiently<{ count: number }>(sql`
    SELECT count() AS count FROM events
    WHERE site_id = ${text(whale.id)} AND day > (SELECT max(day) FROM events WHERE site_id = ${text(whale.id)}) - 30`)
  return { months: rows.map(({ month }) => month), eventsOf30Days: row?.count ?? 0 }
}

/** What it costs Footfall to write its events, in the same way as the others: from a table into one of the same definition. */
async function writeAgain({ clickhouseServer }: World, months: readonly string[]): Promise<number> {
  await clickhouse.command('DROP TABLE IF EXISTS events_again SYNC')
  await clickhouse.command('CREATE TABLE events_again AS events')
  const before = cpuSeconds(clickhouseServer.pid)
  for (const month of months)
    await clickhouse.run(
      sql`INSERT INTO events_again SELECT * FROM events WHERE site_id = ${text(whale.id)} AND toStartOfMonth(day) = toDate(${text(month)})`,
    )
  const taken = cpuSeconds(clickhouseServer.pid) - before
  await clickhouse.command('DROP TABLE events_again SYNC')
  return round(taken, 1)
}

/** Geometric means over the questions: how many times longer the fastest other product takes, be its answer exact or sampled. */
function timesFaster(cells: readonly Cell[], of: { range: PeerRange; isReport: boolean }): number {
  const ratios = cells
    .filter(({ range, isReport }) => range === of.range && isReport === of.isReport)
    .flatMap(({ sides: [own, ...rest] }) =>
      own && rest.length > 0 ? [Math.min(...rest.map(({ p10 }) => p10)) / own.p10] : [],
    )
  return round(geometricMean(ratios), 2)
}

function byRange(of: (range: PeerRange) => number): Record<PeerRange, number> {
  return { '30d': of('30d'), '12m': of('12m') }
}

/** Results of about the same size replace each other. */
function sizeOf({ events: count }: PeersResult): number {
  return Math.round(Math.log10(count))
}
