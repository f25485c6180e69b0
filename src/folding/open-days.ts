// Busy sites: today is counted every 40 seconds by the statements that fold a closed day, because reading it from its events would cost
// every answer tens of milliseconds (decision D-81). Nothing depends on it: where it is missing or old, events are read.
import { selectSite, siteOf } from '../accounts/sites.ts'
import { partialEnd, periodsOf, storedDay } from '../stats/period.ts'
import { foldedDays } from '../stats/plan.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { DayPart, DayRange, Fold } from '../traffic/folds.ts'
import { dayAfter, dayOf, lastClosedDay } from './calendar.ts'
import { fewEvents, type Stores, settings } from './fold.ts'
import { foldParts, foldStatements } from './statements.ts'

/** Events of a day from which on a site is busy. Half a day of 250,000 cost an answer 20 to 170 ms from its events, as measured. */
const busyDay = 50_000
/** From one count to the next; with what a count takes, a reader's minute is kept (stats/plan.ts). */
const everyMs = 40_000
/** A count that takes longer would be too old to be read for long. */
const longestMs = 30_000
/** From one count to the next, so many times what it took: on two threads, a tenth of a core for one site. */
const restPerCount = 10 * settings.max_threads

export interface OpenDaysOptions {
  now(): number
  least?: number
  signal?: AbortSignal
  /** Which sites are not to be counted before when, because their last count took long: one map for all rounds of a process. */
  restUntil: Map<string, number>
  onError(error: Error, domain: string): void
  /** Never the wall clock, which can jump. */
  clock?(): number
  mostBytes?: number
}

/** Counts the open days of every busy site that is due. Returns how many. */
export async function foldOpenDays(stores: Stores, options: OpenDaysOptions): Promise<number> {
  const { now, least = busyDay, signal, restUntil, onError, clock = () => performance.now(), mostBytes } = options
  let folded = 0
  for (const { id, domain, time_zone, last_day_events } of await busySites(stores.postgres, now(), least)) {
    if (signal?.aborted) break
    if (now() < (restUntil.get(id) ?? 0)) continue
    const begun = clock()
    try {
      await foldOpenDay(stores, id, time_zone, now(), { atOnce: last_day_events < fewEvents, mostBytes })
      folded++
    } catch (error) {
      onError(error as Error, domain) // its answers are read from the events meanwhile
    }
    restUntil.set(id, now() + Math.max(everyMs, restPerCount * (clock() - begun)))
  }
  return folded
}

/** What a count may take of ClickHouse: 160,000 ordinary events take 154 MB, a million 547 MB. */
const mostBytesOfCount = 1_000_000_000

/** Counts one site's days from the first that is not closed through today, and the parts of days that they are compared with. */
export async function foldOpenDay(
  { postgres, clickhouse }: Stores,
  siteId: string,
  zone: string,
  asOf: number,
  { atOnce = true, mostBytes = mostBytesOfCount }: { atOnce?: boolean; mostBytes?: number | undefined } = {},
): Promise<void> {
  const deadline = performance.now() + longestMs
  const bounds = () => ({
    ...settings,
    max_memory_usage: `${mostBytes}`,
    max_execution_time: Math.max(1, Math.ceil((deadline - performance.now()) / 1000)),
  })
  const days: DayRange = [dayAfter(lastClosedDay(zone, asOf)), dayOf(zone, asOf)]
  const [{ version }] = await postgres<[{ version: number }]>`SELECT nextval('open_fold_versions')::int AS version`
  // Known before the events are read: a day that events come for from now on is then readable under another version, or not at all.
  const [row] = await selectSite(postgres, siteId)
  const parts = row ? partsOf(zone, asOf, siteOf(row).folds) : []
  const statements = foldStatements({ siteId, version, days: [days], until: asOf }, { atOnce })
  if (parts.length > 0) statements.push(foldParts({ siteId, version }, parts))
  for (const statement of statements) await clickhouse.run(statement, bounds())
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
): Promise<{ id: string; domain: string; time_zone: string; last_day_events: number }[]> => postgres`
  SELECT id, domain, sites.time_zone, last_day_events
  FROM sites JOIN site_folding folding ON folding.site_id = id LEFT JOIN open_folds ON open_folds.site_id = id
  WHERE last_day_events >= ${least} AND (as_of IS NULL OR as_of <= to_timestamp(${now - everyMs} / 1000.0) OR open_folds.time_zone <> sites.time_zone)
  ORDER BY as_of NULLS FIRST`
