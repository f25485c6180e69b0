// After writing, every writer of events calls `invalidateDays` with the days of these events, because only PostgreSQL knows which days are rolled up.
// Most events are for today, which is not rolled up yet, and cost one small query. An event for a day that is rolled up, or being rolled
// up, removes that day and its month from the readable rollups (decision D-74). A day whose events are no longer retained stays readable,
// because it could not be rolled up again (decision D-80).
import type { Postgres } from '../stores/postgres.ts'

export interface SiteDay {
  siteId: string
  /** The day stamped on the event, `YYYY-MM-DD`. */
  day: string
}

/**
 * Call it after the events are in ClickHouse. Call it again if you do not know whether the call succeeded. Returns whether days were rolled
 * up: then call `noteInClickHouse`.
 */
export async function invalidateDays(postgres: Postgres, written: Iterable<SiteDay>): Promise<boolean> {
  const days = new Map(Array.from(written, ({ siteId, day }) => [`${siteId} ${day}`, { site_id: siteId, day }]))
  if (days.size === 0) return false
  const affected = await postgres<{ site_id: string; days: string }[]>`
    WITH late AS
    (
      SELECT
        site_id,
        range_agg(daterange(day, day + 1)) AS days,
        whole_months(range_agg(daterange(day, day + 1))) AS months,
        min(day) AS first
      FROM jsonb_to_recordset(${JSON.stringify([...days.values()])}::text::jsonb) AS given (site_id text, day date)
      WHERE day >= (SELECT events_from FROM retention)
      GROUP BY site_id
    )
    SELECT site_id, late.days::text
    FROM late
    WHERE EXISTS (
        SELECT FROM rollup_coverage covered
        WHERE covered.site_id = late.site_id AND (covered.days && late.days OR covered.months && late.months))
      OR EXISTS (
        SELECT FROM rollup_runs run
        WHERE run.site_id = late.site_id
          AND run.publishes && CASE run.span WHEN 'day' THEN late.days ELSE late.months END)
      OR EXISTS (
        SELECT FROM rollup_state state
        WHERE state.site_id = late.site_id AND state.considered_through >= late.first)`
  // One statement per site, so that two writers never wait for each other's second site while they hold their first.
  for (const { site_id, days } of affected) {
    await postgres`SELECT invalidate_days(${site_id}, ${days}::text::datemultirange)`
  }
  return affected.length > 0
}

/** For code that replaces or erases a site's traffic. From now on all of it is read from the events. */
export async function forgetRollups(postgres: Postgres, siteId: string): Promise<void> {
  await postgres`SELECT forget_rollups(${siteId})`
}
