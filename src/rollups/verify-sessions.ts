// Checks that sessions match the events, by sums of each day. Texts are compared by sums of hashes, so that a row with the wrong page or country
// is found, too.
import { join, type Sql, sql, text, uint } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'
import type { Segment } from './coverage.ts'

const texts = [
  sql`country`,
  sql`device`,
  sql`browser`,
  sql`os`,
  sql`referrer`,
  sql`channel`,
  sql`utm_source`,
  sql`utm_medium`,
  sql`utm_campaign`,
  sql`utm_content`,
  sql`utm_term`,
]

/** Small enough that the sum of a day is exact. */
const hashOf = (columns: readonly Sql[]): Sql => sql`toInt64(cityHash64(${join(columns, sql`, `)}) % 1000000007)`

const sums = [sql`sessions`, sql`visitors`, sql`pageviews`, sql`custom_events`, sql`duration`, sql`texts`, sql`hits`]

const page = (edge: Sql): Sql => sql`tupleElement(${edge}((time, event_id, toString(pathname)), name = 'pageview'), 3)`

/** The days on which events and sessions differ. */
export function compareSessions(siteId: string, stored: readonly Segment[]): Sql {
  const days = stored.flatMap((segment) => segment.days)
  const rows = stored.map((one) => sql`(version = ${uint(one.version)} AND ${onDays(one.days)})`)
  const differs = sums.map((sum) => sql`sum(sign * ${sum}) != 0`)
  const ofSession = texts.map((column) => sql`toString(any(events.${column}))`)
  const ofRow = texts.map((column) => sql`toString(${column})`)
  return sql`
    SELECT day, 1 AS rows FROM (
      SELECT
        day, toInt64(count()) AS sessions, toInt64(uniqExact(visitor_id)) AS visitors, sum(views) AS pageviews, sum(others) AS custom_events,
        sum(milliseconds) AS duration, sum(hash) AS texts, sum(hashes) AS hits, 1 AS sign
      FROM (
        SELECT
          day, any(visitor_id) AS visitor_id, toInt64(countIf(name = 'pageview')) AS views, toInt64(countIf(name != 'pageview')) AS others,
          date_diff('millisecond', min(time), max(time)) AS milliseconds,
          ${hashOf([...ofSession, page(sql`minIf`), page(sql`maxIf`)])} AS hash,
          sum(${hashOf([sql`toString(hostname)`, sql`toString(pathname)`, sql`toString(name)`])}) AS hashes
        FROM events WHERE site_id = ${text(siteId)} AND ${onDays(days)}
        GROUP BY day, session_id
      )
      GROUP BY day
      UNION ALL
      SELECT
        day, toInt64(count()) AS sessions, toInt64(countIf(visitor = 0) + uniqExactIf(visitor, visitor > 0)) AS visitors,
        toInt64(sum(sessions.pageviews)) AS pageviews, toInt64(sum(sessions.custom_events)) AS custom_events,
        toInt64(sum(milliseconds)) AS duration, sum(${hashOf([...ofRow, sql`toString(entry_page)`, sql`toString(exit_page)`])}) AS texts,
        toInt64(sum(arraySum(arrayMap(
          (host, path, hit, times) -> ${hashOf([sql`toString(host)`, sql`toString(path)`, sql`toString(hit)`])} * times,
          hits.hostname, hits.pathname, hits.name, hits.count)))) AS hits,
        -1 AS sign
      FROM sessions WHERE site_id = ${text(siteId)} AND (${join(rows, sql` OR `)})
      GROUP BY day
    )
    GROUP BY day
    HAVING ${join(differs, sql` OR `)}`
}
