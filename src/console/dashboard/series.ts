// The points of the chart: hours, days, weeks or months, each with the point it is compared with.

import { dayCount, type Period, withWholeLastDay } from '../../calendar/periods.ts'
import { clockTime, longDay, monthName, shareText, shortDay, shortDayRange } from '../../display/formats.ts'
import { displayOf } from '../../display/metrics.ts'
import { dayTicks, hourTicks, monthTicks, type TimeTick, weekTicks } from '../../display/scale.ts'
import type { Interval as Unit } from '../../stats/questions/question.ts'
import { bucketsOf, hoursOf } from '../../stats/questions/windows.ts'
import type { Interval, Moment } from './answers.ts'
import type { Asked } from './curl.ts'
import { intervalOf } from './intervals.ts'
import { asApiRange } from './range-choice.ts'
import { type ChartMetric, type DashboardState, shownGoal } from './state.ts'

interface Days {
  first: Temporal.PlainDate
  last: Temporal.PlainDate
}

export interface Point {
  /** What it opens, and what dragging over it chooses. Undefined: there is nothing more to see than the page shows. */
  days: Days | undefined
  /** The days that it belongs to. */
  slot: Days
  name: string
  value: number
  /** `2% of the range`; undefined if its numbers do not add up to that of the range. */
  share: string | undefined
  previous: { name: string; value: number; change: number | null; isCounted: boolean } | undefined
}

export interface Series {
  unit: Unit
  points: readonly Point[]
  /** How many there is room for: of a day that is not over, all hours. */
  room: number
  ticks: readonly TimeTick[]
  /** Whether the last point is not over yet. */
  isOpen: boolean
  /** Nothing was counted before, and the comparison begins earlier. */
  firstDay: Temporal.PlainDate | undefined
  /** The time of day at which the last point's comparison ends. */
  previousUntil: string | undefined
}

/** The question of the chart. */
export const askedByChart = (state: DashboardState, moment: Moment, compare: Asked['fields']): Asked => ({
  kind: 'timeseries',
  fields: [
    ...metricFields(state),
    ['interval', intervalOf(state, moment)],
    ...(comparedByChart(state, moment) ? compare : []),
  ],
})

/** Two that come from the same rows are asked for together, so that choosing the other one asks nothing new. */
function metricFields(state: DashboardState): [string, string][] {
  const { metric } = state
  if (metric === 'visitors' || metric === 'pageviews') return [['metrics', 'visitors,pageviews']]
  if (metric !== 'conversions') return [['metrics', 'sessions,bounce_rate,avg_duration']]
  return [
    ['metrics', 'conversions,conversion_rate'],
    ['goal', shownGoal(state) as string],
  ]
}

/** The hours of many chosen days cannot be asked for. */
const comparedByChart = (state: DashboardState, moment: Moment): Period | undefined => {
  const { compared } = moment.periods
  return intervalOf(state, moment) === 'hour' && compared && dayCount(compared) > 31 ? undefined : compared
}

