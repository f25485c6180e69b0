// The points of the chart: days, months of a long range, or hours of the last day, each with the point it is compared with.

import { clockTime, longDay, monthName, shortDay } from '../../display/formats.ts'
import { dayTicks, hourTicks, monthTicks, type TimeTick } from '../../display/scale.ts'
import { type ComparedDay, type PreviousDay, sumOf } from '../../stats/previous-days.ts'
import type { Hour } from '../../stats/recent-events.ts'
import type { Moment } from './answers.ts'
import type { ChartMetric } from './state.ts'

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

const plainDate = (text: string) => Temporal.PlainDate.from(text)

export function seriesOfDays(
  metric: ChartMetric,
  days: readonly ComparedDay[],
  { local, periods: { current } }: Moment,
): Series {
  const isOpen = Temporal.ZonedDateTime.compare(current.end, local) === 0
  const nameOf = (date: string) => longDay(plainDate(date), local.year)
  const previousName = ({ date, until }: PreviousDay) =>
    until === undefined ? nameOf(date) : `${nameOf(date)}, until ${timeOf(until)}`
  const points = days.map(
    (day): Point => ({
      days: { first: day.date, last: day.date },
      name: nameOf(day.date),
      value: day[metric],
      previous:
        day.previous.length > 0
          ? { name: day.previous.map(previousName).join(' and '), value: sumOf(day.previous, metric) }
          : undefined,
    }),
  )
  const until = days.at(-1)?.previous.at(-1)?.until
  const ends = { isOpen, previousUntil: until && timeOf(until) }
  if (days.length > maxDays) return byMonth(points, ends)
  const dates = days.map(({ date }) => plainDate(date))
  return { unit: 'day', points, ticks: dayTicks(dates), ...ends }
}

const timeOf = (instant: string): string => instant.slice(11, 16)

/** Numbers of days add up, so a month is the sum of its days. */
function byMonth(days: readonly Point[], ends: Pick<Series, 'isOpen' | 'previousUntil'>): Series {
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
    ...ends,
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
  return {
    unit: 'hour',
    points,
    ticks: hourTicks(hours.map(({ start }) => at(start))),
    isOpen: false,
    previousUntil: undefined,
  }
}
