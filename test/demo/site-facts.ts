// Rules for any recorded traffic (decisions D-1 to D-8) as ClickHouse queries: every fault is a number that must be zero.
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { instant, sql, text } from '../../src/stores/clickhouse-sql.ts'

/** The one page of a demo site without a title. */
const untitled = '/search'

export async function faultsOf(
  clickhouse: ClickHouse,
  { siteId, zone, until }: { siteId: string; zone: string; until: number },
): Promise<Record<string, number>> {
  const statements = [
    sql`SELECT
        countIf(day != toDate(toTimeZone(time, ${text(zone)}))) AS on_another_day,
        countIf(time >= ${instant(until)}) AS in_the_future,
        countIf(pathname = '' OR hostname = '' OR name = '') AS without_a_place,
        count() - uniqExact(event_id) AS repeated_ids,
        countIf(revenue > 0 AND currency = '') AS revenue_without_currency
      FROM events WHERE site_id = ${text(siteId)}`,
    sql`SELECT countIf(places != 1) AS visitors_of_two_places
      FROM (
        SELECT uniqExact(country, device, browser, os) AS places
        FROM events WHERE site_id = ${text(siteId)} GROUP BY day, visitor_id
      )`,
    sql`SELECT
        countIf(origins != 1) AS sessions_of_two_origins,
        countIf(owners != 1) AS sessions_of_two_visitors,
        countIf(days != 1) AS sessions_over_midnight,
        countIf(longest_gap > 1800000) AS sessions_with_a_gap,
        countIf(views = 0) AS sessions_without_a_page
      FROM (
        SELECT
          uniqExact(referrer, channel, utm_source, utm_medium, utm_campaign, utm_content, utm_term) AS origins,
          uniqExact(visitor_id) AS owners,
          uniqExact(day) AS days,
          countIf(name = 'pageview') AS views,
          arrayMax(arrayDifference(arraySort(groupArray(toUnixTimestamp64Milli(time))))) AS longest_gap
        FROM events WHERE site_id = ${text(siteId)} GROUP BY session_id
      )`,
    sql`SELECT countIf(arrayExists((one, other) -> other.1 - one.2 <= 1800000, arrayPopBack(sorted), arrayPopFront(sorted)))
        AS visitors_with_sessions_too_close
      FROM (
        SELECT arraySort(groupArray((began, ended))) AS sorted
        FROM (
          SELECT
            day,
            visitor_id,
            min(toUnixTimestamp64Milli(time)) AS began,
            max(toUnixTimestamp64Milli(time)) AS ended
          FROM events WHERE site_id = ${text(siteId)} GROUP BY day, visitor_id, session_id
        )
        GROUP BY day, visitor_id
      )`,
    sql`SELECT count() AS wrong_titles
      FROM (
        SELECT pathname, country, max(latest).time AS latest FROM titles WHERE site_id = ${text(siteId)} GROUP BY pathname, country
      ) AS written
      FULL OUTER JOIN (
        SELECT pathname, country, max(time) AS latest
        FROM events WHERE site_id = ${text(siteId)} AND pathname != ${text(untitled)} GROUP BY pathname, country
      ) AS recomputed USING (pathname, country)
      WHERE written.latest != recomputed.latest`,
  ]
  const faults: Record<string, number> = {}
  for (const statement of statements) Object.assign(faults, ...(await clickhouse.rows(statement)))
  return faults
}

/** A checksum of a site's events, with or without their ids. */
export async function checksumOf(clickhouse: ClickHouse, siteId: string, withIds: boolean): Promise<string> {
  const ids = withIds ? sql`` : sql`, visitor_id, session_id, event_id`
  const [row] = await clickhouse.rows<{ checksum: string }>(sql`
    SELECT toString((count(), sum(cityHash64(* EXCEPT (site_id${ids}))))) AS checksum
    FROM events WHERE site_id = ${text(siteId)}`)
  return row!.checksum
}

export interface Habits {
  events: number
  sessions: number
  days: number
  bounceRate: number
  viewsPerSession: number
  seconds: number
  withCustomEvents: number
  sessionsPerVisitor: number
}

export async function habitsOf(clickhouse: ClickHouse, siteId: string): Promise<Habits> {
  const [row] = await clickhouse.rows<Habits>(sql`
    SELECT
      sum(hits) AS events,
      count() AS sessions,
      uniqExact(day) AS days,
      countIf(hits = 1 AND views = 1) / sessions AS bounceRate,
      sum(views) / sessions AS viewsPerSession,
      sum(milliseconds) / sessions / 1000 AS seconds,
      countIf(hits > views) / sessions AS withCustomEvents,
      sessions / uniqExact(day, visitor) AS sessionsPerVisitor
    FROM (
      SELECT
        day,
        any(visitor_id) AS visitor,
        count() AS hits,
        countIf(name = 'pageview') AS views,
        max(toUnixTimestamp64Milli(time)) - min(toUnixTimestamp64Milli(time)) AS milliseconds
      FROM events WHERE site_id = ${text(siteId)} GROUP BY day, session_id
    )`)
  return row!
}
