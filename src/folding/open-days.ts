// Busy sites: today is counted every 40 seconds by the statements that fold a closed day, because reading it from its events would cost
// every answer tens of milliseconds (decision D-81). Nothing depends on it: where it is missing or old, events are read.
import type { Postgres } from '../stores/postgres.ts'
import type { DayRange } from '../traffic/folds.ts'
import { dayAfter, dayOf, lastClosedDay } from './calendar.ts'
import { type Stores, settings } from './fold.ts'
import { foldStatements } from './statements.ts'

/** Events of a day from which on a site is busy. Half a day of 250,000 cost an answer 20 to 170 ms from its events, as measured. */
const busyDay = 50_000
/** From one count to the next; with what a count takes, a reader's minute is kept (stats/plan.ts). */
const everyMs = 40_000

/** Counts the open days of every busy site that is due. Returns how many. */
export async function foldOpenDays(
  stores: Stores,
  { now, least = busyDay, signal }: { now: () => number; least?: number; signal?: AbortSignal },
): Promise<number> {
  let folded = 0
  for (const { id, time_zone } of await busySites(stores.postgres, now(), least)) {
    if (signal?.aborted) break
    await foldOpenDay(stores, id, time_zone, now())
    folded++
  }
  return folded
}

/** Counts one site's days from the first that is not closed through today. */
export async function foldOpenDay(
  { postgres, clickhouse }: Stores,
  siteId: string,
  zone: string,
  asOf: number,
): Promise<void> {
  const days: DayRange = [dayAfter(lastClosedDay(zone, asOf)), dayOf(zone, asOf)]
  // No two counts of a site have the same: an instant is in at most one of them.
  const version = asOf
  for (const statement of foldStatements({ siteId, version, days: [days], until: asOf }, { atOnce: true })) {
    await clickhouse.run(statement, settings)
  }
  await postgres`
    INSERT INTO open_folds (site_id, first_day, last_day, version, as_of)
    SELECT id, ${days[0]}::text::date, ${days[1]}::text::date, ${version}, to_timestamp(${asOf} / 1000.0) FROM sites WHERE id = ${siteId}
    ON CONFLICT (site_id) DO UPDATE
    SET first_day = excluded.first_day, last_day = excluded.last_day, version = excluded.version, as_of = excluded.as_of`
}

const busySites = (
  postgres: Postgres,
  now: number,
  least: number,
): Promise<{ id: string; time_zone: string }[]> => postgres`
  SELECT id, time_zone
  FROM sites JOIN site_folding folding ON folding.site_id = id LEFT JOIN open_folds ON open_folds.site_id = id
  WHERE last_day_events >= ${least} AND (as_of IS NULL OR as_of <= to_timestamp(${now - everyMs} / 1000.0))
  ORDER BY as_of NULLS FIRST`
