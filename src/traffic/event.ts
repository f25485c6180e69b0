import type { Channel } from './channel.ts'
import type { CountryCode } from './country.ts'
import type { Device } from './device.ts'

/** One recorded hit. Everything that is decided once (day, session, channel, country) was decided before it got this far. */
export interface TrafficEvent {
  siteId: string
  /** The calendar day in the site's zone when the event was recorded, `YYYY-MM-DD`; never computed again (decision D-1). */
  day: string
  /** UTC milliseconds since the epoch. */
  time: number
  /** 64-bit ids in decimal: they do not fit into a JavaScript number. Unique within a site and day. */
  visitorId: string
  sessionId: string
  /** UUID; a repeated id is the same event. */
  eventId: string
  /** `pageview`, or the name of a custom event. */
  name: string
  hostname: string
  pathname: string
  title: string
  /** Of the session's first event: host without `www.`, or empty for none. */
  referrer: string
  channel: Channel
  /** Of the session's first event, as written, or empty for none. */
  utmSource: string
  country: CountryCode
  device: Device
}

export const pageview = 'pageview'
