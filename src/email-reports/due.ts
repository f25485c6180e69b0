// When a report is due (decision D-219). A period is a whole week or month, named by its first day; it is over when it is over in the time
// zones of all its sites. The report is due at the first chosen hour of the recipient's clock after that.
import { dayAfter, dayBefore, dayOf, firstOfMonth } from '../calendar/days.ts'

export const intervals = ['week', 'month'] as const

export type Interval = (typeof intervals)[number]

export interface Schedule {
  interval: Interval
  /** 0 to 23, on the recipient's clock. */
  hour: number
  /** The recipient's zone, an IANA name. */
  zone: string
  /** Of the sites that the report is about. A report without sites has the days of UTC. */
  siteZones: readonly string[]
}

/** The first day, `YYYY-MM-DD`, of the week or month that contains a day. Weeks begin on Monday. */
export function periodOf(interval: Interval, day: string): string {
  if (interval === 'month') return firstOfMonth(day)
  const date = Temporal.PlainDate.from(day)
  return date.subtract({ days: date.dayOfWeek - 1 }).toString()
}

/** The period after a period. Whoever goes from period to period by this never repeats or skips one, whatever happens to zones and hours. */
export const periodAfter = (interval: Interval, firstDay: string): string =>
  Temporal.PlainDate.from(firstDay)
    .add(interval === 'week' ? { days: 7 } : { months: 1 })
    .toString()

export const lastDayOf = (interval: Interval, firstDay: string): string => dayBefore(periodAfter(interval, firstDay))

/** The last period that is over in a zone. */
export const lastWholePeriod = (interval: Interval, zone: string, now: number): string =>
  periodOf(interval, dayBefore(periodOf(interval, dayOf(zone, now))))

/** UTC milliseconds. */
export function dueAt(firstDay: string, { interval, hour, zone, siteZones }: Schedule): number {
  const over = overAt(periodAfter(interval, firstDay), siteZones)
  for (let day = dayOf(zone, over); ; day = dayAfter(day)) {
    const due = instantOfHour(day, hour, zone)
    if (due >= over) return due
  }
}

/** For a new subscription: the first period whose report is due after an instant. */
export function firstPeriodDueAfter(instant: number, schedule: Schedule): string {
  const { interval, zone } = schedule
  // Clocks of two zones differ by at most 26 hours, so every earlier report was due days ago.
  let period = lastWholePeriod(interval, zone, instant)
  while (dueAt(period, schedule) <= instant) period = periodAfter(interval, period)
  return period
}

/** The instant at which the last of these zones reaches a day. */
const overAt = (day: string, siteZones: readonly string[]): number =>
  Math.max(
    ...(siteZones.length === 0 ? ['UTC'] : siteZones).map(
      (zone) => Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds,
    ),
  )

/** On a day that skips the hour, the next moment that exists; on a day that has it twice, the first. */
const instantOfHour = (day: string, hour: number, zone: string): number =>
  Temporal.PlainDate.from(day).toPlainDateTime({ hour }).toZonedDateTime(zone, { disambiguation: 'compatible' })
    .epochMilliseconds
