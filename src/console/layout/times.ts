// Dates and times as people read them. All are in UTC, and the whole time is in the title.
import { dayMs, hourMs, minuteMs } from '../../durations.ts'
import { type Html, html } from '../../web/html.ts'

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat('en')

const units = [
  ['year', 365 * dayMs],
  ['month', 30 * dayMs],
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', minuteMs],
] as const

/** `13 Feb 2027` */
export const dayText = (time: Date): string => day.format(time)

/** `13 Feb 2027, 18:00 UTC` */
export const minuteText = (time: Date): string => `${day.format(time)}, ${minute.format(time)} UTC`

/** An invitation of seven days says 7 when its page is there a moment later. */
const momentMs = minuteMs / 2

/** `in 9 days`, `2 minutes ago`; within a minute of now: `just now` or `in a moment`. What has begun does not count as over. */
export function relativeText(time: Date, now: number): string {
  const exact = time.getTime() - now
  const difference = exact > 0 ? exact + momentMs : exact
  const [unit, length] = units.find(([, length]) => Math.abs(difference) >= length) ?? []
  if (unit === undefined) return exact > 0 ? 'in a moment' : 'just now'
  return relative.format(Math.trunc(difference / length), unit)
}

export const timeElement = (time: Date, text: string): Html =>
  html`<time datetime="${time.toISOString()}" title="${minuteText(time)}">${text}</time>`
