import type { Channel } from './channel.ts'
import type { CountryCode } from './country.ts'
import type { Device } from './device.ts'

/** One recorded hit. Its day, session, channel and country are decided once, before this point. */
export interface TrafficEvent {
  siteId: string
  /** The calendar day in the site's zone when the event was recorded, `YYYY-MM-DD`. It is never computed again (decision D-1). */
  day: string
  /** UTC milliseconds since the epoch. */
  time: number
  /** 64-bit ids in decimal, because they do not fit into a JavaScript number. Unique within a site and day. */
  visitorId: string
  sessionId: string
  /** UUID. Two events with the same id are the same event. */
  eventId: string
  /** `pageview`, or the name of a custom event. */
  name: string
  hostname: string
  pathname: string
  title: string
  /** Referrer of the session's first event: a host without `www.`, or empty. */
  referrer: string
  channel: Channel
  /** UTM source of the session's first event, as written, or empty. */
  utmSource: string
  /** The other UTM tags of the session's first event; absent if it had none. */
  campaign?: Campaign | undefined
  country: CountryCode
  device: Device
  /** Families without versions, such as `Firefox` and `Android`; `Unknown` if not recognised. Absent in a spool of an earlier version. */
  browser?: string
  os?: string
  /** Custom properties by key; absent if there are none. */
  props?: Readonly<Record<string, string>> | undefined
  revenue?: Revenue | undefined
  /** The import that the event came with, a UUID; absent for live events. */
  importId?: string
}

/** UTM tags beside the source, as written, or empty. */
export interface Campaign {
  medium: string
  campaign: string
  content: string
  term: string
}

export interface Revenue {
  /** An integer in the currency's minor unit: cents of EUR. Never converted. */
  amount: number
  /** ISO 4217. */
  currency: string
}

export const pageview = 'pageview'
