// Numbers and dates as pages write them.
import { hourSeconds } from '../durations.ts'
import { halfUp } from '../stats/rounding.ts'

const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
const maxWhole = 999_999

/** All digits. */
export const inFull = (count: number): string => whole.format(count)

/** All digits up to a million, then `1.23M`; the full number is shown on hover. */
export const countText = (count: number): string => (count > maxWhole ? short : whole).format(count)

/** On the axis of a chart, where there is little room. */
export const axisText = (count: number): string => (count >= 10_000 ? short : whole).format(count)

/** `1m 47s` */
export function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds}s`
  if (seconds < hourSeconds) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`
  return `${inFull(Math.floor(seconds / hourSeconds))}h ${Math.floor((seconds % hourSeconds) / 60)}m`
}

/** On the axis of a chart: `45s`, `2m`, `1h` */
export function axisDuration(seconds: number): string {
  if (seconds > 0 && seconds % hourSeconds === 0) return `${seconds / hourSeconds}h`
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}

/** A path as people write it: `/caf%C3%A9` is `/café`. What would be invisible or turn the text around stays encoded. */
export const pathText = (path: string): string =>
  path.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      const decoded = decodeURI(encoded)
      return /[\p{C}\p{Z}]/u.test(decoded) ? encoded : decoded
    } catch {
      return encoded // not UTF-8
    }
  })

/** A share below one percent is still something. */
export const shareText = (part: number, whole: number): string =>
  part > 0 && part * 100 < whole ? '<1%' : `${halfUp(part * 100, whole)}%`

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${inFull(count)} ${count === 1 ? one : many}`

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** `Fri` */
export const weekdayOf = ({ dayOfWeek }: Temporal.PlainDate): string => weekdays[dayOfWeek - 1] as string

const monthOf = ({ month }: Temporal.PlainDate): string => months[month - 1] as string

/** `6 Nov` */
export const dayAndMonth = (day: Temporal.PlainDate): string => `${day.day} ${monthOf(day).slice(0, 3)}`

/** `6 Nov`; with the year if it is not this one: `6 Nov 2025`. */
export const shortDay = (day: Temporal.PlainDate, thisYear: number): string =>
  `${dayAndMonth(day)}${day.year === thisYear ? '' : ` ${day.year}`}`

/** `15 – 21 Jun`, `28 Dec 2025 – 3 Jan` */
export const shortDayRange = (first: Temporal.PlainDate, last: Temporal.PlainDate, thisYear: number): string =>
  first.equals(last)
    ? shortDay(first, thisYear)
    : `${isSameMonth(first, last) ? first.day : shortDay(first, thisYear)} – ${shortDay(last, thisYear)}`

/** `Fri 6 November` */
export const longDay = (day: Temporal.PlainDate, thisYear: number): string =>
  `${weekdayOf(day)} ${day.day} ${monthOf(day)}${day.year === thisYear ? '' : ` ${day.year}`}`

/** `9 – 15 November`, `26 October – 1 November` */
export const dayRange = (first: Temporal.PlainDate, last: Temporal.PlainDate): string =>
  `${first.day}${isSameMonth(first, last) ? '' : ` ${monthOf(first)}`} – ${last.day} ${monthOf(last)}`

/** `Mon 9 – Sun 15 November 2026`, `Mon 28 December 2026 – Sun 3 January 2027` */
export const longDayRange = (first: Temporal.PlainDate, last: Temporal.PlainDate): string =>
  `${isSameMonth(first, last) ? `${weekdayOf(first)} ${first.day}` : longDay(first, last.year)} – ${longDay(last, last.year)} ${last.year}`

const isSameMonth = (first: Temporal.PlainDate, last: Temporal.PlainDate): boolean =>
  first.month === last.month && first.year === last.year

/** `November 2026` */
export const monthName = (day: Temporal.PlainDate): string => `${monthOf(day)} ${day.year}`

/** `Nov 2026` */
export const shortMonth = (day: Temporal.PlainDate): string => `${monthOf(day).slice(0, 3)} ${day.year}`

/** `15:04` */
export const clockTime = (time: Temporal.ZonedDateTime): string =>
  `${String(time.hour).padStart(2, '0')}:${String(time.minute).padStart(2, '0')}`
