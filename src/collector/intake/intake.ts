// Turns the payload of a client into an event, in a list of steps. Each step finds out one thing about the hit or returns the reason to
// drop it. Every dropped hit is counted by its reason.
import { type KeyObject, randomUUID } from 'node:crypto'
import type { Site } from '../../accounts/sites.ts'
import { agentOf } from '../../enrichment/agent.ts'
import { classifyChannel } from '../../enrichment/channel.ts'
import type { Countries } from '../../enrichment/country.ts'
import { dayIn } from '../../enrichment/day.ts'
import { deviceOf } from '../../enrichment/device.ts'
import { cleanTitle, hostnameOf, maxNameLength, maxUrlLength, readPageUrl } from '../../enrichment/page.ts'
import { readProps } from '../../enrichment/props.ts'
import { readRevenue } from '../../enrichment/revenue.ts'
import type { Salts } from '../../enrichment/salts.ts'
import type { Origin, Session, Sessions } from '../../enrichment/session.ts'
import { readReferrer, readTags } from '../../enrichment/source.ts'
import { isSpam } from '../../enrichment/spam.ts'
import { type Sender, visitorIdOf } from '../../enrichment/visitor.ts'
import { isAllowedHost, isSiteHost } from '../../hostnames.ts'
import type { DropReason } from '../../traffic/drop-reasons.ts'
import { type Campaign, pageview } from '../../traffic/event.ts'
import type { SpooledEvent } from '../spool/spooled-event.ts'
import type { DroppedEvents } from './dropped-events.ts'
import { type Hit, newHit, type OnIgnored } from './hit.ts'
import { type LimitedDay, other, type ValueLimiter } from './value-limits.ts'

/** The services that the steps use. */
export interface Sources {
  siteOfDomain(domain: string): Site | undefined | Promise<Site | undefined>
  countries: Pick<Countries, 'countryOf'>
  salts: Pick<Salts, 'of'>
  sessions: Pick<Sessions, 'join'>
  values: Pick<ValueLimiter, 'ofEvent'>
  limits: {
    /** Seconds until the site may record another event, 0 when it may now. */
    takeOfSite(siteId: string): number
  }
  now(): number
  /** Told of events that a known site drops. */
  droppedEvents?: Pick<DroppedEvents, 'note'>
}

/** The fields of an event that Footfall reads, by long and short name; docs/tracker.md has the table. */
export const eventFields: ReadonlySet<string> = new Set(
  ['name', 'url', 'domain', 'referrer', 'title', 'props', 'meta']
    .flatMap((name) => [name, name.charAt(0)])
    .concat('revenue', '$', 'id'),
)

type Verdict = DropReason | undefined

/** Cheap steps come first, so that a hit that is dropped anyway causes no lookup. */
const steps: readonly ((hit: Hit, sources: Sources) => Verdict | Promise<Verdict>)[] = [
  readName,
  readAddress,
  readId,
  readTitle,
  readAgent,
  findSite,
  allowHostname,
  findReferrer,
  refuseSpam,
  chargeSite,
  readProperties,
  locate,
  identify,
  limitValues,
  joinSession,
]

type Outcome = SpooledEvent | DropReason

/**
 * Synchronous for nearly every hit. Returns a promise only when a store must be queried; it rejects when that store is down, because a
 * hit can be sent again but not guessed.
 */
export function takeIn(
  payload: unknown,
  sender: Sender,
  sources: Sources,
  onIgnored?: OnIgnored,
): Outcome | Promise<Outcome> {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return 'not_an_object'
  return goOn(newHit(sender, payload as Hit['payload'], sources.now(), onIgnored), sources, 0)
}

function goOn(hit: Hit, sources: Sources, from: number): Outcome | Promise<Outcome> {
  for (let index = from; index < steps.length; index++) {
    const verdict = steps[index]?.(hit, sources)
    if (verdict instanceof Promise)
      return verdict.then((reason) => (reason ? drop(hit, sources, reason) : goOn(hit, sources, index + 1)))
    if (verdict) return drop(hit, sources, verdict)
  }
  return { shard: hit.site.shard, event: hit.event, isRepeatable: hit.isRepeatable }
}

/** Of steps before the one that finds the site, only bots are noted: servers that send events are often taken for one. */
function drop(hit: Hit, { siteOfDomain, droppedEvents }: Sources, reason: DropReason): DropReason {
  const { eventId, hostname, time: at } = hit.event
  const noteFor = (siteId: string | undefined) => {
    if (siteId)
      droppedEvents?.note({ siteId, eventId, at, reason, hostname: reason === 'hostname_not_allowed' ? hostname : '' })
  }
  if (reason === 'bot' && droppedEvents && isSiteHost(hit.domain)) {
    const site = siteOfDomain(hit.domain)
    if (site instanceof Promise)
      site.then(
        (found) => noteFor(found?.id),
        () => {}, // the event is dropped in any case
      )
    else noteFor(site?.id)
  } else noteFor(hit.event.siteId)
  return reason
}

/** Runs `go` at once for a value, and later for a promise. */
function when<Value>(value: Value | Promise<Value>, go: (value: Value) => Verdict): Verdict | Promise<Verdict> {
  return value instanceof Promise ? value.then(go) : go(value)
}

function readName({ payload, event }: Hit): Verdict {
  const name = textOf(payload.name ?? payload.n)
  if (name.trim() === '' || name.length > maxNameLength) return 'invalid_name'
  // Newer trackers of other products report the time on a page in an event of this name. It is not a custom event.
  if (name === 'engagement') return 'no_page_event'
  event.name = name.toWellFormed()
}

