// The numbers of a day, counted from its events in another way than rollups and reports count (docs/metrics.md says what they mean). Nothing is counted
// as unique here: events are grouped to rows of a visitor, and rows are counted. This file shares no statement with rollups and stats, and
// must not, because it checks them.
import { date, join, type Sql, sql, text, texts, uint } from '../stores/clickhouse-sql.ts'
import type { Filters } from '../traffic/conditions.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { VisitDimension } from './questions.ts'

export interface SiteDay {
  siteId: string
  day: string
  excludedCountries: readonly CountryCode[]
}

const isPageview = sql`name = 'pageview'`

/** The visits of the day that a query is about: a visitor has one country and one device, and a session one source. */
function visits({ siteId, day, excludedCountries }: SiteDay, { country, device, utmSource }: Filters = {}): Sql {
  const conditions = [sql`site_id = ${text(siteId)}`, sql`day = ${date(day)}`]
  for (const excluded of excludedCountries) conditions.push(sql`country != ${text(excluded)}`)
  if (country !== undefined) conditions.push(sql`country = ${text(country)}`)
  if (device !== undefined) conditions.push(sql`device = ${text(device)}`)
  if (utmSource !== undefined) conditions.push(sql`utm_source = ${text(utmSource)}`)
  return join(conditions, sql` AND `)
}

const isOn = ({ hostname }: Filters): Sql => (hostname === undefined ? sql`true` : sql`hostname = ${text(hostname)}`)

/** A bounce is one pageview and nothing else. A session lasts from its first event to its last one (D-7, D-8). */
const wholeSession = sql`
  toUInt64(countIf(${isPageview}) = 1 AND countIf(NOT ${isPageview}) = 0) AS is_bounce,
  toUnixTimestamp64Milli(max(time)) - toUnixTimestamp64Milli(min(time)) AS lasted`

/** One row: the sessions with a hit on the host count as a whole, hits and visitors only on the host (D-10). */
export const totals = (siteDay: SiteDay, filters: Filters): Sql => sql`
  SELECT count() AS visitors, sum(views) AS pageviews, sum(visited) AS sessions, sum(bounced) AS bounces, sum(stayed) AS duration
  FROM (
    SELECT visitor_id, sum(here_views) AS views, count() AS visited, sum(is_bounce) AS bounced, sum(lasted) AS stayed
    FROM (
      SELECT visitor_id, session_id, countIf(${isOn(filters)} AND ${isPageview}) AS here_views, ${wholeSession}
      FROM events
      WHERE ${visits(siteDay, filters)}
      GROUP BY visitor_id, session_id
      HAVING countIf(${isOn(filters)}) > 0
    )
    GROUP BY visitor_id
  )`

export type ListName = 'pages' | 'referrers' | 'channels' | 'devices' | 'geo' | 'events' | 'utm'

/** What has a row in a list, and which hits belong to it (D-11). */
const lists: Record<ListName, { label: Sql; hits: Sql; counted: Sql }> = {
  pages: { label: sql`pathname`, hits: isPageview, counted: isPageview },
  referrers: { label: sql`referrer`, hits: sql`referrer != ''`, counted: isPageview },
  channels: { label: sql`channel`, hits: sql`true`, counted: isPageview },
  devices: { label: sql`device`, hits: sql`true`, counted: isPageview },
  geo: { label: sql`country`, hits: sql`true`, counted: isPageview },
  events: { label: sql`name`, hits: sql`NOT ${isPageview}`, counted: sql`NOT ${isPageview}` },
  utm: { label: sql`utm_source`, hits: sql`utm_source != ''`, counted: isPageview },
}

/** Rows (label, times, visitors), in the order of the list where that is by both numbers. */
export function list(siteDay: SiteDay, name: ListName, filters: Filters, limit: number): Sql {
  const { label, hits, counted } = lists[name]
  const isSorted = name === 'pages' || name === 'referrers' || name === 'events'
  return sql`
  SELECT label, sum(times) AS times, count() AS visitors
  FROM (
    SELECT toString(${label}) AS label, visitor_id, countIf(${counted}) AS times
    FROM events
    WHERE ${visits(siteDay, filters)} AND ${isOn(filters)} AND ${hits}
    GROUP BY label, visitor_id
  )
  GROUP BY label
  ORDER BY ${isSorted ? sql`times DESC, visitors DESC` : sql`visitors DESC`}, label
  LIMIT ${uint(limit)}`
}

/** The label of a session, from its events: those that differ within a session are of its first or last pageview (docs/metrics.md, Dimensions). */
function labelOfSession(by: VisitDimension): Sql {
  const pageviews = sql`arraySort(groupArrayIf((time, event_id, toString(pathname)), ${isPageview}))`
  switch (by) {
    case 'entry_page':
      return sql`tupleElement(${pageviews}[1], 3)`
    case 'exit_page':
      return sql`tupleElement(${pageviews}[-1], 3)`
    case 'device':
      return sql`lower(max(device))`
    default:
      return sql`toString(max(${columns[by as keyof typeof columns]}))`
  }
}

const columns = {
  referrer: sql`referrer`,
  channel: sql`channel`,
  utm_source: sql`utm_source`,
  utm_medium: sql`utm_medium`,
  utm_campaign: sql`utm_campaign`,
  utm_content: sql`utm_content`,
  utm_term: sql`utm_term`,
  country: sql`country`,
  browser: sql`browser`,
  os: sql`os`,
} as const

/** Rows (label, visitors, pageviews, sessions, bounces, duration, events) of a list of version 2. */
export function visitList(siteDay: SiteDay, by: VisitDimension): Sql {
  const counts = sql`countIf(${isPageview}) AS views, countIf(NOT ${isPageview}) AS others`
  const where = sql`FROM events WHERE ${visits(siteDay)}`
  const members =
    by === 'page'
      ? sql`SELECT toString(pathname) AS label, visitor_id, session_id, ${counts} ${where} AND ${isPageview} GROUP BY label, visitor_id, session_id`
      : by === 'hostname'
        ? sql`SELECT toString(hostname) AS label, visitor_id, session_id, ${counts} ${where} GROUP BY label, visitor_id, session_id`
        : sql`SELECT ${labelOfSession(by)} AS label, visitor_id, session_id, ${counts} ${where} GROUP BY visitor_id, session_id`
  return sql`
  SELECT label, count() AS visitors, sum(seen) AS pageviews, sum(visited) AS sessions, sum(bounced) AS bounces,
    sum(stayed) AS duration, sum(done) AS events
  FROM (
    SELECT label, visitor_id, sum(views) AS seen, sum(others) AS done, count() AS visited, sum(is_bounce) AS bounced, sum(lasted) AS stayed
    FROM (${members}) AS members
    INNER JOIN (SELECT session_id, ${wholeSession} ${where} GROUP BY session_id) AS whole USING (session_id)
    GROUP BY label, visitor_id
  )
  GROUP BY label`
}

/** Whether the day has events, and some different combinations of values that a filter can have. */
export const someVisits = (siteDay: SiteDay, max: number): Sql => sql`
  SELECT toString(country) AS country, toString(device) AS device, toString(hostname) AS hostname, toString(utm_source) AS "utmSource"
  FROM events
  WHERE ${visits(siteDay)}
  GROUP BY country, device, hostname, "utmSource"
  ORDER BY rand()
  LIMIT ${uint(max)}`
