// The chart in the terminal: a bar for each interval, or for several if the terminal is too narrow, and a dashed line for the
// previous period.
import { axisText, dayAndMonth, shortMonth } from '../../display/formats.ts'
import { countTicks } from '../../display/scale.ts'
import { type ComparedDay, sumOf } from '../../stats/previous-days.ts'
import type { Interval } from '../../stats/questions/question.ts'
import { padStart, type Terminal } from '../terminal.ts'

export interface Series {
  /** `Visitors` */
  name: string
  interval: Interval
  points: readonly Point[]
  /** The time of day until which the last point of the previous period counts. */
  until?: string | undefined
}

/** A bar shows the mean of its points, so that bars of one day and of many days have the same scale. */
export interface Point {
  at: Temporal.PlainDateTime
  value: number
  previous: number | undefined
}

/** The numbers of points that one bar can cover. */
const groups: Readonly<Record<Interval, readonly (readonly [points: number, name: string])[]>> = {
  hour: [
    [1, 'by hour'],
    [24, 'per hour, mean of each 24 hours'],
  ],
  day: [
    [1, 'by day'],
    [7, 'per day, mean of each week'],
    [28, 'per day, mean of each four weeks'],
    [91, 'per day, mean of each 13 weeks'],
    [364, 'per day, mean of each 52 weeks'],
    [1_820, 'per day, mean of each five years'],
  ],
  week: [
    [1, 'by week'],
    [4, 'per week, mean of each four'],
    [52, 'per week, mean of each 52'],
  ],
  month: [
    [1, 'by month'],
    [12, 'per month, mean of each twelve'],
    [60, 'per month, mean of each five years'],
  ],
}
const widestStep = 10
const eighths = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const dash = '╌'

/** The chart of the days of a site. */
export function chart(days: readonly ComparedDay[], terminal: Terminal, rows: number): string[] {
  const last = days.flatMap(({ previous }) => previous).at(-1)
  const points = days.map(({ date, visitors, previous }) => ({
    at: Temporal.PlainDateTime.from(date),
    value: visitors,
    previous: previous.length > 0 ? sumOf(previous, 'visitors') : undefined,
  }))
  return seriesChart({ name: 'Visitors', interval: 'day', points, until: last?.until?.slice(11, 16) }, terminal, rows)
}

export function seriesChart({ name, interval, points, until }: Series, terminal: Terminal, rows: number): string[] {
  if (points.length === 0) return [terminal.dim('This range has not begun yet.')]
  const axis = Math.max(...ticksOf(points).map((tick) => axisText(tick).length))
  const room = terminal.width - axis - 2
  const fits = ([size]: readonly [number, string]) => Math.ceil(points.length / size) <= room
  const [size, grouping] = groups[interval].find(fits) ?? [Math.ceil(points.length / room), '']
  const bars = barsOf(points, size)
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
  const last = until === undefined ? '' : `, its last day until ${until}`
  const legend = bars.some(({ previous }) => previous !== undefined) ? `  ${dash.repeat(2)} before${last}` : ''
  return [
    `${terminal.bold(`${name} ${grouping}`.trimEnd())}${terminal.dim(legend)}`,
    ...lines,
    terminal.dim(`${padStart('0', axis)} ┼${'─'.repeat(bars.length * step)}`),
    terminal.dim(`${' '.repeat(axis + 2)}${datesBelow(bars, step, interval)}`),
  ]
}

const ticksOf = (bars: readonly Point[]): number[] =>
  countTicks(Math.max(...bars.flatMap(({ value, previous = 0 }) => [value, previous])))

/** Groups points from the last one backwards, so that only the first bar can have fewer. */
function barsOf(points: readonly Point[], size: number): Point[] {
  const bars: Point[] = []
  for (let end = points.length; end > 0; end -= size) {
    const some = points.slice(Math.max(0, end - size), end)
    const before = some.flatMap(({ previous }) => previous ?? [])
    bars.unshift({
      at: (some[0] as Point).at,
      value: mean(some.map(({ value }) => value)),
      previous: before.length > 0 ? mean(before) : undefined,
    })
  }
  return bars
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

/** One row of one bar, with the line of the previous period where it runs through. Row 1 is the lowest. */
function cellOf({ value, previous }: Point, row: number, unit: number, step: number, terminal: Terminal): string {
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
function datesBelow(bars: readonly Point[], step: number, interval: Interval): string {
  const [first, last] = [bars[0] as Point, bars.at(-1) as Point]
  const span = first.at.until(last.at)
  const isShort = interval === 'hour' && span.total('hours') <= 48
  let line = ''
  for (const [index, { at: time }] of bars.entries()) {
    const day = time.toPlainDate()
    const label = isShort
      ? time.toPlainTime().toString({ smallestUnit: 'minute' })
      : (span.total('days') > 366 ? shortMonth : dayAndMonth)(day)
    const at = index * step
    const isFree = line === '' ? at === 0 : at >= line.length + 3
    if (isFree && at + label.length <= bars.length * step) line = line.padEnd(at) + label
  }
  return line
}