function readAddress(hit: Hit): Verdict {
  const { payload, event } = hit
  const url = readPageUrl(textOf(payload.url ?? payload.u))
  if (!url) return 'invalid_url'
  hit.url = url
  event.hostname = hostnameOf(url)
  event.pathname = url.pathname
  hit.domain = textOf(payload.domain ?? payload.d)
    .trim()
    .toLowerCase()
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function readId(hit: Hit): Verdict {
  const { id } = hit.payload
  if (id === undefined || id === null) {
    hit.event.eventId = randomUUID()
    return
  }
  if (typeof id !== 'string' || !uuid.test(id)) return 'invalid_id'
  hit.isRepeatable = true
  hit.event.eventId = id.toLowerCase()
}

function readTitle({ payload, event }: Hit): undefined {
  event.title = cleanTitle(textOf(payload.title ?? payload.t))
}

function readAgent({ sender, event }: Hit): Verdict {
  const { isBot, browser, os } = agentOf(sender.userAgent)
  if (isBot) return 'bot'
  event.browser = browser
  event.os = os
}

function findSite(hit: Hit, { siteOfDomain }: Sources): Verdict | Promise<Verdict> {
  const lookup = isSiteHost(hit.domain) ? siteOfDomain(hit.domain) : undefined
  return when(lookup, (site) => {
    if (!site) return 'unknown_site'
    hit.site = site
    hit.event.siteId = site.id
    hit.event.day = dayIn(site.timeZone, hit.event.time)
  })
}

/** Site ids are public, so anybody can send hits with pages and host names of their own (decision D-157). */
function allowHostname({ site, event: { hostname } }: Hit): Verdict {
  if (!isAllowedHost(hostname, site)) return 'hostname_not_allowed'
}

function findReferrer(hit: Hit): undefined {
  const { payload, url, site } = hit
  hit.referrer = readReferrer(url, textOf(payload.referrer ?? payload.r).slice(0, maxUrlLength), site)
}

function refuseSpam({ referrer }: Hit): Verdict {
  if (isSpam(referrer)) return 'spam_referrer'
}

/** Late, so that events that are dropped anyway do not use up the site's limit. */
function chargeSite({ site }: Hit, { limits }: Sources): Verdict {
  if (limits.takeOfSite(site.id) > 0) return 'site_limit'
}

/** A field that cannot be recorded does not drop the hit. */
function readProperties({ payload, event, onIgnored }: Hit): undefined {
  const { props, dropped } = readProps(payload.props ?? payload.p ?? payload.meta ?? payload.m)
  event.props = props
  if (dropped.length > 0) onIgnored?.(dropped)
  const revenue = readRevenue(payload.revenue ?? payload.$)
  if (revenue === 'invalid') onIgnored?.(['revenue'])
  else event.revenue = revenue
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

/** Late, so that only counted events use up the limits. A path recorded as `(other)` gets no title: it is many pages (decision D-155). */
function limitValues(hit: Hit, { values }: Sources): undefined {
  const { event } = hit
  const properties = event.props ? Object.keys(event.props).length : 0
  hit.limits = values.ofEvent(event.siteId, event.day, properties)
  if (!hit.limits) return
  if (event.name !== pageview) event.name = hit.limits.nameOf('event', event.name)
  event.hostname = hit.limits.nameOf('hostname', event.hostname)
  const pathname = hit.limits.nameOf('path', event.pathname)
  if (pathname !== event.pathname) event.title = ''
  event.pathname = pathname
  if (event.props) event.props = limitedProps(event.props, hit.limits, hit.onIgnored)
}

/** A property whose key is over the limit is dropped: under a common name its values would mean nothing. */
function limitedProps(
  props: Readonly<Record<string, string>>,
  limits: LimitedDay,
  onIgnored?: OnIgnored,
): Record<string, string> | undefined {
  const limited: [key: string, value: string][] = []
  const dropped: string[] = []
  for (const [key, value] of Object.entries(props)) {
    if (limits.nameOf('property_key', key) === other) dropped.push(`props.${key}`)
    else limited.push([key, limits.nameOf('property', `${key}=${value}`) === other ? other : value])
  }
  if (dropped.length > 0) onIgnored?.(dropped)
  return limited.length > 0 ? Object.fromEntries(limited) : undefined
}

/** Every hit carries the referrer, channel and UTM tags of the session's first hit (decision D-5), so only that hit computes them. */
function joinSession(hit: Hit, { sessions }: Sources): Verdict | Promise<Verdict> {
  const { event } = hit
  const joined = sessions.join(event.siteId, event.visitorId, event.time, () => originOf(hit))
  return when(joined, (session: Session) => {
    event.sessionId = session.id
    event.referrer = session.referrer
    event.channel = session.channel
    event.utmSource = session.utmSource
    event.campaign = session.campaign
    return undefined
  })
}

/** The channel follows from the real referrer and source; the session then carries their limited values. */
function originOf({ referrer, url, limits }: Hit): Origin {
  const { utmSource, campaign, clickId } = readTags(url)
  return {
    referrer: limits ? limits.nameOf('referrer', referrer) : referrer,
    channel: classifyChannel({ referrer, utmSource, campaign, clickId }),
    utmSource: limits ? limits.nameOf('source', utmSource) : utmSource,
    campaign: campaign && limits ? limitedCampaign(campaign, limits) : campaign,
  }
}

const limitedCampaign = ({ medium, campaign, content, term }: Campaign, limits: LimitedDay): Campaign => ({
  medium: limits.nameOf('medium', medium),
  campaign: limits.nameOf('campaign', campaign),
  content: limits.nameOf('content', content),
  term: limits.nameOf('term', term),
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
