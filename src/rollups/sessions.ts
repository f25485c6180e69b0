// The statement that writes a row for each session of closed days (D-237).
import { join, type Sql, sql } from '../stores/clickhouse-sql.ts'
import { sessionDuration } from '../traffic/sessions.ts'

/** What all events of a session have in common: columns of `events` and of `sessions`. */
const common = [
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

/**
 * `site` is a text or the column, `events` a condition. Few visitors have several sessions on a day, so numbering these takes a twentieth of the
 * time. Numbers are unique within the statement, and so within a site and a day.
 *
 * Hits are sorted, so a hit is a new one if it differs from the one before. No function over `hits` may name `hits` again: ClickHouse would copy
 * the whole array for each of its elements, and a session of 20,000 hits would need 20 GB.
 */
export function sessionsStatement(version: Sql, site: Sql, events: Sql, bySite: Sql): Sql {
  const columns = join(common, sql`, `)
  return sql`
    INSERT INTO sessions (
      site_id, version, day, visitor, ${columns}, entry_page, exit_page, pageviews, custom_events, milliseconds,
      hits.hostname, hits.pathname, hits.name, hits.count)
    SELECT
      ${site}, ${version}, day, number, ${columns}, entry_page, exit_page, pageviews, custom_events, milliseconds,
      tupleElement(different, 1), tupleElement(different, 2), tupleElement(different, 3),
      arrayMap((nth, next) -> next - nth, firsts, arrayPushBack(arrayPopFront(firsts), length(hits) + 1))
    FROM
    (
      SELECT
        *, arrayFilter((hit, before) -> hit != before, hits, arrayShiftRight(hits, 1)) AS different,
        arrayFilter((nth, hit, before) -> hit != before, arrayEnumerate(hits), hits, arrayShiftRight(hits, 1)) AS firsts
      FROM
      (
        SELECT
          ${bySite}day, any(events.visitor_id) AS visitor_id,
          ${join(
            common.map((column) => sql`any(events.${column}) AS ${column}`),
            sql`, `,
          )},
          argMinIf(events.pathname, (time, event_id), events.name = 'pageview') AS entry_page,
          argMaxIf(events.pathname, (time, event_id), events.name = 'pageview') AS exit_page,
          countIf(events.name = 'pageview') AS pageviews, countIf(events.name != 'pageview') AS custom_events,
          ${sessionDuration} AS milliseconds,
          arraySort(groupArray((events.hostname, events.pathname, events.name))) AS hits
        FROM events
        WHERE ${events}
        GROUP BY ${bySite}day, session_id
      )
    ) AS visits
    LEFT JOIN
    (
      SELECT ${bySite}day, visitor_id, row_number() OVER () AS number
      FROM events
      WHERE ${events}
      GROUP BY ${bySite}day, visitor_id
      HAVING min(session_id) != max(session_id)
    ) AS several USING (${bySite}day, visitor_id)`
}
