// Visits of many people, and what every event of them must become, by rules that are written out here once more.
import type { Channel } from '../../../src/traffic/channel.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { Device } from '../../../src/traffic/device.ts'
import { pageview, type TrafficEvent } from '../../../src/traffic/event.ts'
import type { Random } from '../../support/random.ts'

export const domain = 'shop.example'

/** Somebody's browser: what a user agent says, and what it means. */
interface Client {
  userAgent: string
  device: Device
  browser: string
  os: string
}

const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0'
const clients: readonly Client[] = [
  {
    userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Safari/537.36`,
    ...{ device: 'Desktop', browser: 'Chrome', os: 'Windows' },
  },
  {
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    ...{ device: 'Desktop', browser: 'Firefox', os: 'Linux' },
  },
  {
    userAgent: `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${webkit} Version/18.1 Mobile/15E148 Safari/604.1`,
    ...{ device: 'Mobile', browser: 'Safari', os: 'iOS' },
  },
  {
    userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${blink} Mobile Safari/537.36`,
    ...{ device: 'Mobile', browser: 'Chrome', os: 'Android' },
  },
  {
    userAgent: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/18.1 Safari/605.1.15`,
    ...{ device: 'Desktop', browser: 'Safari', os: 'macOS' },
  },
  {
    userAgent: `Mozilla/5.0 (Linux; Android 14; Tablet) ${blink} Safari/537.36`,
    ...{ device: 'Tablet', browser: 'Chrome', os: 'Android' },
  },
]

export interface Source {
  /** Without its scheme. */
  referrer: string
  host: string
  utmSource: string
  campaign?: { medium: string; campaign: string; content: string; term: string } | undefined
  channel: Channel
}

const none = { referrer: '', host: '', utmSource: '' }
/** The channels are those of docs/metrics.md. */
const sources: readonly Source[] = [
  { ...none, channel: 'Direct' },
  { ...none, referrer: 'www.google.com/', host: 'google.com', channel: 'Organic Search' },
  { ...none, referrer: 't.co/AbC', host: 't.co', channel: 'Organic Social' },
  { ...none, referrer: 'news.example/today?page=2', host: 'news.example', channel: 'Referral' },
  // A link of the site to itself is no source.
  { ...none, referrer: `${domain}/else`, host: '', channel: 'Direct' },
  {
    ...none,
    utmSource: 'newsletter',
    campaign: { medium: 'email', campaign: 'Spring, "24"', content: 'top', term: 'shoes' },
    channel: 'Email',
  },
]

/** An event as the other product has it. */
export interface Hit {
  /** Whole seconds, because most products keep no more. */
  time: number
  visitor: string
  ip: string
  country: CountryCode
  client: Client
  source: Source
  /** `pageview`, or the name of an event. */
  name: string
  path: string
  title: string
  revenue: number
}

/** Addresses of the documentation are in no country; 193.0.6.0/24 is RIPE's own, in the Netherlands. */
const networks: readonly [prefix: string, country: CountryCode][] = [
  ['198.51.100.', 'ZZ'],
  ['193.0.6.', 'NL'],
]
const paths = ['/', '/pricing', '/blog/a,b', '/blog/"quoted"', '/straße', '/docs/a%20b', '/über/uns'] as const
const names = ['Sign up', 'Download "all"', 'Buy, now'] as const

/** In the order of their times. Visits of a person are at least an hour apart, or run on. */
export function makeHits(random: Random, count: number, from: number): Hit[] {
  const hits: Hit[] = []
  while (hits.length < count) {
    const [prefix, country] = random.pick(networks)
    const nth = hits.length
    const ip = `${prefix}${random.below(250)}`
    const person = { visitor: `v${nth}`, ip, country, client: random.pick(clients) }
    let time = from + random.below(200 * 86_400) * 1_000
    for (let visits = 1 + random.below(3); visits > 0 && hits.length < count; visits--) {
      const source = random.pick(sources)
      for (let left = 1 + random.below(5); left > 0 && hits.length < count; left--) {
        const isEvent = random.oneIn(8)
        const path = random.pick(paths)
        hits.push({
          ...person,
          time,
          source,
          name: isEvent ? random.pick(names) : pageview,
          path,
          title: `Title of ${path}, “x”`,
          revenue: isEvent && random.oneIn(3) ? 100 + random.below(10_000) : 0,
        })
        time += (1 + random.below(1_800)) * 1_000
      }
      time += 3_600_000 + random.below(86_400) * 1_000
    }
  }
  return hits.sort((one, other) => one.time - other.time)
}

/** What the hits must become. `visitorOf` names what tells visitors apart. */
export function eventsOf(
  hits: readonly Hit[],
  siteId: string,
  zone: string,
  visitorOf: (hit: Hit) => string,
): TrafficEvent[] {
  const sessions = new Map<string, { id: string; lastAt: number; source: Source }>()
  return hits.map((hit, nth) => {
    const day = Temporal.Instant.fromEpochMilliseconds(hit.time).toZonedDateTimeISO(zone).toPlainDate().toString()
    const visitor = `${day} ${visitorOf(hit)}`
    const running = sessions.get(visitor)
    const goesOn = running && hit.time - running.lastAt <= 1_800_000
    const session = goesOn ? running : { id: `${nth}`, lastAt: hit.time, source: hit.source }
    session.lastAt = hit.time
    sessions.set(visitor, session)
    return {
      siteId,
      day,
      time: hit.time,
      visitorId: visitor,
      sessionId: session.id,
      eventId: `${nth}`,
      name: hit.name,
      hostname: domain,
      pathname: new URL(hit.path, `https://${domain}`).pathname,
      title: hit.title,
      referrer: session.source.host,
      channel: session.source.channel,
      utmSource: session.source.utmSource,
      campaign: session.source.campaign,
      country: hit.country,
      device: hit.client.device,
      browser: hit.client.browser,
      os: hit.client.os,
    }
  })
}
