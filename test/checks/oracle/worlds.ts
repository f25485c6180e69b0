// Random sites with traffic that is small enough to check by eye and has many edge cases.
import { type Channel, channels } from '../../../src/traffic/channel.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import { type Device, devices } from '../../../src/traffic/device.ts'
import { type Campaign, pageview, type TrafficEvent } from '../../../src/traffic/event.ts'
import { type Random, seeded } from '../../support/random.ts'
import { type Imported, makeImported } from './imported.ts'
import { day as dayMs, hour as hourMs, pickEventTime, pickNow, zones } from './moments.ts'
import { startOfDay, zoned } from './windows.ts'

export interface World {
  number: number
  /** The current zone of the site. */
  zone: string
  /** Its zone before it moved, and the time of the move; the same zone if it never moved. */
  before: { zone: string; until: number }
  now: number
  excludedCountries: CountryCode[]
  /** By time, without a site id: the site is created when the world is opened. */
  events: TrafficEvent[]
  /** When each was recorded, by its id: later than its own time if a collector's clock was behind. */
  recordedAt: ReadonlyMap<string, number>
  /** Daily sums of another product. */
  imported: Imported | undefined
}

/** What a request is made of: a site at a moment. */
export interface Moment extends Pick<World, 'zone' | 'now'> {
  events: readonly TrafficEvent[]
}

// U+FF5E comes before U+1F98A by code point and after it in UTF-16, so the two sort orders differ.
const pathnames = ['/', '/Pricing', '/pricing', '/pricing/', '/docs/a', '/🦊', '/～', '/🦊/～', '/%F0%9F%A6%8A', '/a b']
const titles = ['', '', 'Home', 'Home – new', 'home', '价格', '🦊', '～', '"quoted" \\ <b>', 'É', 'E\u0301']
const hostnames = ['example.com', 'shop.example.com', 'www.example.com', 'xn--bcher-kva.example']
// Names that are numbers, properties of every object, or almost `pageview`.
const eventNames = [
  'signup',
  '404',
  '0',
  'Signup',
  '🦊',
  '～',
  'constructor',
  '__proto__',
  'Pageview',
  'pageviews',
  ' ',
]
const referrers = [
  '',
  '',
  'google.com',
  'news.example.org',
  'm.facebook.com',
  'bücher.example',
  '🦊.example',
  '～.example',
]
const utmSources = ['', '', '', 'newsletter', 'Newsletter', '🦊', '～', "o'hara", 'a b&c=1', 'back\\slash', '100%', '+']
const tags = ['', '', 'email', 'Spring sale', '🦊', "o'hara", 'a b&c=1', 'back\\slash', '100%', '"quoted"']
const families = [
  ['Chrome', 'Windows'],
  ['Samsung Internet for Android', 'Android'],
  ['Safari', 'iOS'],
  ['Unknown', 'Unknown'],
] as const
const propertyKeys = ['plan', 'a.b', 'x-y', '404', 'constructor']
const propertyValues = ['pro', '🦊', "o'hara", 'back\\slash', '"quoted"', '{"a":1}', ' ', '100%']
const currencies = ['EUR', 'JPY', 'KWD']
// Åland sorts after every plain letter, Côte d’Ivoire after all of Congo, Costa Rica and Cyprus.
const countries: CountryCode[] = ['DE', 'US', 'GB', 'AX', 'AT', 'CI', 'CR', 'TR', 'TW', 'XK', 'ZZ', 'FR', 'IN']

// Below, at and above the gap that ends a session; halves of a second; and 15 s after 16 s, a change of -6.25 %.
const gapsMs = [0, 0, 1, 499, 500, 1000, 15_000, 16_000, 600_000, 600_000, 1_799_999, 1_800_000, 1_800_001]

/** An event of a person before its day, visitor and session are known. */
interface Hit {
  time: number
  name: string
  hostname: string
  pathname: string
  title: string
  referrer: string
  utmSource: string
  channel: Channel
}

/** `at` makes a second world of the same time, with another seed. A site whose zone is given has not moved. */
export function makeWorld(seed: string, number: number, at?: number, given?: string): World {
  const random = seeded(`${seed}/${number}`)
  const zone = given ?? random.pick(zones)
  const now = at ?? pickNow(random, zone)
  const before = given === undefined ? pickMove(random, zone, now) : { zone, until: now }
  const recordedAt = new Map<string, number>()
  const here = random.sample(countries, 1 + random.below(4))
  const vocabulary = {
    pathnames: random.sample(pathnames, 1 + random.below(pathnames.length)),
    hostnames: random.sample(hostnames, 1 + random.below(3)),
    names: random.sample(eventNames, 1 + random.below(5)),
  }

  const hasMoved = before.zone !== zone
  const pickTime = () =>
    hasMoved && random.oneIn(5) ? before.until + random.below(6 * hourMs) : pickEventTime(random, zone, now)

  const size = random.oneIn(15) ? 0 : 1 + random.below(random.pick([15, 70, 150]))
  const events: TrafficEvent[] = []
  while (events.length < size) {
    const hits: Hit[] = []
    const visits = 1 + random.below(6)
    for (let visit = 0; visit < visits; visit += 1) hits.push(...makeVisit(random, pickTime, now, vocabulary))
    // Sometimes a collector's clock was behind: its events have an earlier time, in the zone of that time.
    const behind = random.oneIn(4) ? random.below(40 * hourMs) : 0
    const stamp = (time: number) =>
      zoned(time, time + behind < before.until ? before.zone : zone)
        .toPlainDate()
        .toString()
    const some = personsEvents(random, hits.slice(0, size - events.length), stamp, here)
    for (const { eventId, time } of some) recordedAt.set(eventId, time + behind)
    events.push(...some)
  }
  return {
    number,
    zone,
    before,
    now,
    excludedCountries: random.sample(random.oneIn(4) ? countries : here, random.pick([0, 0, 1, 2, 3])),
    events: withDetails(
      seeded(`${seed}/${number}/details`),
      events.toSorted((a, b) => a.time - b.time),
    ),
    recordedAt,
    // Its random numbers are its own, too.
    imported: makeImported(seeded(`${seed}/${number}/imported`), { zone, now }),
  }
}