/** `previousPeriod`: as in the answer, an interval of ISO 8601. `firstDay`: nothing was counted before. */
export function seriesOf(
  state: DashboardState,
  intervals: readonly Interval[],
  previousPeriod: string | undefined,
  moment: Moment,
  firstDay: Temporal.PlainDate | undefined,
): Series {
  const { metric, range } = state
  const { local, periods } = moment
  const { current } = periods
  const compared = comparedByChart(state, moment)
  const unit = intervalOf(state, moment)
  const slots = slotsOf(current, unit, state, moment)
  const before = compared ? slotsOf(compared, unit, state, moment) : []
  const until = compared && timeWithin(compared, previousPeriod)
  const opens = !(range.name === '24h' || dayCount(current) === 1)
  const previousName = (name: string, index: number) =>
    `${name}${until !== undefined && unit !== 'hour' && index === before.length - 1 ? `, until ${until}` : ''}`
  const sum = intervals.reduce((total, interval) => total + (interval[metric] ?? 0), 0)
  const isBegun = ({ days }: Slot) => !firstDay || Temporal.PlainDate.compare(firstDay, days.last) <= 0
  const isWhole = ({ days }: Slot) => !firstDay || Temporal.PlainDate.compare(firstDay, days.first) <= 0
  const points = slots.map(({ name, days }, index): Point => {
    const [interval, counterpart] = [intervals[index], before[index]]
    return {
      days: opens ? days : undefined,
      slot: days,
      name,
      value: interval?.[metric] ?? 0,
      share: shareOf(interval, metric, unit, sum),
      previous:
        interval?.previous && counterpart
          ? {
              name: previousName(counterpart.name, index),
              value: interval.previous[metric] ?? 0,
              change: isWhole(counterpart) ? (interval.change?.[metric] ?? null) : null,
              isCounted: isBegun(counterpart),
            }
          : undefined,
    }
  })
  const isOpen = range.name !== '24h' && Temporal.ZonedDateTime.compare(current.end, local) === 0
  const all = unit === 'hour' && isOpen ? slotsOf(withWholeLastDay(current), unit, state, moment) : slots
  const ticks = ticksOf[unit](all.map(({ start }) => start))
  return { unit, points, room: all.length, ticks, isOpen, previousUntil: until, firstDay }
}

/** Visitors of hours do not add up to those of the range, and nor do rates and durations. */
function shareOf(interval: Interval | undefined, metric: ChartMetric, unit: Unit, sum: number): string | undefined {
  if (metric === 'conversions')
    return `${displayOf('conversion_rate').text(interval?.conversion_rate ?? 0)} of visitors`
  const addsUp = metric === 'pageviews' || metric === 'sessions' || (metric === 'visitors' && unit !== 'hour')
  return addsUp ? `${shareText(interval?.[metric] ?? 0, sum)} of the range` : undefined
}

interface Slot {
  name: string
  days: Days
  start: Temporal.ZonedDateTime
}

/** The intervals of a window, in the order of the answer. */
function slotsOf(period: Period, unit: Unit, { range }: DashboardState, { local }: Moment): Slot[] {
  if (unit === 'hour') {
    const starts = hoursOf(period, asApiRange(range))
    return starts.map((start, index) => {
      const day = start.toPlainDate()
      const name = `${shortDay(day, local.year)}, ${clockTime(start)} to ${clockTime(starts[index + 1] ?? period.end)}`
      return { name, days: { first: day, last: day }, start }
    })
  }
  return bucketsOf(period, unit).map((bucket) => {
    const [first, last] = [bucket.days[0], bucket.days.at(-1)].map((day) => Temporal.PlainDate.from(day as string))
    const days = { first, last } as Days
    return { name: nameOf(unit, days, local.year), days, start: days.first.toZonedDateTime(local.timeZoneId) }
  })
}

function nameOf(unit: Exclude<Unit, 'hour'>, { first, last }: Days, thisYear: number): string {
  if (unit === 'month') return monthName(first)
  return unit === 'week' ? shortDayRange(first, last, thisYear) : longDay(first, thisYear)
}

type Ticks = (starts: readonly Temporal.ZonedDateTime[]) => TimeTick[]

const byDate =
  (ticks: (dates: readonly Temporal.PlainDate[]) => TimeTick[]): Ticks =>
  (starts) =>
    ticks(starts.map((start) => start.toPlainDate()))

const ticksOf: Readonly<Record<Unit, Ticks>> = {
  hour: hourTicks,
  day: byDate(dayTicks),
  week: byDate(weekTicks),
  month: byDate(monthTicks),
}

/** The time of day at which a window ends within its last day. */
function timeWithin({ lastDay }: Period, interval: string | undefined): string | undefined {
  const end = interval?.slice(interval.indexOf('/') + 1)
  return end?.startsWith(String(lastDay)) ? end.slice(11, 16) : undefined
}
