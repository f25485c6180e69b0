// The days and instants that a query covers (docs/contract.md 4.1, decisions D-9 and D-32 to D-37). Calendar arithmetic in the site's
// time zone, never multiples of 86,400 s: a day with 23 or 25 hours is one day.
import { dayMs } from '../durations.ts'
import { ApiError } from '../errors.ts'

/** A half-open window [start, end) and the calendar days it touches. It is empty if the last day comes before the first. */
export interface Period {
  start: Temporal.ZonedDateTime
  end: Temporal.ZonedDateTime
  firstDay: Temporal.PlainDate
  lastDay: Temporal.PlainDate
}

export const rollingDays = { '7d': 7, '30d': 30, '90d': 90 } as const

export const rangeNames = ['24h', '7d', '30d', '90d', '12m', 'custom'] as const

export type RangeName = (typeof rangeNames)[number]

export type Range =
  | { name: Exclude<RangeName, 'custom'> }
  | { name: 'custom'; firstDay: Temporal.PlainDate; lastDay: Temporal.PlainDate }

export interface Periods {
  current: Period
  /** The same window shifted back by wall clock, so that a part of a day is compared with the same part of another day. */
  previous: Period
}

export function periodsOf(range: Range, now: Temporal.ZonedDateTime): Periods {
  const today = now.toPlainDate()
  switch (range.name) {
    case '24h': {
      const start = now.subtract({ hours: 24 })
      return { current: touched(start, now), previous: touched(start.subtract({ hours: 24 }), start) }
    }
    case '7d':
    case '30d':
    case '90d': {
      const days = rollingDays[range.name]
      return untilNow(today.subtract({ days: days - 1 }), now, { days })
    }
    case '12m':
      return untilNow(today.subtract({ months: 12 }).add({ days: 1 }), now, { months: 12 })
    case 'custom':
      return custom(range.firstDay, range.lastDay, now)
  }
}

/** From the start of a day until now. Today is the last day, even at its first instant. */
function untilNow(firstDay: Temporal.PlainDate, now: Temporal.ZonedDateTime, back: Temporal.DurationLike): Periods {
  const lastDay = now.toPlainDate()
  const current = { start: startOf(firstDay, now.timeZoneId), end: now, firstDay, lastDay }
  return { current, previous: shifted(current, back) }
}

function custom(firstDay: Temporal.PlainDate, lastDay: Temporal.PlainDate, now: Temporal.ZonedDateTime): Periods {
  const start = startOf(firstDay, now.timeZoneId)
  if (!isBefore(start, now)) {
    const empty = { start, end: start, firstDay, lastDay: firstDay.subtract({ days: 1 }) }
    return { current: empty, previous: empty }
  }
  const stop = startOf(lastDay.add({ days: 1 }), now.timeZoneId)
  // The period includes both dates, even a date that the zone skipped: the site may have had another zone then, and events of that day.
  const current = isBefore(now, stop) ? { ...touched(start, now), firstDay } : { start, end: stop, firstDay, lastDay }
  if (Temporal.PlainDate.compare(current.lastDay, firstDay.add({ years: 100 })) >= 0) {
    throw new ApiError('invalid_date', 'A custom range may be at most 100 years long.')
  }
  return { current, previous: shifted(current, { days: dayCount(current) }) }
}

function touched(start: Temporal.ZonedDateTime, end: Temporal.ZonedDateTime): Period {
  return { start, end, firstDay: start.toPlainDate(), lastDay: end.subtract({ nanoseconds: 1 }).toPlainDate() }
}

/** The same window further back. It may overlap with this one. */
export const shiftedBy = (period: Period, back: Temporal.DurationLike): Period =>
  partialStart(period) === null
    ? shifted(period, back, period.end)
    : touched(period.start.subtract(back), period.end.subtract(back))

function shifted(period: Period, back: Temporal.DurationLike, latestEnd = period.start): Period {
  const { start, end, firstDay, lastDay } = period
  const zone = start.timeZoneId
  const first = firstDay.subtract(back)
  const last = lastDay.subtract(back)
  const nextDay = startOf(last.add({ days: 1 }), zone)
  const wallClock = isBefore(end, startOf(lastDay.add({ days: 1 }), zone)) ? end.subtract(back) : nextDay
  // Where a zone skipped a whole day, the wall clock of that day falls on the next day. The windows still never overlap.
  return {
    start: startOf(first, zone),
    end: earlier(wallClock, earlier(nextDay, latestEnd)),
    firstDay: first,
    lastDay: last,
  }
}

/** Extends the period to the end of its last day. No other window begins on that day, so windows still do not overlap. */
export const withWholeLastDay = (period: Period): Period => ({
  ...period,
  end: startOf(period.lastDay.add({ days: 1 }), period.end.timeZoneId),
})

const startOf = (day: Temporal.PlainDate, zone: string) => day.toZonedDateTime(zone)

const isBefore = (one: Temporal.ZonedDateTime, other: Temporal.ZonedDateTime) =>
  Temporal.ZonedDateTime.compare(one, other) < 0

const earlier = (one: Temporal.ZonedDateTime, other: Temporal.ZonedDateTime) => (isBefore(one, other) ? one : other)

export const dayCount = ({ firstDay, lastDay }: Period): number => firstDay.until(lastDay).days + 1

/** In UTC milliseconds, because all days have the same length there. Temporal would take a tenth of a second for a hundred years. */
export function* daysOf(period: Period): Generator<string> {
  const first = period.firstDay.toZonedDateTime('UTC').epochMilliseconds
  const days = dayCount(period)
  for (let day = 0; day < days; day++) yield new Date(first + day * dayMs).toISOString().slice(0, -14)
}

/** The instant at which a partial first day begins, or null when the period covers that day from its first instant. */
export const partialStart = ({ start }: Period): number | null =>
  isBefore(start.startOfDay(), start) ? start.epochMilliseconds : null

/** The instant at which a partial last day ends, or null when the period covers that day to its last instant. */
export const partialEnd = ({ end, lastDay }: Period): number | null =>
  isBefore(end, startOf(lastDay.add({ days: 1 }), end.timeZoneId)) ? end.epochMilliseconds : null

/** Clamps earlier days to 1970-01-01. A constraint keeps events off that day. */
export const storedDay = (day: Temporal.PlainDate): string => (day.year < 1970 ? '1970-01-01' : day.toString())

/** An ISO 8601 interval with the site's offsets, for the Stats-Period headers (decision D-29). */
export function intervalOf(period: Period): string {
  const { start, end } = boundsOf(period)
  return `${start}/${end}`
}

/** Both ends with the site's offsets, in ISO 8601. */
export const boundsOf = ({ start, end }: Period) => ({ start: iso(start), end: iso(end) })

const iso = (time: Temporal.ZonedDateTime) =>
  time.toString({ timeZoneName: 'never', smallestUnit: time.millisecond === 0 ? 'second' : 'millisecond' })
