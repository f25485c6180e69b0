// Generated from docs/openapi-v2.json by `npm run docs`.
import type { FromHeaders, Options, Server } from './request.js'

export { FootfallError, type Options, type Period, type RateLimit, type Server } from './request.js'

/** What the API may answer instead of numbers. */
export type ErrorCode = 'unauthorized' | 'invalid_key' | 'key_disabled' | 'key_expired' | 'plan_required' | 'rate_limit_exceeded' | 'site_required' | 'forbidden' | 'invalid_parameter' | 'invalid_filter' | 'invalid_date' | 'range_not_kept' | 'query_too_expensive' | 'too_many_streams' | 'not_found' | 'method_not_allowed' | 'internal_error'

/** A parameter that is undefined or null is left out. */
interface SharedParameters {
  /** The time range, in days of the site’s time zone. `7d`, `30d` and `90d` end with today; `24h` ends now; `12m` is the last twelve months; `custom` needs `start` and `end`. */
  range?: '24h' | '7d' | '30d' | '90d' | '12m' | 'custom' | null | undefined
  /** First day of a custom range, inclusive: `2026-01-31` or `20260131`. A date-time is accepted too: its date counts as written, its time has no effect. */
  start?: string | null | undefined
  /** Last day of a custom range, inclusive, in the same format as `start`. A range never goes beyond the current time. */
  end?: string | null | undefined
  /** The site. Required with an account key. With a site key it may be left out; any other site is refused. */
  site_id?: string | null | undefined
  /** The numbers to count, separated by commas: `visitors`, `pageviews`, `sessions`, `bounce_rate`, `avg_duration`, `views_per_session`, `events`, `conversions`, `conversion_rate`, `revenue:<currency>`. The default of totals is the first five, elsewhere `visitors,pageviews`; of lists by `event`, `goal` or a property `visitors,events`. */
  metrics?: string | null | undefined
  /** `dimension:operator:value`; may be sent up to 8 times, and all must hold. The dimension is one of `page`, `hostname`, `event`, `goal`, `entry_page`, `exit_page`, `referrer`, `channel`, `utm_source`, `utm_medium`, `utm_campaign`, `utm_content`, `utm_term`, `country`, `device`, `browser`, `os`, `prop:<key>`, the operator one of `is`, `is_not`, `contains`, `starts_with`. Several values, separated by commas, are alternatives; `\,` is a comma in a value and `\\` a backslash. An empty value means "has none". */
  filter?: string | readonly string[] | null | undefined
  /** The goal that `conversions`, `conversion_rate` and `revenue` are about, by its name. */
  goal?: string | null | undefined
  /** The period to compare with: `previous`, `year` (the same days a year before), or two days such as `2026-01-01/2026-01-31`. Each record then has `previous` and `change`. */
  compare?: string | null | undefined
  /** `weekday`: what is compared begins with the same weekday. */
  match?: 'weekday' | null | undefined
  /** Length of an interval in the time zone of the site. `hour` takes at most 31 days; weeks begin on Monday. Visitors of hours do not add up to those of the day. */
  interval?: 'hour' | 'day' | 'week' | 'month' | null | undefined
  /** What the list is of: one of `page`, `hostname`, `event`, `goal`, `entry_page`, `exit_page`, `referrer`, `channel`, `utm_source`, `utm_medium`, `utm_campaign`, `utm_content`, `utm_term`, `country`, `device`, `browser`, `os`, `prop:<key>`. */
  by: string
  /** One of `metrics`, with `:asc` for the smallest first. The default is the first metric, largest first. Ties go by the other metrics, then by value. */
  order?: string | null | undefined
  /** Maximum number of rows, from 1 to 1,000; of CSV, to 100,000. If there are more, `next_cursor` leads to them. */
  limit?: number | null | undefined
  /** Where the page begins: `next_cursor` of the page before it, as it was received. All pages count the events that the first one did. */
  cursor?: string | null | undefined
  /** The id of the event, a UUID: the one that it was sent with, or that the collector returned with `?debug=1`. */
  id: string
  /** The day of the event, in the time zone of the site: `2026-01-31` or `20260131`. Without it the last 48 hours are looked at. */
  day?: string | null | undefined
}

/** A custom range needs both of its dates. */
type RangeParameters =
  | (Pick<SharedParameters, 'start' | 'end'> & { range?: Exclude<SharedParameters['range'], 'custom'> })
  | { range: 'custom'; start: string; end: string }

