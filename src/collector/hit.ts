import type { Site } from '../accounts/sites.ts'
import type { TrafficEvent } from '../traffic/event.ts'
import type { LimitedDay } from './value-limits.ts'

/** Who sent a request. Lives in memory only, and no longer than the request; a user agent alone, for up to a minute, to judge it once. */
export interface Sender {
  ip: string
  userAgent: string
  secChUaMobile: string | undefined
}

/** One event on its way through the intake: what was sent, and what each step has found out about it. */
export interface Hit {
  readonly sender: Sender
  readonly sent: Readonly<Record<string, unknown>>
  /** The client gave it an id, so it may come again. */
  isRepeatable: boolean
  domain: string
  url: URL
  site: Site
  /** Its host, or empty. */
  referrer: string
  event: TrafficEvent
  /** Which values its site may still have today; undefined for any. */
  limits: LimitedDay | undefined
}

const nowhere = new URL('http://nowhere.invalid/')
const noSite = {} as Site

/** Everything empty: the steps of the intake fill it in, in their order. */
export const newHit = (sender: Sender, sent: Hit['sent'], time: number): Hit => ({
  sender,
  sent,
  isRepeatable: false,
  domain: '',
  url: nowhere,
  site: noSite,
  referrer: '',
  limits: undefined,
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
    country: 'ZZ',
    device: 'Unknown',
  },
})
