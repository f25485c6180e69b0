// Builders for the hand-made examples in the model's own tests: a test writes only what it is about.
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { answer, type Report, type Site } from './model.ts'

let count = 0

/** A page view by a new visitor at an instant; the day is that of UTC by default. */
export function view(at: string, fields: Partial<TrafficEvent> = {}): TrafficEvent {
  count += 1
  const time = Temporal.Instant.from(at).epochMilliseconds
  return {
    siteId: 'site_example',
    day: new Date(time).toISOString().slice(0, 10),
    time,
    visitorId: `1${count}`,
    sessionId: `2${count}`,
    eventId: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`,
    name: 'pageview',
    hostname: 'example.com',
    pathname: '/',
    title: '',
    referrer: '',
    channel: 'Direct',
    utmSource: '',
    country: 'DE',
    device: 'Desktop',
    ...fields,
  }
}

export const siteWith = (events: TrafficEvent[], zone = 'UTC', excludedCountries: string[] = []): Site => ({
  siteId: 'site_example',
  zone,
  excludedCountries,
  events,
})

/** `ask(site, 'pages', 'range=7d&limit=2', '2026-11-15T12:00Z')`. */
export const ask = (site: Site, report: Report, query: string, now: string) =>
  answer(site, report, [...new URLSearchParams(query)], Temporal.Instant.from(now).epochMilliseconds)

export function dataOf(site: Site, report: Report, query: string, now: string): unknown {
  const answered = ask(site, report, query, now)
  return answered.status === 200 ? JSON.parse(answered.body).data : answered.code
}

export const datesOf = (site: Site, query: string, now: string): string[] =>
  (dataOf(site, 'timeseries', query, now) as { date: string }[]).map((row) => row.date)

/** Stats-Period and Stats-Previous-Period. */
export function periodsOf(zone: string, query: string, now: string): (string | undefined)[] {
  const answered = ask(siteWith([], zone), 'overview', query, now)
  return answered.status === 200 ? [answered.period, answered.previousPeriod] : [answered.code]
}