export interface TotalsResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'previousPeriod' | 'warnings'> {
  data: {
    /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
    visitors?: number
    /** Pageviews. */
    pageviews?: number
    /** Sessions that started in the period. */
    sessions?: number
    /** Sessions with exactly one pageview and no custom event, in percent of all sessions, rounded half up. */
    bounce_rate?: number
    /** Mean duration of a session in whole seconds, rounded half up. */
    avg_duration?: number
    /** Pageviews for each session, with two decimals. */
    views_per_session?: number
    /** Custom events. */
    events?: number
    /** Visitors of a day whose session reached the goal. */
    conversions?: number
    /** Conversions in percent of visitors, with one decimal. */
    conversion_rate?: number
    /** With `compare`: the same numbers of the compared period; null if it has no such interval. */
    previous?: {
      /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
      visitors?: number
      /** Pageviews. */
      pageviews?: number
      /** Sessions that started in the period. */
      sessions?: number
      /** Sessions with exactly one pageview and no custom event, in percent of all sessions, rounded half up. */
      bounce_rate?: number
      /** Mean duration of a session in whole seconds, rounded half up. */
      avg_duration?: number
      /** Pageviews for each session, with two decimals. */
      views_per_session?: number
      /** Custom events. */
      events?: number
      /** Visitors of a day whose session reached the goal. */
      conversions?: number
      /** Conversions in percent of visitors, with one decimal. */
      conversion_rate?: number
    } | null
    /** With `compare`: the change of each number in percent; null where it was 0. */
    change?: {
      /** Change in percent, with one decimal; null if the number was 0. */
      visitors?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      pageviews?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      sessions?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      bounce_rate?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      avg_duration?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      views_per_session?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      events?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      conversions?: number | null
      /** Change in percent, with one decimal; null if the number was 0. */
      conversion_rate?: number | null
    } | null
    [other: string]: unknown
  }
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The filters as they were understood. */
    filters: ({
      dimension: string
      operator: string
      values: string[]
    })[]
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type TotalsParameters = Pick<SharedParameters, 'site_id' | 'metrics' | 'filter' | 'goal' | 'compare' | 'match'> & RangeParameters

/** Numbers of the whole period: `GET /api/v2/stats/totals` */
export declare function totals(
  server: Server,
  parameters?: TotalsParameters,
  options?: Options,
): Promise<TotalsResult>

export interface TimeseriesRow {
  /** First day of the interval, in the time zone of the site. */
  date?: string
  /** With `interval=hour`: when the hour begins, with its offset. */
  time?: string
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors?: number
  /** Pageviews. */
  pageviews?: number
  /** Sessions that started in the period. */
  sessions?: number
  /** Sessions with exactly one pageview and no custom event, in percent of all sessions, rounded half up. */
  bounce_rate?: number
  /** Mean duration of a session in whole seconds, rounded half up. */
  avg_duration?: number
  /** Pageviews for each session, with two decimals. */
  views_per_session?: number
  /** Custom events. */
  events?: number
  /** Visitors of a day whose session reached the goal. */
  conversions?: number
  /** Conversions in percent of visitors, with one decimal. */
  conversion_rate?: number
  /** With `compare`: the same numbers of the compared period; null if it has no such interval. */
  previous?: {
    /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
    visitors?: number
    /** Pageviews. */
    pageviews?: number
    /** Sessions that started in the period. */
    sessions?: number
    /** Sessions with exactly one pageview and no custom event, in percent of all sessions, rounded half up. */
    bounce_rate?: number
    /** Mean duration of a session in whole seconds, rounded half up. */
    avg_duration?: number
    /** Pageviews for each session, with two decimals. */
    views_per_session?: number
    /** Custom events. */
    events?: number
    /** Visitors of a day whose session reached the goal. */
    conversions?: number
    /** Conversions in percent of visitors, with one decimal. */
    conversion_rate?: number
  } | null
  /** With `compare`: the change of each number in percent; null where it was 0. */
  change?: {
    /** Change in percent, with one decimal; null if the number was 0. */
    visitors?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    pageviews?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    sessions?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    bounce_rate?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    avg_duration?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    views_per_session?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    events?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    conversions?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    conversion_rate?: number | null
  } | null
  [other: string]: unknown
}

export interface TimeseriesResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'previousPeriod' | 'warnings'> {
  data: TimeseriesRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The filters as they were understood. */
    filters: ({
      dimension: string
      operator: string
      values: string[]
    })[]
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type TimeseriesParameters = Pick<SharedParameters, 'site_id' | 'metrics' | 'filter' | 'goal' | 'compare' | 'match' | 'interval'> & RangeParameters

/** Numbers of every hour, day, week or month of the period: `GET /api/v2/stats/timeseries` */
export declare function timeseries(
  server: Server,
  parameters?: TimeseriesParameters,
  options?: Options,
): Promise<TimeseriesResult>

export interface BreakdownRow {
  /** With `by=page`. Path of the hit, without query and fragment. */
  page?: string | null
  /** With `by=hostname`. Host of the hit. */
  hostname?: string | null
  /** With `by=event`. Name of a custom event. */
  event?: string | null
  /** With `by=goal`. A goal of the site that the hit reaches. */
  goal?: string | null
  /** With `by=entry_page`. Path of the first pageview of the session. */
  entry_page?: string | null
  /** With `by=exit_page`. Path of the last pageview of the session; of a running session, so far. */
  exit_page?: string | null
  /** With `by=referrer`. Host that the session came from. */
  referrer?: string | null
  /** With `by=channel`. Channel that the session came through. */
  channel?: string | null
  /** With `by=utm_source`. UTM source of the session. */
  utm_source?: string | null
  /** With `by=utm_medium`. UTM medium of the session. */
  utm_medium?: string | null
  /** With `by=utm_campaign`. UTM campaign of the session. */
  utm_campaign?: string | null
  /** With `by=utm_content`. UTM content of the session. */
  utm_content?: string | null
  /** With `by=utm_term`. UTM term of the session. */
  utm_term?: string | null
  /** With `by=country`. Two-letter code of the country; ZZ means unknown. */
  country?: string | null
  /** With `by=device`. Type of device: `desktop`, `mobile`, `tablet` or `unknown`. */
  device?: string | null
  /** With `by=browser`. Browser, without version. */
  browser?: string | null
  /** With `by=os`. Operating system, without version. */
  os?: string | null
  /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
  visitors?: number
  /** Pageviews. */
  pageviews?: number
  /** Sessions that started in the period. */
  sessions?: number
  /** Sessions with exactly one pageview and no custom event, in percent of all sessions, rounded half up. */
  bounce_rate?: number
  /** Mean duration of a session in whole seconds, rounded half up. */
  avg_duration?: number
  /** Pageviews for each session, with two decimals. */
  views_per_session?: number
  /** Custom events. */
  events?: number
  /** Visitors of a day whose session reached the goal. */
  conversions?: number
  /** Conversions in percent of visitors, with one decimal. */
  conversion_rate?: number
  /** With `compare`: the same numbers of the compared period; null if it has no such interval. */
  previous?: {
    /** Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days. */
    visitors?: number
    /** Pageviews. */
    pageviews?: number
    /** Sessions that started in the period. */
    sessions?: number
    /** Sessions with exactly one pageview and no custom event, in percent of all sessions, rounded half up. */
    bounce_rate?: number
    /** Mean duration of a session in whole seconds, rounded half up. */
    avg_duration?: number
    /** Pageviews for each session, with two decimals. */
    views_per_session?: number
    /** Custom events. */
    events?: number
    /** Visitors of a day whose session reached the goal. */
    conversions?: number
    /** Conversions in percent of visitors, with one decimal. */
    conversion_rate?: number
  } | null
  /** With `compare`: the change of each number in percent; null where it was 0. */
  change?: {
    /** Change in percent, with one decimal; null if the number was 0. */
    visitors?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    pageviews?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    sessions?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    bounce_rate?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    avg_duration?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    views_per_session?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    events?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    conversions?: number | null
    /** Change in percent, with one decimal; null if the number was 0. */
    conversion_rate?: number | null
  } | null
  [other: string]: unknown
}

export interface BreakdownResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'period' | 'previousPeriod' | 'totalRows' | 'warnings'> {
  data: BreakdownRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** The range that was applied. */
    range: string
    /** The filters as they were understood. */
    filters: ({
      dimension: string
      operator: string
      values: string[]
    })[]
    /** The limit that was applied. */
    limit: number
    /** The cursor of the next page; null on the last page. */
    next_cursor: string | null
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type BreakdownParameters = Pick<SharedParameters, 'site_id' | 'metrics' | 'filter' | 'goal' | 'compare' | 'match' | 'by' | 'order' | 'limit' | 'cursor'> & RangeParameters

/** A list by any dimension: `GET /api/v2/stats/breakdown` */
export declare function breakdown(
  server: Server,
  parameters: BreakdownParameters,
  options?: Options,
): Promise<BreakdownResult>

export interface GoalsRow {
  /** Name of the goal, as `goal` takes it. */
  name: string
  /** Whether an event or a page reaches it. */
  kind: 'event' | 'path'
  /** Name of the event. */
  event?: string
  /** A property that the event must have. */
  property?: {
    /** Its key. */
    key: string
    /** Its value. */
    value: string
  }
  /** A path, or a pattern of paths. */
  path?: string
}

export interface GoalsResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'warnings'> {
  data: GoalsRow[]
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** When the list was made, in UTC. */
    generated_at: string
  }
}

export type GoalsParameters = Pick<SharedParameters, 'site_id'>

/** The goals of the site, by name: `GET /api/v2/goals` */
export declare function goals(
  server: Server,
  parameters?: GoalsParameters,
  options?: Options,
): Promise<GoalsResult>

export interface EventResult extends Pick<FromHeaders, 'rateLimit' | 'requestId' | 'warnings'> {
  data: {
    /** The id that was asked for, in lower case. */
    id: string
    /** `counted`; `excluded`: it is stored, but the site leaves out its country; `dropped`: it was not counted; `refused`: ClickHouse did not take its content; `spooled`: it waits on the disk of the collector; `shipped`: ClickHouse has confirmed it, but does not show it yet; `unknown`: it is in none of the places that were looked at. */
    state: 'counted' | 'excluded' | 'dropped' | 'refused' | 'spooled' | 'shipped' | 'unknown'
    /** The same as a sentence, and what to do. */
    message: string
    /** The day that it is counted on, in the time zone of the site; null unless it is `counted` or `excluded`. */
    day: string | null
    /** When it reached Footfall, in UTC; null if that is not known. */
    time: string | null
    /** `pageview`, or the name of a custom event; null unless it is `counted` or `excluded`. */
    event: string | null
    /** Path of the page; null unless it is `counted` or `excluded`. */
    page: string | null
    /** Host of the page; of a dropped event only if the host is the reason. */
    hostname: string | null
    /** Why it was dropped; null if it was not. */
    reason: 'not_an_object' | 'invalid_name' | 'invalid_url' | 'invalid_id' | 'no_page_event' | 'unknown_site' | 'hostname_not_allowed' | 'bot' | 'spam_referrer' | 'site_limit' | null
    /** The session that it belongs to, and its source; null unless it is `counted` or `excluded`. */
    session: {
      /** When the session of the event began, in UTC. */
      began: string
      /** Channel of the session. */
      channel: string
      /** Host that the session came from. */
      referrer: string | null
      /** UTM source of the session. */
      utm_source: string | null
    } | null
    /** Where it was looked for, besides the dropped events of the last 24 hours. */
    looked_at: {
      /** The first day whose events were looked at. */
      first_day: string
      /** The last day whose events were looked at. */
      last_day: string
      /** Whether the disk of a collector was looked at: all of it, its newest events, or nothing, because the collector runs on another machine. */
      spool: 'whole' | 'newest' | 'none'
    }
  }
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type EventParameters = Pick<SharedParameters, 'site_id' | 'id' | 'day'>

/** Where an event is: counted, dropped, or on its way: `GET /api/v2/events/{id}` */
export declare function event(
  server: Server,
  parameters: EventParameters,
  options?: Options,
): Promise<EventResult>

export interface LiveMessage {
  data: {
    /** Visitors with a hit in the last 5 minutes. */
    visitors: number
    /** Where they are: the pages with most of them. */
    pages: ({
      /** Path of their last hit. */
      page: string
      /** Those of the visitors whose last hit has it. */
      visitors: number
    })[]
    /** The countries with most of them. */
    countries: ({
      /** Two-letter code; ZZ means unknown. */
      country: string
      /** Those of the visitors whose last hit has it. */
      visitors: number
    })[]
    /** The sources with most of them. */
    sources: ({
      /** The UTM source, otherwise the referrer; null without both. */
      source: string | null
      /** Those of the visitors whose last hit has it. */
      visitors: number
    })[]
    /** The most frequent custom events of the last 30 minutes. */
    events: ({
      /** Name of the event. */
      event: string
      /** How often it occurred. */
      times: number
    })[]
    /** The last 30 minutes, the first one at the top. */
    minutes: ({
      /** When the minute begins, in UTC. The last one is running. */
      time: string
      /** Pageviews. */
      pageviews: number
    })[]
    /** The last 20 hits of these minutes, the latest one at the top. */
    hits: ({
      /** The same hit has the same id in all messages. */
      id: string
      /** When it happened, in UTC. */
      time: string
      /** `pageview`, or the name of a custom event. */
      event: string
      /** Path of the hit. */
      page: string
      /** Two-letter code; ZZ means unknown. */
      country: string
      /** The UTM source, otherwise the referrer; null without both. */
      source: string | null
    })[]
  }
  meta: {
    /** The site that the numbers are about. */
    site_id: string
    /** When the numbers were computed, in UTC. */
    generated_at: string
  }
}

export type LiveParameters = Pick<SharedParameters, 'site_id'>

/** Who is on the site now and what they do, as server-sent events: `GET /api/v2/live`. It ends when the server ends the stream, and when the loop that reads it does. */
export declare function live(
  server: Server,
  parameters?: LiveParameters,
  options?: Options,
): AsyncGenerator<LiveMessage, void>
