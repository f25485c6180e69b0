// The numbers of a day, counted from its events in another way than rollups and reports count (docs/metrics.md says what they mean). Nothing is counted
// as unique here: events are grouped to rows of a visitor, and rows are counted. This file shares no statement with rollups and stats, and
// must not, because it checks them.
import { date, join, type Sql, sql, text, texts, uint } from '../stores/clickhouse-sql.ts'
import type { Filters } from '../traffic/conditions.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { VisitDimension } from './questions.ts'

type HitDimension = 'page' | 'hostname'
type SessionDimension = Exclude<VisitDimension, HitDimension>

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

/** What has a row in a list, which hits belong to it, and which of them are counted (D-11). */
const lists: Record<ListName, { label: Sql; hits: Sql; counted: Sql }> = {
  pages: { label: sql`pathname`, hits: isPageview, counted: isPageview },
  referrers: { label: sql`referrer`, hits: sql`referrer != ''`, counted: isPageview },
  channels: { label: sql`channel`, hits: sql`true`, counted: isPageview },
  devices: { label: sql`device`, hits: sql`true`, counted: isPageview },
  geo: { label: sql`country`, hits: sql`true`, counted: isPageview },
  events: { label: sql`name`, hits: sql`NOT ${isPageview}`, counted: sql`NOT ${isPageview}` },
  utm: { label: sql`utm_source`, hits: sql`utm_source != ''`, counted: isPageview },
}

const byTimes: readonly ListName[] = ['pages', 'referrers', 'events']

/** Rows (list, label, times, visitors): the first ones of each list. Reading the events once for all lists takes a third of the time. */
export function listsOf(siteDay: SiteDay, names: readonly ListName[], filters: Filters, limit: number): Sql {
  const entries = names.map((name) => {
    const { label, hits, counted } = lists[name]
    return sql`(${text(name)}, toString(${label}), toUInt8(${hits}), toUInt8(${counted}))`
  })
  return sql`
  SELECT list, label, sum(counted) AS times, count() AS visitors
  FROM (
    SELECT entry.1 AS list, entry.2 AS label, visitor_id, sum(entry.4) AS counted
    FROM events ARRAY JOIN arrayFilter(e -> e.3, [${join(entries, sql`, `)}]) AS entry
    WHERE ${visits(siteDay, filters)} AND ${isOn(filters)}
    GROUP BY list, label, visitor_id
  )
  GROUP BY list, label
  ORDER BY list, if(list IN ${texts(byTimes)}, times, visitors) DESC, visitors DESC, label
  LIMIT ${uint(limit)} BY list`
}

/** The label of a session. Its first and last pageview have their time, and of several at one time the order of their ids (docs/metrics.md, Dimensions). */
const pageviewsInOrder = sql`arraySort(groupArrayIf((time, event_id, toString(pathname)), ${isPageview}))`
const labelsOfSession: Record<SessionDimension, Sql> = {
  entry_page: sql`tupleElement(${pageviewsInOrder}[1], 3)`,
  exit_page: sql`tupleElement(${pageviewsInOrder}[-1], 3)`,
  referrer: sql`toString(max(referrer))`,
  channel: sql`toString(max(channel))`,
  utm_source: sql`toString(max(utm_source))`,
  utm_medium: sql`toString(max(utm_medium))`,
  utm_campaign: sql`toString(max(utm_campaign))`,
  utm_content: sql`toString(max(utm_content))`,
  utm_term: sql`toString(max(utm_term))`,
  country: sql`toString(max(country))`,
  device: sql`lower(max(device))`,
  browser: sql`toString(max(browser))`,
  os: sql`toString(max(os))`,
}

/** A page has the visits that viewed it. */
const labelsOfHit: Record<HitDimension, { label: Sql; hits: Sql }> = {
  page: { label: sql`pathname`, hits: isPageview },
  hostname: { label: sql`hostname`, hits: sql`true` },
}

/** Rows (list, label, visitors, pageviews, sessions, bounces, duration, events) of lists of version 2. */
export function visitLists(siteDay: SiteDay, names: readonly VisitDimension[]): Sql {
  const events = sql`FROM events WHERE ${visits(siteDay)}`
  const counts = sql`countIf(${isPageview}) AS views, countIf(NOT ${isPageview}) AS others`
  const ofSession = names
    .filter((name) => !isOfHit(name))
    .map((name) => sql`(${text(name)}, ${labelsOfSession[name as SessionDimension]})`)
  const ofHit = names
    .filter(isOfHit)
    .map((name) => sql`(${text(name)}, toString(${labelsOfHit[name].label}), toUInt8(${labelsOfHit[name].hits}))`)
  const members = [
    ...(ofSession.length === 0
      ? []
      : [
          sql`
    SELECT entry.1 AS list, entry.2 AS label, visitor_id, session_id, views, others
    FROM (SELECT visitor_id, session_id, ${counts}, [${join(ofSession, sql`, `)}] AS entries ${events} GROUP BY visitor_id, session_id)
    ARRAY JOIN entries AS entry`,
        ]),
    ...(ofHit.length === 0
      ? []
      : [
          sql`
    SELECT entry.1 AS list, entry.2 AS label, visitor_id, session_id, ${counts}
    FROM events ARRAY JOIN arrayFilter(e -> e.3, [${join(ofHit, sql`, `)}]) AS entry
    WHERE ${visits(siteDay)}
    GROUP BY list, label, visitor_id, session_id`,
        ]),
  ]
  return sql`
  SELECT list, label, count() AS visitors, sum(seen) AS pageviews, sum(visited) AS sessions, sum(bounced) AS bounces,
    sum(stayed) AS duration, sum(done) AS events
  FROM (
    SELECT list, label, visitor_id, sum(views) AS seen, sum(others) AS done, count() AS visited, sum(is_bounce) AS bounced, sum(lasted) AS stayed
    FROM (${join(members, sql` UNION ALL `)}) AS members
    INNER JOIN (SELECT session_id, ${wholeSession} ${events} GROUP BY session_id) AS whole USING (session_id)
    GROUP BY list, label, visitor_id
  )
  GROUP BY list, label`
}

const isOfHit = (name: VisitDimension): name is HitDimension => name in labelsOfHit

/** Whether the day has events, and some different combinations of values that a filter can have. */
export const someVisits = (siteDay: SiteDay, max: number): Sql => sql`
  SELECT toString(country) AS country, toString(device) AS device, toString(hostname) AS hostname, toString(utm_source) AS "utmSource"
  FROM events
  WHERE ${visits(siteDay)}
  GROUP BY country, device, hostname, "utmSource"
  ORDER BY rand()
  LIMIT ${uint(max)}`
