// Busy sites: today is counted every 40 seconds by the statements that fold a closed day, because reading it from its events would cost
// every answer tens of milliseconds (decision D-81). Nothing depends on it: where it is missing or old, events are read.
import { selectSite, siteOf } from '../accounts/sites.ts'
import { partialEnd, periodsOf, storedDay } from '../stats/period.ts'
import { foldedDays } from '../stats/plan.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { DayPart, DayRange, Fold } from '../traffic/folds.ts'
import { dayAfter, dayOf, lastClosedDay } from './calendar.ts'
import { type Stores, settings } from './fold.ts'
import { foldParts, foldStatements } from './statements.ts'

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

/** Counts one site's days from the first that is not closed through today, and the parts of days that they are compared with. */
export async function foldOpenDay(
  { postgres, clickhouse }: Stores,
  siteId: string,
  zone: string,
  asOf: number,
): Promise<void> {
  const days: DayRange = [dayAfter(lastClosedDay(zone, asOf)), dayOf(zone, asOf)]
  const [{ version }] = await postgres<[{ version: number }]>`SELECT nextval('open_fold_versions')::int AS version`
  // Known before the events are read: a day that events come for from now on is then readable under another version, or not at all.
  const [row] = await selectSite(postgres, siteId)
  const parts = row ? partsOf(zone, asOf, siteOf(row).folds) : []
  const statements = foldStatements({ siteId, version, days: [days], until: asOf }, { atOnce: true })
  if (parts.length > 0) statements.push(foldParts({ siteId, version }, parts))
  for (const statement of statements) await clickhouse.run(statement, settings)
  await postgres`
    INSERT INTO open_folds (site_id, time_zone, first_day, last_day, version, as_of, parts)
    SELECT id, ${zone}, ${days[0]}::text::date, ${days[1]}::text::date, ${version}, to_timestamp(${asOf} / 1000.0),
      ${JSON.stringify(parts)}::text::jsonb
    FROM sites WHERE id = ${siteId}
    ON CONFLICT (site_id) DO UPDATE
    SET time_zone = excluded.time_zone, first_day = excluded.first_day, last_day = excluded.last_day,
        version = excluded.version, as_of = excluded.as_of, parts = excluded.parts`
}

/** Where the windows before those that end at this moment end, of days that are folded. */
function partsOf(zone: string, asOf: number, folds: readonly Fold[]): DayPart[] {
  const now = Temporal.Instant.fromEpochMilliseconds(asOf).toZonedDateTimeISO(zone)
  return (['7d', '30d', '90d', '12m'] as const).flatMap((name) => {
    const { previous } = periodsOf({ name }, now)
    const [day, until] = [storedDay(previous.lastDay), partialEnd(previous)]
    const [fold] = foldedDays([[day, day]], folds)
    return until !== null && fold ? [{ day, until, version: fold.version }] : []
  })
}

const busySites = (
  postgres: Postgres,
  now: number,
  least: number,
): Promise<{ id: string; time_zone: string }[]> => postgres`
  SELECT id, sites.time_zone
  FROM sites JOIN site_folding folding ON folding.site_id = id LEFT JOIN open_folds ON open_folds.site_id = id
  WHERE last_day_events >= ${least} AND (as_of IS NULL OR as_of <= to_timestamp(${now - everyMs} / 1000.0) OR open_folds.time_zone <> sites.time_zone)
  ORDER BY as_of NULLS FIRST`
