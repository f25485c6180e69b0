// Which days and instants a range covers: section 3 of the semantics, implemented literally and without code from src/stats.

/** A range of calendar dates, and the two instants that cut the first and the last one. */
export interface Window {
  dates: readonly string[]
  start: Temporal.ZonedDateTime
  /** Exclusive. */
  end: Temporal.ZonedDateTime
}

export const ranges = ['24h', '7d', '30d', '90d', '12m', 'custom'] as const
export type Range = (typeof ranges)[number]

/** The first instant of a date: 00:00, or 01:00 where the clocks skip midnight. */
export const startOfDay = (date: Temporal.PlainDate | string, zone: string): Temporal.ZonedDateTime =>
  Temporal.PlainDate.from(date).toZonedDateTime(zone)

export const zoned = (time: number, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone)

const dayAfter = (date: string): Temporal.PlainDate => Temporal.PlainDate.from(date).add({ days: 1 })

const earlier = (a: Temporal.ZonedDateTime, b: Temporal.ZonedDateTime): Temporal.ZonedDateTime =>
  Temporal.ZonedDateTime.compare(a, b) < 0 ? a : b

/**
 * Calendar dates, including one that the zone skipped (Apia had no 2011-12-30): it is a row of zeros, and 7d still has seven. Counted in UTC,
 * where every day has 24 hours.
 */
function datesFromTo(first: Temporal.PlainDate, last: Temporal.PlainDate): string[] {
  const dates: string[] = []
  const until = Date.parse(last.toString())
  for (let date = Date.parse(first.toString()); date <= until; date += 24 * 60 * 60 * 1000) {
    dates.push(new Date(date).toISOString().slice(0, 10))
  }
  return dates
}

/** A window that ends at a midnight does not touch the day that begins there. */
const lastTouched = (end: Temporal.ZonedDateTime): Temporal.PlainDate => end.subtract({ milliseconds: 1 }).toPlainDate()

const touching = (start: Temporal.ZonedDateTime, end: Temporal.ZonedDateTime): Window => ({
  dates: datesFromTo(start.toPlainDate(), lastTouched(end)),
  start,
  end,
})

/** From the first instant of a date to now. Today is the last date even if it began this millisecond. */
function untilNow(firstDate: Temporal.PlainDate, now: Temporal.ZonedDateTime): Window {
  const start = startOfDay(firstDate, now.timeZoneId)
  return { dates: datesFromTo(firstDate, now.toPlainDate()), start, end: now }
}

/** Both dates inclusive, cut at now. If it has not begun: no dates, and a period of no length. */
function customWindow(first: Temporal.PlainDate, last: Temporal.PlainDate, now: Temporal.ZonedDateTime): Window {
  const start = startOfDay(first, now.timeZoneId)
  if (Temporal.ZonedDateTime.compare(start, now) >= 0) return { dates: [], start, end: start }
  const end = startOfDay(last.add({ days: 1 }), now.timeZoneId)
  if (Temporal.ZonedDateTime.compare(end, now) <= 0) return { dates: datesFromTo(first, last), start, end }
  return { dates: datesFromTo(first, lastTouched(now)), start, end: now }
}

/** More than 100 years are refused, without counting days after now. */
const tooLong = (window: Window, first: Temporal.PlainDate): boolean => {
  const last = window.dates.at(-1)
  return last !== undefined && Temporal.PlainDate.compare(last, first.add({ years: 100 })) >= 0
}

export function currentWindow(
  range: Range,
  dates: { start?: Temporal.PlainDate | undefined; end?: Temporal.PlainDate | undefined },
  zone: string,
  nowMs: number,
): Window | 'invalid_date' {
  const now = zoned(nowMs, zone)
  const today = now.toPlainDate()
  switch (range) {
    case '24h':
      return touching(now.subtract({ hours: 24 }), now)
    case '7d':
      return untilNow(today.subtract({ days: 6 }), now)
    case '30d':
      return untilNow(today.subtract({ days: 29 }), now)
    case '90d':
      return untilNow(today.subtract({ days: 89 }), now)
    case '12m':
      return untilNow(today.subtract({ months: 12 }).add({ days: 1 }), now)
    case 'custom': {
      const { start, end } = dates
      if (start === undefined || end === undefined) return 'invalid_date'
      if (Temporal.PlainDate.compare(start, end) > 0) return 'invalid_date'
      const window = customWindow(start, end, now)
      return tooLong(window, start) ? 'invalid_date' : window
    }
  }
}

/** The same window one length earlier by the wall clock, so that a partial day is compared with the same part of a day. */
export const previousWindow = (range: Range, window: Window): Window =>
  shiftedWindow(
    range,
    window,
    range === '24h' ? { hours: 24 } : range === '12m' ? { months: 12 } : { days: window.dates.length },
  )

/** The same window earlier by this length. */
export function shiftedWindow(range: Range, window: Window, length: Temporal.DurationLike): Window {
  const zone = window.start.timeZoneId
  if (range === '24h') return touching(window.start.subtract(length), window.end.subtract(length))
  const [firstDate, lastDate] = [window.dates[0], window.dates.at(-1)]
  if (firstDate === undefined || lastDate === undefined) return window

  const first = Temporal.PlainDate.from(firstDate).subtract(length)
  const last = Temporal.PlainDate.from(lastDate).subtract(length)
  // The windows never overlap, so the earlier one ends with its last date at the latest. Subtracting days from the time
  // on the clock alone could make them overlap: where a day begins at 01:00, the earlier window would end at 01:00 too, although its day begins
  // at 00:00; and where a day has no 23:30 (Nuuk skips 23:00 to 24:00), a window that ends at 23:30 would end at 00:30 of the next day.
  const end = earlier(window.end.subtract(length), startOfDay(last.add({ days: 1 }), zone))
  return { dates: datesFromTo(first, last), start: startOfDay(first, zone), end }
}

/** The recorded day alone selects a whole day; the instant matters only on a partial first or last day. */
export function contains(window: Window, hit: { day: string; time: number }): boolean {
  const { dates, start, end } = window
  const zone = start.timeZoneId
  if (!dates.includes(hit.day)) return false
  if (hit.day === dates[0] && startOfDay(hit.day, zone).epochMilliseconds < start.epochMilliseconds) {
    if (hit.time < start.epochMilliseconds) return false
  }
  if (hit.day === dates.at(-1) && end.epochMilliseconds < startOfDay(dayAfter(hit.day), zone).epochMilliseconds) {
    if (hit.time >= end.epochMilliseconds) return false
  }
  return true
}

/** `2026-11-09T00:00:00+01:00/2026-11-15T12:34:56.789+01:00`, as in the Stats-Period header. */
export function periodHeader(window: Window): string {
  const text = (at: Temporal.ZonedDateTime): string =>
    at.toString({ timeZoneName: 'never', smallestUnit: at.millisecond === 0 ? 'second' : 'millisecond' })
  return `${text(window.start)}/${text(window.end)}`
}
