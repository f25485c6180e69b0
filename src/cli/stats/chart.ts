// The chart in the terminal: a bar for each day, or for several days if the terminal is too narrow, and a dashed line for the
// previous period.
import { axisText, dayAndMonth, shortMonth } from '../../display/formats.ts'
import { countTicks } from '../../display/scale.ts'
import { type ComparedDay, sumOf } from '../../stats/previous-days.ts'
import { padStart, type Terminal } from '../terminal.ts'

/** The numbers of days that one bar can cover. */
const groups: readonly (readonly [days: number, name: string])[] = [
  [1, 'Visitors by day'],
  [7, 'Visitors per day, mean of each week'],
  [28, 'Visitors per day, mean of each four weeks'],
  [91, 'Visitors per day, mean of each 13 weeks'],
  [364, 'Visitors per day, mean of each 52 weeks'],
  [1_820, 'Visitors per day, mean of each five years'],
]
const widestStep = 10
const eighths = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const dash = '╌'

/** A bar shows the mean of its days, so that bars of one day and of many days have the same scale. */
interface Bar {
  first: Temporal.PlainDate
  value: number
  previous: number | undefined
}

export function chart(days: readonly ComparedDay[], terminal: Terminal, rows: number): string[] {
  if (days.length === 0) return [terminal.dim('This range has not begun yet.')]
  const axis = Math.max(...ticksOf(barsOf(days, 1)).map((tick) => axisText(tick).length))
  const room = terminal.width - axis - 2
  const [size, name] = groups.find(([size]) => Math.ceil(days.length / size) <= room) ?? [days.length, 'Visitors']
  const bars = barsOf(days, size)
  const step = Math.max(1, Math.min(widestStep, Math.floor(room / bars.length)))
  const ticks = ticksOf(bars)
  const rowsPerTick = Math.max(1, Math.round(rows / (ticks.length - 1)))
  const height = rowsPerTick * (ticks.length - 1)
  const unit = (ticks.at(-1) as number) / height
  const lines = Array.from({ length: height }, (_, index) => {
    const row = height - index
    const tick = row % rowsPerTick === 0 ? ticks[row / rowsPerTick] : undefined
    const label = tick === undefined ? `${' '.repeat(axis)} │` : `${padStart(axisText(tick), axis)} ┤`
    return terminal.dim(label) + bars.map((bar) => cellOf(bar, row, unit, step, terminal)).join('')
  })
  const until = days
    .flatMap(({ previous }) => previous)
    .at(-1)
    ?.until?.slice(11, 16)
  const last = until === undefined ? '' : `, its last day until ${until}`
  const legend = bars.some(({ previous }) => previous !== undefined) ? `  ${dash.repeat(2)} before${last}` : ''
  return [
    `${terminal.bold(name)}${terminal.dim(legend)}`,
    ...lines,
    terminal.dim(`${padStart('0', axis)} ┼${'─'.repeat(bars.length * step)}`),
    terminal.dim(`${' '.repeat(axis + 2)}${datesBelow(bars, step)}`),
  ]
}

const ticksOf = (bars: readonly Bar[]): number[] =>
  countTicks(Math.max(...bars.flatMap(({ value, previous = 0 }) => [value, previous])))

/** Groups days from the last one backwards, so that only the first bar can have fewer days. */
function barsOf(days: readonly ComparedDay[], size: number): Bar[] {
  const bars: Bar[] = []
  for (let end = days.length; end > 0; end -= size) {
    const some = days.slice(Math.max(0, end - size), end)
    const before = some.flatMap(({ previous }) => (previous.length > 0 ? sumOf(previous, 'visitors') : []))
    bars.unshift({
      first: Temporal.PlainDate.from((some[0] as ComparedDay).date),
      value: mean(some.map(({ visitors }) => visitors)),
      previous: before.length > 0 ? mean(before) : undefined,
    })
  }
  return bars
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

/** One row of one bar, with the line of the previous period where it runs through. Row 1 is the lowest. */
function cellOf({ value, previous }: Bar, row: number, unit: number, step: number, terminal: Terminal): string {
  const filled = Math.round(Math.min(1, Math.max(0, value / unit - row + 1)) * 8)
  const width = step > 2 ? step - 1 : step
  if (previous && row === Math.max(1, Math.ceil(previous / unit))) {
    const style = filled === 8 ? terminal.onAccent : terminal.warn
    return style(dash.repeat(width)) + terminal.warn(dash.repeat(step - width))
  }
  const block = eighths[row === 1 && value > 0 ? Math.max(1, filled) : filled] as string
  return terminal.accent(block.repeat(width)) + ' '.repeat(step - width)
}

/** As many dates as fit without touching each other. */
function datesBelow(bars: readonly Bar[], step: number): string {
  const [first, last] = [bars[0] as Bar, bars.at(-1) as Bar]
  const text = first.first.until(last.first).days > 366 ? shortMonth : dayAndMonth
  let line = ''
  for (const [index, bar] of bars.entries()) {
    const label = text(bar.first)
    const at = index * step
    const isFree = line === '' ? at === 0 : at >= line.length + 3
    if (isFree && at + label.length <= bars.length * step) line = line.padEnd(at) + label
  }
  return line
}
