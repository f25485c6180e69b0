// The statements that make traffic inside ClickHouse: sessions from numbers, their events from arrays. The same seed gives the same site.
import { date, type Sql, sql, text, texts, uint } from '../stores/clickhouse-sql.ts'
import { longTailed, pick, stepwise, uniform } from './draws.ts'
import { type PageOptions, pageTable } from './pages.ts'
import { maxSessionMs, type PlannedDay } from './plan.ts'
import { sessionRows } from './sessions.ts'
import type { Tables } from './shape.ts'
import { currencies, eventProps, paidEvents } from './visit-words.ts'

export interface DemoSite {
  siteId: string
  hostnames: { main: string; blog: string; shop: string }
  seed: number
  /** See sessions.ts. */
  salt: number
  tables: Tables
  pages: PageOptions
}

/** Sessions that one statement writes, counted over the whole site, and the days that contain them. */
export interface Chunk {
  firstSession: number
  sessions: number
  days: readonly PlannedDay[]
}

export function insertEvents({ siteId, hostnames, seed, salt, tables, pages }: DemoSite, chunk: Chunk): Sql {
  const names = tables.customEvents.map(([, name]) => name)
  const anywhere = tables.customEvents.filter(([, , path]) => path === '')
  const furtherName = pick(
    sql`cityHash64(key, position, 'further event')`,
    anywhere.map(([weight]) => weight),
  )
  const { main, blog, shop } = hostnames
  return sql`
    INSERT INTO events
    (
      site_id, day, time, visitor_id, session_id, event_id, name, hostname, pathname,
      referrer, channel, utm_source, utm_medium, utm_campaign, utm_content, utm_term, country, device, browser, os,
      props, revenue, currency
    )
    WITH ${pageTable(pages)} AS pages
    SELECT
      ${text(siteId)},
      day,
      fromUnixTimestamp64Milli(day_start + moment, 'UTC'),
      visitor_id,
      session_id,
      sipHash64(${uint(salt)}, session, position),
      event,
      multiIf(startsWith(path, '/blog'), ${text(blog)}, startsWith(path, '/shop'), ${text(shop)}, ${text(main)}),
      (pages.1)[page] AS path,
      referrer,
      channel,
      utm_source,
      utm_medium,
      utm_campaign,
      utm_content,
      utm_term,
      country,
      device,
      browser,
      os,
      if(property = '', map(), map(property, values[1 + toUInt64(length(values) * pow(${uniform(ofEvent('property'))}, 2))])),
      if(is_paid, 1000 * (1 + ${ofEvent('price')} % 24) - 10, 0),
      if(is_paid, transform(country, ${texts(Object.keys(currencies))}, ${texts(Object.values(currencies))}, 'USD'), '')
    FROM ${stepwise(
      events(sessionRows({ seed, salt, tables, ...chunk })),
      // A custom event happens on the last page.
      [sql`least(position, pageviews - 1) AS page_position`],
      [
        sql`multiIf(
          customs > 0 AND goal_page > 0 AND page_position = pageviews - 1, goal_page,
          page_position = 0, landing_page,
          ${longTailed(sql`cityHash64(key, page_position, 'page')`, tables.pages)}
        ) AS page`,
        sql`multiIf(
          position < pageviews, 'pageview',
          position = pageviews, ${texts(names)}[goal],
          ${texts(anywhere.map(([, name]) => name))}[${furtherName}]
        ) AS event`,
      ],
      [
        sql`${ofEventName(([key]) => key)} AS property`,
        sql`splitByChar('|', ${ofEventName(([, values]) => values.join('|'))}) AS values`,
        sql`event IN ${texts(paidEvents)} AS is_paid`,
      ],
    )}`
}

const ofEvent = (purpose: string): Sql => sql`cityHash64(key, position, ${text(purpose)})`

/** Something about the property of an event; empty if it has none. */
const ofEventName = (about: (property: (typeof eventProps)[string]) => string): Sql =>
  sql`transform(event, ${texts(Object.keys(eventProps))}, ${texts(Object.values(eventProps).map(about))}, '')`

/** One row per event of these sessions. Midnight and the present end a session, as they end a real one. */
const events = (sessions: Sql): Sql => sql`(
      SELECT *, position, moment
      FROM ${stepwise(
        sessions,
        [sql`range(pageviews + customs) AS positions`],
        [sql`arrayCumSum(arrayMap(nth -> if(nth = 0, session_start, ${gap(sql`nth`)}), positions)) AS moments`],
      )}
      ARRAY JOIN positions AS position, moments AS moment
      WHERE moment < day_limit AND moment < session_start + ${uint(maxSessionMs)}
    )`

/** Milliseconds between two events of a session: about seventy seconds on average, often a few seconds, always less than half an hour. */
const gap = (position: Sql): Sql =>
  sql`least(1799000, 1500 + toInt64(45000 * pow(-log(1 - ${uniform(sql`cityHash64(key, ${position}, 'gap')`)}), 1.6)))`

/**
 * Writes the titles that recording these events would write: the latest of every page and country; the event id breaks ties
 * (traffic/recording.ts).
 */
export const insertTitles = ({ siteId, pages }: DemoSite, days: readonly PlannedDay[]): Sql => sql`
    INSERT INTO titles (site_id, pathname, country, latest)
    WITH ${pageTable(pages)} AS pages
    SELECT site_id, pathname, country, max((time, toString(event_id), title))
    FROM (
      SELECT
        site_id, pathname, country, time, event_id, transform(pathname, pages.1, arrayEnumerate(pages.1), 0) AS page,
        if(toUInt32(day) < (pages.4)[page], (pages.2)[page], (pages.3)[page]) AS title
      FROM events
      WHERE ${onDaysOf(siteId, days)} AND page > 0
    )
    WHERE title != ''
    GROUP BY site_id, pathname, country`

export const countEvents = (siteId: string, days: readonly PlannedDay[]): Sql =>
  sql`SELECT count() AS events FROM events WHERE ${onDaysOf(siteId, days)}`

const onDaysOf = (siteId: string, days: readonly PlannedDay[]): Sql =>
  sql`site_id = ${text(siteId)} AND day BETWEEN ${date(days.at(0)!.date)} AND ${date(days.at(-1)!.date)}`
