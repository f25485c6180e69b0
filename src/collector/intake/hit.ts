import type { Site } from '../../accounts/sites.ts'
import type { Sender } from '../../enrichment/visitor.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import type { LimitedDay } from './value-limits.ts'

/** One event on its way through the intake: the payload, and what the steps have found out so far. */
export interface Hit {
  readonly sender: Sender
  readonly payload: Readonly<Record<string, unknown>>
  /** The client gave the event an id, so the client may send it again. */
  isRepeatable: boolean
  domain: string
  url: URL
  site: Site
  /** The referrer's host, or empty. */
  referrer: string
  event: TrafficEvent
  /** Which values the site may still record today; undefined when there is no limit. */
  limits: LimitedDay | undefined
  /** Called with the names of fields that are not recorded; undefined if nobody asked. */
  readonly onIgnored: OnIgnored | undefined
}

export type OnIgnored = (fields: readonly string[]) => void

const nowhere = new URL('http://nowhere.invalid/')
const noSite = {} as Site

/** A hit with empty fields, which the steps of the intake fill in. */
export const newHit = (sender: Sender, payload: Hit['payload'], time: number, onIgnored?: OnIgnored): Hit => ({
  sender,
  payload,
  isRepeatable: false,
  domain: '',
  url: nowhere,
  site: noSite,
  referrer: '',
  limits: undefined,
  onIgnored,
  event: {
    siteId: '',
    day: '',
    time,
    visitorId: '',
    sessionId: '',
    eventId: '',
    name: '',
    hostname: '',
    pathname: '',
    title: '',
    referrer: '',
    channel: 'Direct',
    utmSource: '',
    campaign: undefined,
    country: 'ZZ',
    device: 'Unknown',
    browser: '',
    os: '',
    props: undefined,
    revenue: undefined,
  },
})
