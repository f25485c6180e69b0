// The limits. A figure that depends on the size of the site is judged only for the whale, and stated for other sizes.
import { round } from '../api/measure.ts'
import type { Cell, Compared } from './latency.ts'
import type { Judgement, Measured } from './result.ts'

/** Demo traffic is within a few percent of the requested number. */
const whaleEvents = 95_000_000
const GiB = 1024 ** 3

/** Reports whose number of values per day does not grow with traffic. */
const constantReports = ['overview', 'timeseries', 'channels', 'devices']

export const isWhale = ({ sizes }: Pick<Measured, 'sizes'>): boolean => sizes.whale >= whaleEvents

export function judge(measured: Measured): Judgement[] {
  const { cells, floor, compared, limits, throughput, rollups, bytes, columns, sizes, tiny } = measured
  const onWhale = isWhale(measured)
  const judgements: Judgement[] = []
  const most = (name: string, value: number, bound: number, judged = true) =>
    judgements.push({ name, value: round(value, 3), bound: `<= ${bound}`, ok: judged ? value <= bound : null })
  const least = (name: string, value: number, bound: number, judged = true) =>
    judgements.push({ name, value: round(value, 3), bound: `>= ${bound}`, ok: judged ? value >= bound : null })
  const state = (name: string, value: number) =>
    judgements.push({ name, value: round(value, 3), bound: 'stated', ok: null })

  const whale = cells.filter(({ site }) => site === 'whale')
  const timesFloor = (cell: Cell) => cell.p10 / floor.p10
  most('answers against SELECT 1, geometric mean of p10', geometricMean(whale.map(timesFloor)), 5)
  for (const window of ['yesterday', 'today']) {
    const some = whale.filter((cell) => cell.window === window)
    state(`the same, windows that end ${window}`, geometricMean(some.map(timesFloor)))
  }
  const isLong = ({ report }: Cell) => report === 'pages' || report === 'referrers'
  most('slowest answer against SELECT 1, pages and referrers', largest(whale.filter(isLong), timesFloor), 40)
  most(
    'slowest answer against SELECT 1, others',
    largest(
      whale.filter((cell) => !isLong(cell)),
      timesFloor,
    ),
    20,
  )
  most('queries ClickHouse did not answer', cells.filter(({ failed }) => failed).length, 0)
  most(
    'rows read against rows needed, most',
    largest(whale, (cell) => cell.rows / rowsAllowed(cell, measured)),
    1,
  )

  most('answers that differ from raw events', compared.filter(({ same }) => same === false).length, 0)
  const againstRaw = (range: string) =>
    geometricMean(compared.filter((one) => one.site === 'whale' && one.range === range).map(timesFaster))
  least('raw events against rollups, 30d', againstRaw('30d'), 15, onWhale)
  least('raw events against rollups, 12m', againstRaw('12m'), 100, onWhale)
  most('growth of latency with a hundred times the traffic, most', largestGrowth(cells), 2, onWhale)

  most('slowest accepted request, seconds', limits.slowestMs / 1_000, 2)
  most('memory of an accepted request, GiB', limits.memory / GiB, 1)
  most('accepted requests that were not answered', limits.refused.length, 0)

  for (const window of ['yesterday', 'today'] as const) {
    const { bare, api, cached, failed } = throughput[window]
    most(`requests under load that were not answered, end ${window}`, failed, 0)
    least(`answers/s against the bare ClickHouse, cache off, end ${window}`, api / bare, 0.8)
    if (window === 'yesterday') least(`the same, cache on, end ${window}`, cached / bare, 5)
    else state(`the same, cache on, end ${window}`, cached / bare)
  }
  // With little traffic almost every event needs its own rollup rows; with much traffic, events share them.
  most('rolling up, microseconds of CPU per event', (rollups.whale.cpuSeconds * 1e6) / sizes.whale, 12, onWhale)
  most('bytes of an event with many tags and properties', columns.total, 32, onWhale)
  most('bytes of rollups against bytes of events', bytes.rolledUp / bytes.raw, 1, onWhale)
  state('tiny site against SELECT 1, geometric mean of p10', tiny.ratio)
  state('tiny site, rollup rows per event', tiny.rollupRows / tiny.events)
  return judgements
}

/** A range is read in granules: in each part, one before its first row and one after its last. */
export function rowsAllowed({ needed, filter, report }: Cell, { parts }: Pick<Measured, 'parts'>): number {
  const groupingSets = filter === 'excluded' ? 3 : 1
  const ranges = report === 'overview' || report === 'channels' ? 2 : 1
  const edges = (count: number, granule: number) => 2 * ranges * count * granule
  const events = needed.raw > 0 ? edges(parts.events, parts.granule.events) : 0
  const found = report === 'pages' || report === 'referrers' ? parts.long : parts.short
  return needed.rolledUp + needed.raw + edges(Math.max(groupingSets * found, 1), parts.granule.rolledUp) + events
}

const timesFaster = ({ rawMs, rolledUpMs }: Compared): number => rawMs / rolledUpMs

function largestGrowth(cells: readonly Cell[]): number {
  const ratios = cells
    .filter(({ site, report, filter }) => site === 'whale/100' && filter === 'none' && constantReports.includes(report))
    .map((small) => {
      const large = cells.find(
        (cell) =>
          cell.site === 'whale' &&
          cell.filter === 'none' &&
          (['report', 'range', 'window'] as const).every((key) => cell[key] === small[key]),
      )
      return large ? large.p10 / small.p10 : 0
    })
  return Math.max(0, ...ratios)
}

const largest = (cells: readonly Cell[], of: (cell: Cell) => number): number => Math.max(0, ...cells.map(of))

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
