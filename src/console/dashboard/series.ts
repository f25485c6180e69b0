// The points of the chart: days, months of a long range, or hours of the last day, each with the point it is compared with.

import { clockTime, longDay, monthName, shortDay } from '../../display/formats.ts'
import { dayTicks, hourTicks, monthTicks, type TimeTick } from '../../display/scale.ts'
import type { Hour } from '../../stats/recent-events.ts'
import type { Day, Moment } from './answers.ts'
import type { ChartMetric, DashboardState } from './state.ts'

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
}

/** More days than this are drawn by the month. */
const maxDays = 400

const plainDate = (text: string) => Temporal.PlainDate.from(text)

export function seriesOfDays(
  { parameters: { range }, metric }: DashboardState,
  days: readonly Day[],
  previousDays: readonly Day[] | undefined,
  { local, periods: { current } }: Moment,
): Series {
  const isOpen = Temporal.ZonedDateTime.compare(current.end, local) === 0
  const byDate = previousDays && new Map(previousDays.map((day) => [day.date, day]))
  const back = range.name === '12m' ? { months: 12 } : { days: days.length }
  const points = days.map((day): Point => {
    const date = plainDate(day.date)
    const before = date.subtract(back)
    const previous = byDate?.get(before.toString())
    return {
      days: { first: day.date, last: day.date },
      name: longDay(date, local.year),
      value: day[metric],
      previous: previous && { name: longDay(before, local.year), value: previous[metric] },
    }
  })
  if (days.length > maxDays) return byMonth(points, isOpen)
  const dates = days.map(({ date }) => plainDate(date))
  return { unit: 'day', points, ticks: dayTicks(dates), isOpen }
}

/** Numbers of days add up, so a month is the sum of its days. */
function byMonth(days: readonly Point[], isOpen: boolean): Series {
  const months = [...Map.groupBy(days, ({ days }) => days?.first.slice(0, -3)).values()]
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
  const points = months.map((month): Point => {
    const [first, last] = [month[0] as Point, month.at(-1) as Point]
    const compared = month.flatMap(({ previous }) => previous ?? [])
    return {
      days: { first: first.days?.first as string, last: last.days?.last as string },
      name: monthName(plainDate(first.days?.first as string)),
      value: sum(month.map(({ value }) => value)),
      previous:
        compared.length > 0
          ? { name: `${compared[0]?.name} to ${compared.at(-1)?.name}`, value: sum(compared.map(({ value }) => value)) }
          : undefined,
    }
  })
  return {
    unit: 'month',
    points,
    ticks: monthTicks(points.map(({ days }) => plainDate(days?.first as string))),
    isOpen,
  }
}

export function seriesOfHours(
  metric: ChartMetric,
  hours: readonly Hour[],
  previousHours: readonly Hour[] | undefined,
  { local }: Moment,
): Series {
  const at = (start: number) => Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(local.timeZoneId)
  const nameOf = ({ start }: Hour) =>
    `${shortDay(at(start).toPlainDate(), local.year)}, ${clockTime(at(start))} to ${clockTime(at(start).add({ hours: 1 }))}`
  const points = hours.map((hour, index): Point => {
    const before = previousHours?.[index]
    return {
      days: undefined,
      name: nameOf(hour),
      value: hour[metric],
      previous: before && { name: nameOf(before), value: before[metric] },
    }
  })
  return { unit: 'hour', points, ticks: hourTicks(hours.map(({ start }) => at(start))), isOpen: false }
}
