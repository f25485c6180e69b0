// Counts today for busy sites every 40 seconds, with the statements that roll up closed days. Reading today from its events would cost
// every answer tens of milliseconds (decision D-81). Nothing depends on this count: where it is missing or old, queries read events.

import { type DayRange, dayAfter, dayOf, lastClosedDay } from '../calendar/days.ts'
import { partialEnd, periodsOf, storedDay } from '../calendar/periods.ts'
import type { Stores } from '../cluster/stores.ts'
import { isIncomplete } from '../stores/clickhouse.ts'
import { type DayPart, type RollupVersion, readCoverage, rolledUpDays } from './coverage.ts'
import { fewEvents, settings } from './roll-up.ts'
import { partsStatement, rollupStatements } from './statements.ts'

/** A site with this many events on its last day is busy. Reading half a day of 250,000 events cost an answer 20 to 170 ms. */
const busyDay = 50_000
/** From one count to the next. Together with the time a count takes, answers stay at most a minute old (reading.ts). */
const everyMs = 40_000
/** A longer count would soon be too old to be read. */
const timeoutMs = 30_000
/** The pause after a count is this many times as long as the count took: on two threads, a tenth of a core per site. */
const restPerCount = 10 * settings.max_threads

export interface TodayOptions {
  now(): number
  minDayEvents?: number
  signal?: AbortSignal
  /** When each site may be counted again, because its last count took long. All rounds of a process share one map. */
  restUntil: Map<string, number>
  onError(error: Error, domain: string): void
  /** Monotonic, because the wall clock can jump. */
  clock?(): number
  maxBytes?: number
}

/** Counts today for every busy site of the shard that is due. Returns the number of sites. */
export async function rollUpTodayOfBusySites(stores: Stores, options: TodayOptions): Promise<number> {
  const { now, minDayEvents = busyDay, signal, restUntil, onError, clock = () => performance.now(), maxBytes } = options
  let rolledUp = 0
  const due = await busySites(stores, now(), minDayEvents)
  if (due.length > 0 && (await isIncomplete(stores.clickhouse))) return 0 // the round of closed days reports it
  for (const { id, domain, time_zone, last_day_events } of due) {
    if (signal?.aborted) break
    if (now() < (restUntil.get(id) ?? 0)) continue
    const begun = clock()
    try {
      await rollUpToday(stores, id, time_zone, now(), { atOnce: last_day_events < fewEvents, maxBytes })
      rolledUp++
    } catch (error) {
      onError(error as Error, domain) // queries read events in the meantime
      if (await isIncomplete(stores.clickhouse)) break
    }
    restUntil.set(id, now() + Math.max(everyMs, restPerCount * (clock() - begun)))
  }
  return rolledUp
}

/** The memory limit of a count in ClickHouse: 207,000 ordinary events take 243 MB, 1.2 million 682 MB. */
const maxBytesOfCount = 1_000_000_000

/** Counts one site's days from the first open day through today, and the parts of days that they are compared with. */
export async function rollUpToday(
  { postgres, clickhouse }: Stores,
  siteId: string,
  zone: string,
  asOf: number,
  { atOnce = true, maxBytes = maxBytesOfCount }: { atOnce?: boolean; maxBytes?: number | undefined } = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const bounds = () => ({
    ...settings,
    max_memory_usage: `${maxBytes}`,
    // A thread reports memory in steps of this size, so a smaller limit would be noticed by chance only.
    max_untracked_memory: `${Math.min(maxBytes, 4_194_304)}`,
    max_execution_time: Math.max(1, Math.ceil((deadline - performance.now()) / 1000)),
  })
  const days: DayRange = [dayAfter(lastClosedDay(zone, asOf)), dayOf(zone, asOf)]
  const [{ version }] = await postgres<[{ version: number }]>`SELECT nextval('today_versions')::int AS version`
  // Read before the events: a day that gets late events from now on is then readable under another version, or not at all.
  const parts = partsOf(zone, asOf, (await readCoverage(postgres, siteId))?.versions ?? [])
  const statements = rollupStatements({ siteIds: [siteId], version, days: [days], until: asOf }, { atOnce })
  if (parts.length > 0) statements.push(partsStatement({ siteIds: [siteId], version }, parts))
  for (const statement of statements) await clickhouse.run(statement, bounds())
  await postgres`
    INSERT INTO today_coverage (site_id, time_zone, first_day, last_day, version, as_of, parts)
    SELECT id, ${zone}, ${days[0]}::text::date, ${days[1]}::text::date, ${version}, to_timestamp(${asOf} / 1000.0),
      ${JSON.stringify(parts)}::text::jsonb
    FROM sites WHERE id = ${siteId} AND shard = ${clickhouse.shard}
    ON CONFLICT (site_id) DO UPDATE
    SET time_zone = excluded.time_zone, first_day = excluded.first_day, last_day = excluded.last_day,
        version = excluded.version, as_of = excluded.as_of, parts = excluded.parts`
}

/** The rolled-up days in which the previous periods of the rolling ranges end, up to these ends. */
function partsOf(zone: string, asOf: number, versions: readonly RollupVersion[]): DayPart[] {
  const now = Temporal.Instant.fromEpochMilliseconds(asOf).toZonedDateTimeISO(zone)
  return (['7d', '30d', '90d', '12m'] as const).flatMap((name) => {
    const { previous } = periodsOf({ name }, now)
    const [day, until] = [storedDay(previous.lastDay), partialEnd(previous)]
    const [segment] = rolledUpDays([[day, day]], versions)
    return until !== null && segment ? [{ day, until, version: segment.version }] : []
  })
}

const busySites = (
  { postgres, clickhouse }: Stores,
  now: number,
  minDayEvents: number,
): Promise<{ id: string; domain: string; time_zone: string; last_day_events: number }[]> => postgres`
  SELECT id, domain, sites.time_zone, last_day_events
  FROM sites JOIN rollup_state state ON state.site_id = id LEFT JOIN today_coverage ON today_coverage.site_id = id
  WHERE shard = ${clickhouse.shard} AND last_day_events >= ${minDayEvents} AND (as_of IS NULL OR as_of <= to_timestamp(${now - everyMs} / 1000.0) OR today_coverage.time_zone <> sites.time_zone)
  ORDER BY as_of NULLS FIRST`
