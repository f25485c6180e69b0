// Builders with a default for every field: a test writes only the fields it is about.
import { randomUUID } from 'node:crypto'
import type { TrafficEvent } from '../../src/traffic/event.ts'

/** An event of a test. Visitors and sessions have names, times are ISO 8601; a visitor has one session unless `session` says otherwise. */
export type Hit = Partial<Omit<TrafficEvent, 'siteId' | 'time' | 'visitorId' | 'sessionId'>> & {
  at: string
  visitor?: string
  session?: string
}

export const pageview = (hit: Hit): Hit => ({ name: 'pageview', ...hit })

export const custom = (name: string, hit: Hit): Hit => ({ name, ...hit })

/** A value for every column that may be empty. */
export const everyDetail = {
  referrer: 'news.example',
  channel: 'Email',
  utmSource: 'letter',
  campaign: { medium: 'email', campaign: 'may', content: 'hero', term: 'shoes' },
  browser: 'Firefox',
  os: 'Android',
  props: { plan: 'pro', size: 'XL' },
  revenue: { amount: 1_990, currency: 'EUR' },
  importId: '5f0c2a4e-0000-4000-8000-000000000000',
} satisfies Partial<TrafficEvent>

/** Sets the day in the site's current zone, as recording does. */
export function eventOf(
  { at, visitor = 'someone', session = visitor, ...hit }: Hit,
  siteId: string,
  zone: string,
): TrafficEvent {
  const time = Temporal.Instant.from(at)
  const day = hit.day ?? time.toZonedDateTimeISO(zone).toPlainDate().toString()
  return {
    name: 'pageview',
    hostname: 'example.com',
    pathname: '/',
    title: '',
    referrer: '',
    channel: 'Direct',
    utmSource: '',
    country: 'DE',
    device: 'Desktop',
    eventId: randomUUID(),
    ...hit,
    siteId,
    day,
    time: time.epochMilliseconds,
    visitorId: idOf(`${day} ${visitor}`),
    sessionId: idOf(`${day} ${visitor} ${session}`),
  }
}

/** FNV-1a, 64 bits: equal names have equal ids. */
function idOf(name: string): string {
  let id = 0xcbf29ce484222325n
  for (const byte of Buffer.from(name)) id = BigInt.asUintN(64, (id ^ BigInt(byte)) * 0x100000001b3n)
  return id.toString()
}
