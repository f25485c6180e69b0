// From what was sent to an event, as a list of steps: each finds out one thing about the hit or names the reason to drop it.
// Whatever is dropped is counted by that reason; nothing is dropped without one.
import { type KeyObject, randomUUID } from 'node:crypto'
import type { Site } from '../accounts/sites.ts'
import { pageview, type TrafficEvent } from '../traffic/event.ts'
import { isBot } from './bots.ts'
import { dayIn } from './calendar.ts'
import { classifyChannel } from './channel.ts'
import type { Countries } from './country.ts'
import { deviceOf } from './device.ts'
import { type Hit, newHit, type Sender } from './hit.ts'
import type { Limits } from './limits.ts'
import { remember } from './remember.ts'
import type { Salts } from './salts.ts'
import type { Origin, Session, Sessions } from './sessions.ts'
import { readReferrer, readTags } from './source.ts'
import { isSpam } from './spam.ts'
import type { ValueLimiter } from './value-limits.ts'
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
  'site_limit',
] as const

export type DropReason = (typeof dropReasons)[number]

/** What the steps ask. */
export interface Sources {
  siteOfDomain(domain: string): Site | undefined | Promise<Site | undefined>
  countries: Pick<Countries, 'countryOf'>
  salts: Pick<Salts, 'of'>
  sessions: Pick<Sessions, 'join'>
  values: Pick<ValueLimiter, 'ofEvent'>
  limits: Pick<Limits, 'takeOfSite'>
  now(): number
}

export const longestUrl = 2_000
export const longestName = 120
export const longestTitle = 500

/** What is read of an event, by its name and its short name; the table in docs/integrate.md. */
export const eventFields: ReadonlySet<string> = new Set(
  ['name', 'url', 'domain', 'referrer', 'title'].flatMap((name) => [name, name.charAt(0)]).concat('id'),
)

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
  findReferrer,
  refuseSpam,
  chargeSite,
  locate,
  identify,
  limitValues,
  joinSession,
]

export interface Taken {
  event: TrafficEvent
  isRepeatable: boolean
}

type Outcome = Taken | DropReason

/**
 * At once when everything is known, as it is for nearly every hit; a promise when a neighbour has to be asked, which is rejected when
 * that does not answer: the hit can be sent again, but not guessed.
 */
export function takeIn(sent: unknown, sender: Sender, sources: Sources): Outcome | Promise<Outcome> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return 'not_an_object'
  return goOn(newHit(sender, sent as Hit['sent'], sources.now()), sources, 0)
}

function goOn(hit: Hit, sources: Sources, from: number): Outcome | Promise<Outcome> {
  for (let index = from; index < steps.length; index++) {
    const verdict = steps[index]?.(hit, sources)
    if (verdict instanceof Promise) return verdict.then((reason) => reason ?? goOn(hit, sources, index + 1))
    if (verdict) return verdict
  }
  return { event: hit.event, isRepeatable: hit.isRepeatable }
}

/** What a step does with something that is mostly known already. */
function when<Value>(value: Value | Promise<Value>, go: (value: Value) => Verdict): Verdict | Promise<Verdict> {
  return value instanceof Promise ? value.then(go) : go(value)
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

function findSite(hit: Hit, { siteOfDomain }: Sources): Verdict | Promise<Verdict> {
  const found = isDomain.test(hit.domain) ? siteOfDomain(hit.domain) : undefined
  return when(found, (site) => {
    if (!site) return 'unknown_site'
    hit.site = site
    hit.event.siteId = site.id
    hit.event.day = dayIn(site.timeZone, hit.event.time)
  })
}

const isDomain = /^[a-z0-9.-]{1,253}$/

/** Ids are public, so anybody could send hits of pages and host names of their own (decision D-157). */
function allowHostname({ site: { hostnames, allowSubdomains }, event: { hostname } }: Hit): Verdict {
  const isAllowed = hostnames.some(
    (own) => hostname === own || hostname === `www.${own}` || (allowSubdomains && hostname.endsWith(`.${own}`)),
  )
  if (!isAllowed) return 'hostname_not_allowed'
}

function findReferrer(hit: Hit): undefined {
  const { sent, url, site } = hit
  hit.referrer = readReferrer(url, textOf(sent.referrer ?? sent.r).slice(0, longestUrl), site)
}

function refuseSpam({ referrer }: Hit): Verdict {
  if (isSpam(referrer)) return 'spam_referrer'
}

/** Only for what would be counted: nobody can use up a site's share with events that are dropped anyway. */
function chargeSite({ site }: Hit, { limits }: Sources): Verdict {
  if (limits.takeOfSite(site.id) > 0) return 'site_limit'
}

function locate({ sender, event }: Hit, { countries }: Sources): undefined {
  event.country = countries.countryOf(sender.ip)
  event.device = deviceOf(sender.userAgent, sender.secChUaMobile)
}

function identify({ sender, site, event }: Hit, { salts }: Sources): Verdict | Promise<Verdict> {
  return when(salts.of(site.timeZone, event.day), (salt: KeyObject) => {
    event.visitorId = visitorIdOf(salt, event, sender)
    return undefined
  })
}

/** Late, so that only what is counted takes part. A path without a name has no title: it is many pages (decision D-155). */
function limitValues(hit: Hit, { values }: Sources): undefined {
  const { event } = hit
  hit.limits = values.ofEvent(event.siteId, event.day)
  if (!hit.limits) return
  if (event.name !== pageview) event.name = hit.limits.nameOf('event', event.name)
  event.hostname = hit.limits.nameOf('hostname', event.hostname)
  const pathname = hit.limits.nameOf('path', event.pathname)
  if (pathname !== event.pathname) event.title = ''
  event.pathname = pathname
}

/** Referrer, channel and UTM are those of the session's first hit, on every hit (decision D-5), so only of that are they found out. */
function joinSession(hit: Hit, { sessions }: Sources): Verdict | Promise<Verdict> {
  const { event } = hit
  const joined = sessions.join(event.siteId, event.visitorId, event.time, () => originOf(hit))
  return when(joined, (session: Session) => {
    event.sessionId = session.id
    event.referrer = session.referrer
    event.channel = session.channel
    event.utmSource = session.utmSource
    return undefined
  })
}

/** The channel is that of the real referrer and source; the session then carries what may be recorded of them. */
function originOf({ referrer, url, limits }: Hit): Origin {
  const { utmSource, ...tags } = readTags(url)
  return {
    referrer: limits ? limits.nameOf('referrer', referrer) : referrer,
    channel: classifyChannel({ referrer, utmSource, ...tags }),
    utmSource: limits ? limits.nameOf('source', utmSource) : utmSource,
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
