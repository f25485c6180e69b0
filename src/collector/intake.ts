// From what was sent to an event, as a list of steps: each finds out one thing about the hit or names the reason to drop it.
// Whatever is dropped is counted by that reason; nothing is dropped without one.
import { randomUUID } from 'node:crypto'
import type { Site } from '../accounts/sites.ts'
import type { TrafficEvent } from '../traffic/event.ts'
import { isBot } from './bots.ts'
import { dayIn } from './calendar.ts'
import { classifyChannel } from './channel.ts'
import type { Countries } from './country.ts'
import { deviceOf } from './device.ts'
import { type Hit, newHit, type Sender } from './hit.ts'
import { remember } from './remember.ts'
import type { Salts } from './salts.ts'
import type { Sessions } from './sessions.ts'
import { readSource } from './source.ts'
import { isSpam } from './spam.ts'
import { visitorIdOf } from './visitor.ts'

/** Why an event is not counted. */
export const dropReasons = [
  'not_an_object',
  'invalid_name',
  'invalid_url',
  'invalid_id',
  'no_page_event',
  'unknown_site',
  'hostname_not_allowed',
  'bot',
  'spam_referrer',
] as const

export type DropReason = (typeof dropReasons)[number]

/** What the steps ask. */
export interface Sources {
  siteOfDomain(domain: string): Promise<Site | undefined>
  countries: Pick<Countries, 'countryOf'>
  salts: Pick<Salts, 'of'>
  sessions: Pick<Sessions, 'join'>
  now(): number
}

export const longestUrl = 2_000
export const longestName = 120
export const longestTitle = 500

type Verdict = DropReason | undefined

/** In this order: what costs nothing first, and nobody is looked up for a hit that is dropped anyway. */
const steps: readonly ((hit: Hit, sources: Sources) => Verdict | Promise<Verdict>)[] = [
  readName,
  readAddress,
  readId,
  readTitle,
  refuseBots,
  findSite,
  allowHostname,
  readOrigin,
  refuseSpam,
  locate,
  identify,
  joinSession,
]

export interface Taken {
  event: TrafficEvent
  /** Whose midnight decides when the event's day is over. */
  zone: string
  isRepeatable: boolean
}

/** Throws when a neighbour that has to be asked does not answer: the hit can be sent again, but not guessed. */
export async function takeIn(sent: unknown, sender: Sender, sources: Sources): Promise<Taken | DropReason> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return 'not_an_object'
  const hit = newHit(sender, sent as Hit['sent'], sources.now())
  for (const step of steps) {
    const verdict = step(hit, sources)
    const reason = verdict instanceof Promise ? await verdict : verdict
    if (reason) return reason
  }
  return { event: hit.event, zone: hit.site.timeZone, isRepeatable: hit.isRepeatable }
}

function readName({ sent, event }: Hit): Verdict {
  const name = textOf(sent.name ?? sent.n)
  if (name.trim() === '' || name.length > longestName) return 'invalid_name'
  // Newer trackers of this field tell how long a page was looked at in an event of their own: it is nobody's custom event.
  if (name === 'engagement') return 'no_page_event'
  event.name = name.toWellFormed()
}

function readAddress(hit: Hit): Verdict {
  const { sent, event } = hit
  const text = textOf(sent.url ?? sent.u)
  const url = text.length > longestUrl ? null : URL.parse(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return 'invalid_url'
  hit.url = url
  event.hostname = url.hostname.replace(/\.$/, '')
  event.pathname = url.pathname
  hit.domain = textOf(sent.domain ?? sent.d)
    .trim()
    .toLowerCase()
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function readId(hit: Hit): Verdict {
  const { id } = hit.sent
  if (id === undefined || id === null) {
    hit.event.eventId = randomUUID()
    return
  }
  if (typeof id !== 'string' || !uuid.test(id)) return 'invalid_id'
  hit.isRepeatable = true
  hit.event.eventId = id.toLowerCase()
}

function readTitle({ sent, event }: Hit): undefined {
  event.title = textOf(sent.title ?? sent.t)
    .slice(0, longestTitle)
    .trim()
    .toWellFormed()
}

const isKnownBot = remember(isBot)

function refuseBots({ sender }: Hit): Verdict {
  if (isKnownBot(sender.userAgent)) return 'bot'
}

async function findSite(hit: Hit, { siteOfDomain }: Sources): Promise<Verdict> {
  const site = isDomain.test(hit.domain) ? await siteOfDomain(hit.domain) : undefined
  if (!site) return 'unknown_site'
  hit.site = site
  hit.event.siteId = site.id
  hit.event.day = dayIn(site.timeZone, hit.event.time)
}

const isDomain = /^[a-z0-9.-]{1,253}$/

/** The site's host names and whatever is below them: ids are public, so anybody could send hits of pages of their own. */
function allowHostname({ site, event: { hostname } }: Hit): Verdict {
  const isAllowed = site.hostnames.some((allowed) => hostname === allowed || hostname.endsWith(`.${allowed}`))
  if (!isAllowed) return 'hostname_not_allowed'
}

function readOrigin(hit: Hit): undefined {
  const { sent, url, site, event } = hit
  hit.source = readSource(url, textOf(sent.referrer ?? sent.r).slice(0, longestUrl), site.hostnames)
  event.channel = classifyChannel(hit.source)
}

function refuseSpam({ source }: Hit): Verdict {
  if (isSpam(source.referrer)) return 'spam_referrer'
}

function locate({ sender, event }: Hit, { countries }: Sources): undefined {
  event.country = countries.countryOf(sender.ip)
  event.device = deviceOf(sender.userAgent, sender.secChUaMobile)
}

async function identify({ sender, site, event }: Hit, { salts }: Sources): Promise<undefined> {
  const salt = await salts.of(site.timeZone, event.day)
  event.visitorId = visitorIdOf(salt, event, sender)
}

/** Referrer, channel and UTM are those of the session's first hit, on every hit (decision D-5). */
async function joinSession({ source, event }: Hit, { sessions }: Sources): Promise<undefined> {
  const origin = { referrer: source.referrer, channel: event.channel, utmSource: source.utmSource }
  const session = await sessions.join(event.siteId, event.visitorId, event.time, origin)
  event.sessionId = session.id
  event.referrer = session.referrer
  event.channel = session.channel
  event.utmSource = session.utmSource
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
