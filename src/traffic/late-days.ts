// Whoever writes events says afterwards which days they were for, all of them: only the ledger knows which are late. Most are for today,
// which nobody has folded, and cost one small question; an event for a day that is folded or being folded takes that day, and its
// month, out of what is read from tallies (decision D-74). Not so a day whose events are no longer kept: it could not be folded
// again (decision D-80).
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
  const affected = await postgres<{ site_id: string; days: string }[]>`
    WITH late AS
    (
      SELECT
        site_id,
        range_agg(daterange(day, day + 1)) AS days,
        whole_months(range_agg(daterange(day, day + 1))) AS months,
        min(day) AS first
      FROM jsonb_to_recordset(${JSON.stringify([...days.values()])}::text::jsonb) AS given (site_id text, day date)
      WHERE day >= (SELECT kept_from FROM retention)
      GROUP BY site_id
    )
    SELECT site_id, late.days::text
    FROM late
    WHERE EXISTS (
        SELECT FROM site_folds fold
        WHERE fold.site_id = late.site_id AND (fold.days && late.days OR fold.months && late.months))
      OR EXISTS (
        SELECT FROM fold_runs run
        WHERE run.site_id = late.site_id
          AND run.publishes && CASE run.span WHEN 'day' THEN late.days ELSE late.months END)
      OR EXISTS (
        SELECT FROM site_folding folding
        WHERE folding.site_id = late.site_id AND folding.considered_through >= late.first)`
  // A statement a site: two writers never wait for each other's second site while they hold their first.
  for (const { site_id, days } of affected) {
    await postgres`SELECT note_late_days(${site_id}, ${days}::text::datemultirange)`
  }
}

/** For whoever replaces or erases a site's traffic: all of it is read from the events again, at once. */
export async function forgetFolds(postgres: Postgres, siteId: string): Promise<void> {
  await postgres`SELECT forget_folds(${siteId})`
}
