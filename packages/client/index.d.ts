// Generated from docs/openapi.json by `npm run docs`.
import type { FromHeaders, Options, Server } from './request.js'

export { FootfallError, type Options, type Period, type RateLimit, type Server } from './request.js'

/** What the API may answer instead of numbers. */
export type ErrorCode = 'unauthorized' | 'invalid_key' | 'key_disabled' | 'key_expired' | 'plan_required' | 'rate_limit_exceeded' | 'site_required' | 'forbidden' | 'unsupported_filter' | 'invalid_parameter' | 'invalid_date' | 'not_found' | 'method_not_allowed' | 'internal_error'

/** A parameter that is undefined or null is left out. */
interface SharedParameters {
  /** The time range, in days of the site’s time zone. `7d`, `30d` and `90d` end with today; `24h` ends now; `12m` is the last twelve months; `custom` needs `start` and `end`. */
  range?: '24h' | '7d' | '30d' | '90d' | '12m' | 'custom' | null | undefined
  /** First day of a custom range, inclusive: `2026-01-31` or `20260131`. A date-time is accepted too: its date counts as written, its time has no effect. */
  start?: string | null | undefined
  /** Last day of a custom range, inclusive, in the same format as `start`. A range never goes beyond the current time. */
  end?: string | null | undefined
  /** Maximum number of rows, from 1 to 100, on pages, referrers, devices, geo, events and utm. If the limit cuts the list, `Stats-Total-Rows` gives the full number. */
  limit?: number | null | undefined
  /** Only visitors from this country: a two-letter code of ISO 3166-1, in upper or lower case; ZZ means unknown. */
  country?: string | null | undefined
  /** Only visitors with this type of device: `desktop`, `mobile` or `tablet`, in upper or lower case. */
  device?: 'desktop' | 'mobile' | 'tablet' | null | undefined
  /** Only hits on this host: the name alone, in upper or lower case, without scheme, port or path. An international name needs no Punycode. */
  hostname?: string | null | undefined
  /** Only sessions with exactly this UTM source; upper and lower case differ. */
  utm_source?: string | null | undefined
  /** The site. Required with an account key. With a site key it may be left out; any other site is refused. */
  site_id?: string | null | undefined
  /** Where the page begins: `next_cursor` of the page before it, as it was received. */
  cursor?: string | null | undefined
}

/** A custom range needs both of its dates. */
type RangeParameters =
  | (Pick<SharedParameters, 'start' | 'end'> & { range?: Exclude<SharedParameters['range'], 'custom'> })
  | { range: 'custom'; start: string; end: string }