/** Adds what no report shows. Its random numbers are its own, so that a seed gives the traffic that it gave without them. */
function withDetails(random: Random, events: readonly TrafficEvent[]): TrafficEvent[] {
  const perVisitor = new Map<string, Pick<TrafficEvent, 'browser' | 'os'>>()
  const perSession = new Map<string, Pick<TrafficEvent, 'campaign' | 'importId'>>()
  return events.map((event) => {
    const [visitor, session] = [`${event.day} ${event.visitorId}`, `${event.day} ${event.sessionId}`]
    const [browser, os] = random.pick(families)
    if (!perVisitor.has(visitor)) perVisitor.set(visitor, { browser, os })
    if (!perSession.has(session))
      perSession.set(session, {
        ...(random.oneIn(2) && { campaign: makeCampaign(random) }),
        ...(random.oneIn(5) && { importId: random.uuid() }),
      })
    const keys = random.sample(propertyKeys, 1 + random.below(3))
    return {
      ...event,
      ...perVisitor.get(visitor),
      ...perSession.get(session),
      ...(random.oneIn(3) && { props: Object.fromEntries(keys.map((key) => [key, random.pick(propertyValues)])) }),
      ...(random.oneIn(4) && {
        revenue: { amount: random.pick([0, 1, 1_990, 1e12]), currency: random.pick(currencies) },
      }),
    }
  })
}

const makeCampaign = (random: Random): Campaign => ({
  medium: random.pick(tags),
  campaign: random.pick(tags),
  content: random.pick(tags),
  term: random.pick(tags),
})

/**
 * The site may have moved: events recorded before keep the day of the earlier zone. Best is a move from far in the east, yesterday
 * afternoon: there yesterday was over, and here it continues.
 */
function pickMove(random: Random, zone: string, now: number): World['before'] {
  if (random.oneIn(3)) {
    const yesterday = zoned(now, zone).toPlainDate().subtract({ days: 1 })
    const afternoon = startOfDay(yesterday, zone).epochMilliseconds + 16 * hourMs + random.below(2 * hourMs)
    return { zone: 'Pacific/Kiritimati', until: afternoon }
  }
  const earlier = random.oneIn(3) ? random.pick(zones) : zone
  return { zone: earlier, until: now - random.below(random.pick([1, 3, 12, 100]) * dayMs) }
}

interface Vocabulary {
  pathnames: string[]
  hostnames: string[]
  names: string[]
}

function makeVisit(random: Random, pickTime: () => number, now: number, vocabulary: Vocabulary): Hit[] {
  const length = random.pick([1, 1, 1, 2, 2, 3, 4, 6])
  const onlyCustom = random.oneIn(6)
  const referrer = random.pick(referrers)
  const utmSource = random.pick(utmSources)
  const channel = referrer === '' && utmSource === '' ? 'Direct' : random.pick(channels)
  const hostname = random.pick(vocabulary.hostnames)
  let time = pickTime()
  // Nothing is recorded before it happens, but a collector's clock may be ahead: rarely, so that windows are tested.
  if (time >= now && !random.oneIn(3)) time = now - 1 - random.below(1000)

  return Array.from({ length }, (_, index) => {
    if (index > 0) time += random.pick(gapsMs)
    return {
      time,
      name: onlyCustom || random.oneIn(4) ? random.pick(vocabulary.names) : pageview,
      hostname: random.oneIn(3) ? random.pick(vocabulary.hostnames) : hostname,
      pathname: random.pick(vocabulary.pathnames),
      title: random.pick(titles),
      referrer,
      utmSource,
      channel,
    }
  })
}

/** A person's hits as the collector would record them: one visitor id per day, and sessions by gap and midnight. */
function personsEvents(
  random: Random,
  unsorted: readonly Hit[],
  stamp: (time: number) => string,
  here: readonly CountryCode[],
): TrafficEvent[] {
  interface VisitorDay {
    visitorId: string
    country: CountryCode
    device: Device
  }
  const visitorDays = new Map<string, VisitorDay>()
  // Ids are unique only within a day: sometimes the same one returns on another day and must not count as the same.
  const sameEveryDay = random.oneIn(4) ? random.id() : undefined
  const taken = new Set<string>()
  const events: TrafficEvent[] = []
  for (const hit of unsorted.toSorted((a, b) => a.time - b.time)) {
    const day = stamp(hit.time)
    const visitor = visitorDays.get(day) ?? {
      visitorId: sameEveryDay ?? random.id(),
      country: random.pick(here),
      device: random.pick(devices),
    }
    visitorDays.set(day, visitor)
    const before = events.at(-1)
    const continues = before !== undefined && before.day === day && hit.time - before.time <= 1_800_000
    const returns = before !== undefined && sameEveryDay !== undefined && !taken.has(`${day} ${before.sessionId}`)
    const sessionId = continues || returns ? before.sessionId : random.id()
    taken.add(`${day} ${sessionId}`)
    events.push({
      siteId: '',
      day,
      ...hit,
      ...visitor,
      sessionId,
      eventId: random.uuid(),
      ...(continues && { referrer: before.referrer, utmSource: before.utmSource, channel: before.channel }),
    })
  }
  return events
}
