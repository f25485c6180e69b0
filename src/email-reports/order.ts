import type { Filter } from '../stats/questions/filters.ts'
import type { StatsSite } from '../stats/report.ts'
import type { Interval } from './due.ts'

export type ReportedSite = StatsSite & { domain: string }

/** Longer names are cut where they are shown, never in an address. */
export const maxDomain = 64

/** Everything that decides what a report says, except the traffic. */
export interface ReportOrder {
  interval: Interval
  /** Of the period, `YYYY-MM-DD`. */
  firstDay: string
  /** One site in detail, or a line for each site of an account. */
  about: { site: ReportedSite; filters?: readonly Filter[] } | { account: string; sites: readonly ReportedSite[] }
  /** When the recipient wants it: the hour on the clock of a zone. */
  hour: number
  zone: string
  /** Of the console, without a slash at its end. */
  publicUrl: string
  /** Where the recipient changes or ends the subscription. */
  changeUrl: string
  /** Ends it with one click, without signing in. */
  unsubscribeUrl: string
  /** UTC milliseconds, both. */
  dueAt: number
  now: number
}