export interface OverviewResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'previousPeriod' | 'warnings'> {
  data: {
    /** The numbers of a period: `current` is the one that was asked for, `previous` the one before it. */
    current: {
      /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
      visitors: number
      /** Pageviews. */
      pageviews: number
      /** Sessions that started in the period. */
      sessions: number
      /** Sessions with exactly one pageview and no custom event, in percent of all sessions: a whole number from 0 to 100, rounded half up; 0 without sessions. */
      bounce_rate: number
      /** Mean duration of a session in whole seconds, rounded half up; a session of one event counts as 0 seconds; 0 without sessions. */
      avg_duration: number
    }
    /** The numbers of a period: `current` is the one that was asked for, `previous` the one before it. */
    previous: {
      /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
      visitors: number
      /** Pageviews. */
      pageviews: number
      /** Sessions that started in the period. */
      sessions: number
      /** Sessions with exactly one pageview and no custom event, in percent of all sessions: a whole number from 0 to 100, rounded half up; 0 without sessions. */
      bounce_rate: number
      /** Mean duration of a session in whole seconds, rounded half up; a session of one event counts as 0 seconds; 0 without sessions. */
      avg_duration: number
    }
    /** The change from `previous` to `current`. */
    change: {
      /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
      visitors: number | null
      /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
      pageviews: number | null
      /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
      sessions: number | null
      /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
      bounce_rate: number | null
      /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
      avg_duration: number | null
    }
  }
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type OverviewParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** Totals of the period, compared with the period before it: `GET /api/v1/stats/overview` */
export declare function overview(
  server: Server,
  parameters?: OverviewParameters,
  options?: Options,
): Promise<OverviewResult>

export interface TimeseriesRow {
  /** Calendar day in the site's time zone. */
  date: string
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
  /** Pageviews. */
  pageviews: number
}

export interface TimeseriesResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'warnings'> {
  data: TimeseriesRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type TimeseriesParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** Visitors and pageviews of every day of the period: `GET /api/v1/stats/timeseries` */
export declare function timeseries(
  server: Server,
  parameters?: TimeseriesParameters,
  options?: Options,
): Promise<TimeseriesResult>

export interface PagesRow {
  /** Path of the page, without query and fragment. */
  pathname: string
  /** The latest title seen for the path, over all time and whatever the filters; empty if there is none. */
  title: string
  /** Pageviews. */
  views: number
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
}

export interface PagesResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'totalRows' | 'warnings'> {
  data: PagesRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The limit that was applied. */
    limit: number
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type PagesParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** The most visited pages, by views: `GET /api/v1/stats/pages` */
export declare function pages(
  server: Server,
  parameters?: PagesParameters,
  options?: Options,
): Promise<PagesResult>

export interface ReferrersRow {
  /** Host in lower case, without www. and port. */
  referrer: string
  /** Pageviews. */
  views: number
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
}

export interface ReferrersResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'totalRows' | 'warnings'> {
  data: ReferrersRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The limit that was applied. */
    limit: number
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type ReferrersParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** The hosts visitors came from, by views: `GET /api/v1/stats/referrers` */
export declare function referrers(
  server: Server,
  parameters?: ReferrersParameters,
  options?: Options,
): Promise<ReferrersResult>

export interface ChannelsRow {
  /** How visitors came, classified when the session began. */
  channel: 'Cross-network' | 'Paid Shopping' | 'Paid Search' | 'Paid Social' | 'Paid Video' | 'Display' | 'Paid Other' | 'Organic Shopping' | 'Organic Social' | 'Organic Video' | 'AI Assistants' | 'Organic Search' | 'Email' | 'Affiliates' | 'Audio' | 'SMS' | 'Mobile Push Notifications' | 'Referral' | 'Direct'
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
  /** Share of all visitors in percent, a whole number rounded half up. A visitor may arrive by two channels in a day, so shares can exceed 100 together. */
  percentage: number
}

export interface ChannelsResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'warnings'> {
  data: ChannelsRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type ChannelsParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** Visitors by traffic channel: `GET /api/v1/stats/channels` */
export declare function channels(
  server: Server,
  parameters?: ChannelsParameters,
  options?: Options,
): Promise<ChannelsResult>

export interface DevicesRow {
  /** Type of device. */
  name: 'Desktop' | 'Mobile' | 'Tablet' | 'Unknown'
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
}

export interface DevicesResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'totalRows' | 'warnings'> {
  data: DevicesRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The limit that was applied. */
    limit: number
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type DevicesParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** Visitors by device type: `GET /api/v1/stats/devices` */
export declare function devices(
  server: Server,
  parameters?: DevicesParameters,
  options?: Options,
): Promise<DevicesResult>

export interface GeoRow {
  /** English name of the country in full, or Unknown. */
  name: string
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
}

export interface GeoResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'totalRows' | 'warnings'> {
  data: GeoRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The limit that was applied. */
    limit: number
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type GeoParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** Visitors by country: `GET /api/v1/stats/geo` */
export declare function geo(
  server: Server,
  parameters?: GeoParameters,
  options?: Options,
): Promise<GeoResult>

export interface EventsRow {
  /** Name of the custom event. */
  name: string
  /** Occurrences. */
  count: number
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
}

export interface EventsResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'totalRows' | 'warnings'> {
  data: EventsRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The limit that was applied. */
    limit: number
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type EventsParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** Custom events: how often, and by how many visitors: `GET /api/v1/stats/events` */
export declare function events(
  server: Server,
  parameters?: EventsParameters,
  options?: Options,
): Promise<EventsResult>

export interface UtmRow {
  /** UTM source as written in the link. */
  name: string
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors: number
}

export interface UtmResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'totalRows' | 'warnings'> {
  data: UtmRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The limit that was applied. */
    limit: number
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type UtmParameters = Pick<SharedParameters, 'limit' | 'country' | 'device' | 'hostname' | 'utm_source' | 'site_id'> & RangeParameters

/** Visitors by UTM source: `GET /api/v1/stats/utm` */
export declare function utm(
  server: Server,
  parameters?: UtmParameters,
  options?: Options,
): Promise<UtmResult>

export interface SitesRow {
  /** Identifier of the site. */
  site_id: string
  /** Domain of the site. */
  domain: string
  /** Time zone of the site, as an IANA name: its days begin at midnight there. */
  time_zone: string
}

export interface SitesResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'warnings'> {
  data: SitesRow[]
  meta: {
    /** The limit that was applied; null without one: the page has all sites that are left. */
    limit: number | null
    /** The cursor of the next page; null on the last page. */
    next_cursor: string | null
    /** When the list was made, in UTC. */
    generated_at: string
  }
}

export type SitesParameters = Pick<SharedParameters, 'cursor'> & {
  /** Only this site. Without it, all sites of the account with an account key, and its site with a site key. */
  site_id?: string | null | undefined
  /** Maximum number of sites, from 1 to 200. If there are more, `next_cursor` leads to them. Without it, all sites are in one answer. */
  limit?: number | null | undefined
}

/** The sites that the key may read, by domain: `GET /api/v1/sites` */
export declare function sites(
  server: Server,
  parameters?: SitesParameters,
  options?: Options,
): Promise<SitesResult>

export interface SitesOverviewRow {
  /** Identifier of the site. */
  site_id: string
  /** Domain of the site. */
  domain: string
  /** The current period of this site. */
  period: {
    /** When the current period begins, in the time zone of the site. */
    start: string
    /** When it ends; the end itself is not included. Until then the events of this site are counted. */
    end: string
  }
  /** The numbers of a period: `current` is the one that was asked for, `previous` the one before it. */
  current: {
    /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
    visitors: number
    /** Pageviews. */
    pageviews: number
    /** Sessions that started in the period. */
    sessions: number
    /** Sessions with exactly one pageview and no custom event, in percent of all sessions: a whole number from 0 to 100, rounded half up; 0 without sessions. */
    bounce_rate: number
    /** Mean duration of a session in whole seconds, rounded half up; a session of one event counts as 0 seconds; 0 without sessions. */
    avg_duration: number
  }
  /** The numbers of a period: `current` is the one that was asked for, `previous` the one before it. */
  previous: {
    /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
    visitors: number
    /** Pageviews. */
    pageviews: number
    /** Sessions that started in the period. */
    sessions: number
    /** Sessions with exactly one pageview and no custom event, in percent of all sessions: a whole number from 0 to 100, rounded half up; 0 without sessions. */
    bounce_rate: number
    /** Mean duration of a session in whole seconds, rounded half up; a session of one event counts as 0 seconds; 0 without sessions. */
    avg_duration: number
  }
  /** The change from `previous` to `current`. */
  change: {
    /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
    visitors: number | null
    /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
    pageviews: number | null
    /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
    sessions: number | null
    /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
    bounce_rate: number | null
    /** Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0. */
    avg_duration: number | null
  }
}

export interface SitesOverviewResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'warnings'> {
  data: SitesOverviewRow[]
  meta: {
    /** The range that was applied. */
    range: string
    /** The limit that was applied. */
    limit: number
    /** The cursor of the next page; null on the last page. */
    next_cursor: string | null
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type SitesOverviewParameters = Pick<SharedParameters, 'country' | 'device' | 'hostname' | 'utm_source' | 'cursor'> & RangeParameters & {
  /** Only this site. Without it, all sites of the account with an account key, and its site with a site key. */
  site_id?: string | null | undefined
  /** Maximum number of sites, from 1 to 200. If there are more, `next_cursor` leads to them. */
  limit?: number | null | undefined
}

/** Totals of the period for all sites that the key may read, by domain, as one request: `GET /api/v1/sites/overview` */
export declare function sitesOverview(
  server: Server,
  parameters?: SitesOverviewParameters,
  options?: Options,
): Promise<SitesOverviewResult>

export interface CountriesRow {
  /** Two-letter code of ISO 3166-1, or XK for Kosovo, or ZZ for unknown. */
  code: string
  /** Name in English, as geo returns it. */
  name: string
}

export interface CountriesResult extends Pick<FromHeaders, 'requestId' | 'warnings'> {
  data: CountriesRow[]
  meta: {
    /** When the list was made, in UTC. */
    generated_at: string
  }
}

/** The country codes that the filter takes, with their names in full, by code: `GET /api/v1/countries` */
export declare function countries(
  server: Pick<Server, 'url' | 'waitSeconds'>,
  options?: Options,
): Promise<CountriesResult>
