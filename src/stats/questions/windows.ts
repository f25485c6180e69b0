// The windows of a question: the one that is asked for, the one that it is compared with, and the intervals of a window.
import { dayCount, daysOf, type Period, periodsOf, type Range, shiftedBy } from '../../calendar/periods.ts'
import { hourMs } from '../../durations.ts'
import { ApiError } from '../../errors.ts'
import type { Comparison, Interval } from './question.ts'

export interface Windows {
  current: Period
  compared?: Period
}

export function windowsOf(range: Range, compare: Comparison | undefined, now: Temporal.ZonedDateTime): Windows {
  const { current, previous } = periodsOf(range, now)
  if (!compare) return { current }
  return { current, compared: comparedWith(compare, range, current, previous, now) }
}

function comparedWith(
  compare: Comparison,
  range: Range,
  current: Period,
  previous: Period,
  now: Temporal.ZonedDateTime,
): Period {
  if (compare.to === 'days') return periodsOf({ ...compare, name: 'custom' }, now).current
  if (compare.to === 'year') return shiftedBy(current, compare.matchWeekday ? { days: 364 } : { months: 12 })
  if (!compare.matchWeekday) return previous
  // Weekdays stay the same only if the window moves by whole weeks.
  const days = range.name === '24h' ? 7 : 7 * Math.ceil(dayCount(current) / 7)
  return shiftedBy(current, { days })
}

/** An interval of a timeseries: what it is called, and which days it has. */
export interface Bucket {
  label: string
  days: readonly string[]
}

export function bucketsOf(period: Period, interval: Exclude<Interval, 'hour'>): Bucket[] {
  const buckets = new Map<string, string[]>()
  for (const day of daysOf(period)) {
    const name = interval === 'day' ? day : interval === 'week' ? mondayOf(day) : day.slice(0, 7)
    const days = buckets.get(name)
    if (days) days.push(day)
    else buckets.set(name, [day])
  }
  return Array.from(buckets.values(), (days) => ({ label: days[0] as string, days }))
}

function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}

const maxDaysOfHours = 31

/**
 * The beginnings of the hours in a window, by the clock of the site: an hour that occurs twice is there twice, one that is skipped is not.
 * `24h` has 24 hours that end now (D-184).
 */
export function hoursOf(period: Period, range: Range): Temporal.ZonedDateTime[] {
  if (range.name === '24h')
    return Array.from({ length: 24 }, (_, index) => period.end.subtract({ milliseconds: (24 - index) * hourMs }))
  if (dayCount(period) > maxDaysOfHours)
    throw new ApiError('invalid_parameter', `interval=hour takes at most ${maxDaysOfHours} days; send interval=day.`)
  const hours: Temporal.ZonedDateTime[] = []
  let hour = period.start
  let change = changeAfter(hour)
  while (Temporal.ZonedDateTime.compare(hour, period.end) < 0) {
    hours.push(hour)
    const full = hour.add({ milliseconds: hourMs - intoHour(hour) })
    // Some zones change their clocks within an hour (Lord Howe). Then a new one begins there.
    if (change && Temporal.ZonedDateTime.compare(change, full) <= 0) {
      hour = change
      change = changeAfter(hour)
    } else hour = full
  }
  return hours
}

const intoHour = ({ minute, second, millisecond }: Temporal.ZonedDateTime): number =>
  (minute * 60 + second) * 1000 + millisecond

const changeAfter = (time: Temporal.ZonedDateTime) => time.getTimeZoneTransition('next')
