// The points of the chart: days, months of a long range, or hours of the last day, each with the point it is compared with.

import { dayCount, type Period } from '../../calendar/periods.ts'
import { clockTime, longDay, monthName, shortDay } from '../../display/formats.ts'
import { dayTicks, hourTicks, monthTicks, type TimeTick } from '../../display/scale.ts'
import { type Bucket, bucketsOf } from '../../stats/questions/windows.ts'
import type { Interval, Moment } from './answers.ts'
import type { Asked } from './curl.ts'
import { type ChartMetric, chartMetrics, type DashboardState } from './state.ts'

export interface Point {
  /** The days it stands for; undefined for an hour. */
  days: { first: string; last: string } | undefined
  name: string
  value: number
  previous: { name: string; value: number } | undefined
}

export interface Series {
  unit: 'day' | 'month' | 'hour'
  points: readonly Point[]
  ticks: readonly TimeTick[]
  /** Whether the last point is not over yet. */
  isOpen: boolean
  /** The time of day at which the last point's comparison ends. */
  previousUntil: string | undefined
}

/** More days than this are drawn by the month. */
const maxDays = 400

export function unitOf({ range }: DashboardState, { periods }: Moment): Series['unit'] {
  if (range.name === '24h') return 'hour'
  return dayCount(periods.current) > maxDays ? 'month' : 'day'
}

/** The question of the chart. */
export const askedByChart = (state: DashboardState, moment: Moment, compare: Asked['fields']): Asked => ({
  kind: 'timeseries',
  fields: [['metrics', chartMetrics.join(',')], ['interval', unitOf(state, moment)], ...compare],
})

/** `previousPeriod`: as in the answer, an interval of ISO 8601. */
export function seriesOf(
  { metric }: DashboardState,
  unit: Series['unit'],
  intervals: readonly Interval[],
  previousPeriod: string | undefined,
  moment: Moment,
): Series {
  if (unit === 'hour') return seriesOfHours(metric, intervals, moment)
  const { local, periods } = moment
  const [buckets, before] = [bucketsOf(periods.current, unit), bucketsOf(periods.previous, unit)]
  const until = timeWithin(periods.previous, previousPeriod)
  const nameOf = ({ label }: Bucket) =>
    unit === 'month' ? monthName(plainDate(label)) : longDay(plainDate(label), local.year)
  const previousName = (bucket: Bucket, index: number) =>
    `${nameOf(bucket)}${until !== undefined && index === before.length - 1 ? `, until ${until}` : ''}`
  const points = buckets.map((bucket, index): Point => {
    const [{ days }, interval, counterpart] = [bucket, intervals[index], before[index]]
    return {
      days: { first: days[0] as string, last: days.at(-1) as string },
      name: nameOf(bucket),
      value: interval?.[metric] ?? 0,
      previous:
        interval?.previous && counterpart
          ? { name: previousName(counterpart, index), value: interval.previous[metric] }
          : undefined,
    }
  })
  const dates = buckets.map(({ label }) => plainDate(label))
  const isOpen = Temporal.ZonedDateTime.compare(periods.current.end, local) === 0
  return { unit, points, ticks: unit === 'month' ? monthTicks(dates) : dayTicks(dates), isOpen, previousUntil: until }
}

const plainDate = (text: string) => Temporal.PlainDate.from(text)

/** The time of day at which a window ends within its last day. */
function timeWithin({ lastDay }: Period, interval: string | undefined): string | undefined {
  const end = interval?.slice(interval.indexOf('/') + 1)
  return end?.startsWith(String(lastDay)) ? end.slice(11, 16) : undefined
}

function seriesOfHours(metric: ChartMetric, intervals: readonly Interval[], { local }: Moment): Series {
  const starts = intervals.map(({ time = '' }) => Temporal.Instant.from(time).toZonedDateTimeISO(local.timeZoneId))
  const nameOf = (start: Temporal.ZonedDateTime) =>
    `${shortDay(start.toPlainDate(), local.year)}, ${clockTime(start)} to ${clockTime(start.add({ hours: 1 }))}`
  const points = intervals.map((interval, index): Point => {
    const start = starts[index] as Temporal.ZonedDateTime
    return {
      days: undefined,
      name: nameOf(start),
      value: interval[metric],
      previous: interval.previous
        ? { name: nameOf(start.subtract({ hours: 24 })), value: interval.previous[metric] }
        : undefined,
    }
  })
  return { unit: 'hour', points, ticks: hourTicks(starts), isOpen: false, previousUntil: undefined }
}
