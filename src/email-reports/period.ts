// The days of a report, and how it names them.
import { dayCount, periodsOf, type Range } from '../calendar/periods.ts'
import { counted, dayRange, longDay, longDayRange, monthName } from '../display/formats.ts'
import { hourMs } from '../durations.ts'
import { type Interval, lastDayOf } from './due.ts'

export interface ReportDays {
  interval: Interval
  first: Temporal.PlainDate
  last: Temporal.PlainDate
  /** What the API compares with: the same number of days before. For a month these are not the days of the month before. */
  before: { first: Temporal.PlainDate; last: Temporal.PlainDate }
  count: number
}

export function reportDays(interval: Interval, firstDay: string): ReportDays {
  const first = Temporal.PlainDate.from(firstDay)
  const last = Temporal.PlainDate.from(lastDayOf(interval, firstDay))
  // In any zone: a whole week or month is compared with the same days everywhere.
  const { current, previous } = periodsOf(rangeOf(first, last), last.add({ days: 2 }).toZonedDateTime('UTC'))
  return {
    interval,
    first,
    last,
    before: { first: previous.firstDay, last: previous.lastDay },
    count: dayCount(current),
  }
}

export const rangeOf = (firstDay: Temporal.PlainDate, lastDay: Temporal.PlainDate): Range => ({
  name: 'custom',
  firstDay,
  lastDay,
})

export const kindOf = ({ interval }: ReportDays): string => (interval === 'week' ? 'Weekly report' : 'Monthly report')

/** `Mon 9 – Sun 15 November 2026`, `November 2026` */
export const longName = ({ interval, first, last }: ReportDays): string =>
  interval === 'week' ? longDayRange(first, last) : monthName(first)

/** For a subject: `, 9 – 15 November`, ` in November 2026`. */
export const afterNumber = ({ interval, first, last }: ReportDays): string =>
  interval === 'week' ? `, ${dayRange(first, last)}` : ` in ${monthName(first)}`

/** `the week before`, `the 30 days before` */
export const beforeName = ({ interval, count }: ReportDays): string =>
  interval === 'week' ? 'the week before' : `the ${counted(count, 'day')} before`

/** `compared with the week before, 2 – 8 November` */
export const comparison = (days: ReportDays): string =>
  `compared with ${beforeName(days)}, ${dayRange(days.before.first, days.before.last)}`

export const thisPeriod = ({ interval }: ReportDays): string => `this ${interval}`

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** When the recipient gets it, by the clock and calendar of their zone: `every Monday at 8:00 (Europe/Berlin)`. */
export function rhythm({
  interval,
  hour,
  zone,
  dueAt,
}: {
  interval: Interval
  hour: number
  zone: string
  dueAt: number
}) {
  const due = Temporal.Instant.fromEpochMilliseconds(dueAt).toZonedDateTimeISO(zone)
  const day = interval === 'week' ? `every ${weekdays[due.dayOfWeek - 1]}` : monthDays(due.day)
  return `${day} at ${hour}:00 (${zone})`
}

/** Sites that are ahead of the recipient reach the next month on the last day of this one, and those behind on the second. */
const monthDays = (day: number): string =>
  day > 2 ? 'at the end of every month' : `on the ${day === 1 ? '1st' : '2nd'} of every month`

const lateMs = hourMs

/** The sentence of a report that comes more than an hour late. */
export function lateness({ dueAt, now, zone }: { dueAt: number; now: number; zone: string }): string | undefined {
  if (now - dueAt <= lateMs) return undefined
  const due = Temporal.Instant.fromEpochMilliseconds(dueAt).toZonedDateTimeISO(zone)
  const time = `${due.hour}:${String(due.minute).padStart(2, '0')}`
  return `This report was due on ${longDay(due.toPlainDate(), 0)} at ${time} (${zone}). It could not be sent earlier.`
}
