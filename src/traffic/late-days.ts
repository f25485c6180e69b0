// Whoever writes events says afterwards which days they were for. Most are for today, which nobody has folded, and cost one small
// question; an event for a folded day takes that day, and its month, out of what is read from tallies (decision D-74). Not so
// a day whose events are no longer kept: it could not be folded again (decision D-80).
import type { Postgres } from '../stores/postgres.ts'

export interface SiteDay {
  siteId: string
  /** The day stamped on the event, `YYYY-MM-DD`. */
  day: string
}

/** Call it after the events are in the engine, and again if it is not known whether it was called. */
export async function noteLateDays(postgres: Postgres, written: Iterable<SiteDay>): Promise<void> {
  const days = new Map(Array.from(written, ({ siteId, day }) => [`${siteId} ${day}`, { site_id: siteId, day }]))
  if (days.size === 0) return
  const affected = await postgres<{ site_id: string; days: string; months: string; first: string }[]>`
    WITH late AS
    (
      SELECT
        site_id,
        range_agg(daterange(day, day + 1)) AS days,
        range_agg(daterange(date_trunc('month', day)::date, (date_trunc('month', day) + interval '1 month')::date)) AS months,
        min(day) AS first
      FROM jsonb_to_recordset(${JSON.stringify([...days.values()])}::text::jsonb) AS given (site_id text, day date)
      WHERE day >= (SELECT kept_from FROM retention)
      GROUP BY site_id
    )
    SELECT site_id, late.days::text, late.months::text, late.first::text
    FROM late
    WHERE EXISTS (
        SELECT FROM site_folds fold
        WHERE fold.site_id = late.site_id
          AND (fold.days && late.days OR fold.pending_days && late.days
            OR fold.months && late.months OR fold.pending_months && late.months))
      OR EXISTS (
        SELECT FROM site_folding folding
        WHERE folding.site_id = late.site_id AND folding.considered_through >= late.first)`
  // A statement a site: two writers never wait for each other's second site while they hold their first.
  for (const { site_id, days, months, first } of affected) {
    await postgres.begin(async (transaction) => {
      // Locked until the end, so that no day is taken out after events before it were declared not to be kept any more.
      const [kept] = await transaction<[{ days: string; months: string }]>`
        SELECT (${days}::text::datemultirange * still)::text AS days, (${months}::text::datemultirange * still)::text AS months
        FROM (SELECT datemultirange(daterange(kept_from, NULL)) AS still FROM retention FOR SHARE) AS retention`
      await transaction`
        UPDATE site_folds
        SET days = days - ${kept.days}::text::datemultirange, pending_days = pending_days - ${kept.days}::text::datemultirange,
            months = months - ${kept.months}::text::datemultirange,
            pending_months = pending_months - ${kept.months}::text::datemultirange
        WHERE site_id = ${site_id}`
    })
    // By itself: a fold locks these two the other way round.
    await postgres`
      UPDATE site_folding SET considered_through = ${first}::text::date - 1, late = late + 1
      WHERE site_id = ${site_id} AND considered_through >= ${first}::text::date`
  }
}

/** For whoever replaces or erases a site's traffic: all of it is read from the events again, at once. */
export async function forgetFolds(postgres: Postgres, siteId: string): Promise<void> {
  await postgres`
    UPDATE site_folds SET days = '{}', months = '{}', pending_days = '{}', pending_months = '{}' WHERE site_id = ${siteId}`
  await postgres`DELETE FROM open_folds WHERE site_id = ${siteId}`
  await postgres`
    UPDATE site_folding SET considered_through = NULL, late = late + 1, last_day_events = 0 WHERE site_id = ${siteId}`
}
