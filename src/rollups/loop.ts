// Finds closed days and rolls them up, in `footfall serve` or in its own process. Any number of these processes may run; a lease lets
// one work at a time. The lease only saves work: two at once would still be right (runs.ts).

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastClosedDay } from '../calendar/days.ts'
import { eraseDeletedSites } from '../erasure/job.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, sql, text } from '../stores/clickhouse-sql.ts'
import type { Clocks } from '../stores/clocks.ts'
import { withLease } from '../stores/lease.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Stores } from '../stores/stores.ts'
import { dropOldEvents } from './retention.ts'
import { type Progress, rollUpSite } from './roll-up.ts'
import { sweep } from './sweep.ts'
import { rollUpTodayOfBusySites } from './today.ts'

const roundMs = 60_000
const todayRoundMs = 5_000
/** Late events come in bursts, so a site's days are rolled up again at most once in five minutes. */
const pause = '5 minutes'

/** Sites with at least this many events in a year are rolled up. For others, reading a year of events takes no time (decision D-75). */
const leastEvents = 50_000

export interface RoundOptions {
  now: number
  /** Rolls up this site, even if it is small or was rolled up a moment ago. Without it, every site that is due. */
  siteId?: string
  least?: number
  /** Events older than this many months are dropped; undefined keeps all events. */
  retentionMonths?: number | undefined
  readClocks?: (stores: Stores) => Promise<Clocks>
  signal?: AbortSignal
  onSite?: (domain: string) => Progress | undefined
  onError?: (error: Error, domain: string) => void
}

export interface Round {
  sites: number
  days: number
  failed: number
  /** Months whose events were dropped. */
  dropped?: string[]
  /** Why old events are still there although they are due. */
  held?: string
}

/** Rolls up what is due, or returns undefined if another process is doing it. */
export const rollUpRound = (stores: Stores, options: RoundOptions): Promise<Round | undefined> =>
  withLease(stores.postgres, 'roll up closed days', () => rollUpDue(stores, options))

interface Candidate {
  id: string
  domain: string
  time_zone: string
  considered_through: string | null
  is_unfinished: boolean
  /** Does not count days that were rolled up only because retention drops their events: small sites have those, too. */
  has_rollups: boolean
}

async function rollUpDue(stores: Stores, options: RoundOptions): Promise<Round> {
  const round: Round = { sites: 0, days: 0, failed: 0 }
  const closedIn = new Map<string, string>()
  for (const site of await candidates(stores.postgres, options.siteId)) {
    if (options.signal?.aborted) break
    const zone = site.time_zone
    const closed = closedIn.get(zone) ?? lastClosedDay(zone, options.now)
    closedIn.set(zone, closed)
    const isDone = (site.considered_through ?? '') >= closed && !site.is_unfinished
    if (options.siteId === undefined && isDone) continue
    try {
      const days = await considerSite(stores, site, closed, options)
      round.days += days
      if (days > 0) round.sites++
    } catch (error) {
      round.failed++ // the site stays unfinished, so a later round tries again
      options.onError?.(error as Error, site.domain)
    }
  }
  await sweep(stores)
  if (options.retentionMonths !== undefined && options.siteId === undefined) {
    const { months, held } = await dropOldEvents(stores, {
      ...options,
      months: options.retentionMonths,
      onError(error, domain) {
        round.failed++
        options.onError?.(error, domain)
      },
    })
    if (months.length > 0) round.dropped = months
    if (held !== undefined) round.held = held
  }
  return round
}

const candidates = (postgres: Postgres, siteId: string | undefined): Promise<Candidate[]> => postgres<Candidate[]>`
  SELECT id, domain, time_zone, considered_through::text, coalesce(is_unfinished, false) AS is_unfinished,
    EXISTS (
      SELECT FROM rollup_coverage WHERE site_id = id AND (upper(days) > (SELECT events_from FROM retention)) IS NOT FALSE
    ) AS has_rollups
  FROM sites LEFT JOIN rollup_state ON site_id = id
  WHERE ${siteId === undefined ? postgres`considered_at IS NULL OR considered_at < now() - ${pause}::text::interval` : postgres`id = ${siteId}`}
  ORDER BY domain`

async function considerSite(
  stores: Stores,
  { id, domain, has_rollups }: Candidate,
  closed: string,
  { siteId, least = leastEvents, onSite }: RoundOptions,
): Promise<number> {
  // Recorded before the days are read, so that an event that arrives late in the meantime sets it back again.
  await consider(stores.postgres, id, closed)
  const isWanted = siteId !== undefined || has_rollups || (await eventsOfAYear(stores.clickhouse, id, closed)) >= least
  const days = isWanted ? await rollUpSite(stores, id, closed, onSite?.(domain)) : 0
  await stores.postgres`UPDATE rollup_state SET is_unfinished = false WHERE site_id = ${id}`
  return days
}

/** After a move to the west the last closed day may be earlier than before. Cached responses about the days after it become invalid. */
const consider = (postgres: Postgres, siteId: string, through: string) => postgres`
  INSERT INTO rollup_state AS known (site_id, considered_through, considered_at, is_unfinished)
  SELECT id, ${through}::text::date, now(), true FROM sites WHERE id = ${siteId}
  ON CONFLICT (site_id) DO UPDATE
  SET considered_through = excluded.considered_through, considered_at = now(), is_unfinished = true,
      invalidations = known.invalidations + CASE WHEN excluded.considered_through < known.considered_through THEN 1 ELSE 0 END`

async function eventsOfAYear(clickhouse: ClickHouse, siteId: string, closed: string): Promise<number> {
  const [row] = await clickhouse.rowsPatiently<{ events: number }>(sql`
    SELECT count() AS events FROM events
    WHERE site_id = ${text(siteId)} AND day BETWEEN ${date(closed)} - 365 AND ${date(closed)}`)
  return row?.events ?? 0
}

export interface RollupLoop {
  /** Finishes the current site first. */
  stop(): Promise<void>
}

interface Log {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Counts today for busy sites until the signal aborts. It runs beside the rollups, because a large site may take minutes to roll up. */
export async function watchToday(
  stores: Stores,
  signal: AbortSignal,
  onError: (error: Error, domain?: string) => void,
): Promise<void> {
  const restUntil = new Map<string, number>()
  while (!signal.aborted) {
    const counting = withLease(stores.postgres, 'count today', () =>
      rollUpTodayOfBusySites(stores, { now: Date.now, signal, restUntil, onError }),
    )
    await counting.catch(onError)
    await sleep(todayRoundMs, undefined, { signal }).catch(() => {})
  }
}

/** Erases the data of deleted sites, unless another process does. It runs beside the rollups, because rewriting parts may take hours. */
export const eraseRound = (stores: Stores) =>
  withLease(stores.postgres, 'erase deleted sites', () => eraseDeletedSites(stores))

/** Repeats `eraseRound` until the signal aborts, without waiting for a round to end. A failing round is repeated, and reported once. */
export async function watchErasures(
  stores: Stores,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<void> {
  const aborted = once(signal, 'abort')
  let isFailing = false
  while (!signal.aborted) {
    try {
      await Promise.race([eraseRound(stores), aborted])
      isFailing = false
    } catch (error) {
      if (!isFailing) onError(error as Error)
      isFailing = true
    }
    await sleep(roundMs, undefined, { signal }).catch(() => {})
  }
}

export function startRollups(
  stores: Stores,
  log: Log,
  retentionMonths: number | undefined,
  everyMs = roundMs,
): RollupLoop {
  const ending = new AbortController()
  const { signal } = ending
  const counting = watchToday(stores, signal, (error, domain) =>
    log.error({ err: error, domain }, 'counting today failed'),
  )
  const erasing = watchErasures(stores, signal, (error) =>
    log.error({ err: error }, 'erasing deleted sites failed; trying again every minute'),
  )
  let held: string | undefined
  const running = (async () => {
    while (!signal.aborted) {
      try {
        const round = await rollUpRound(stores, {
          now: Date.now(),
          retentionMonths,
          signal,
          onError: (error, domain) => log.error({ err: error, domain }, 'rolling up a site failed'),
        })
        if (round && round.days > 0) log.info(round, 'rolled up closed days')
        if (round?.dropped) log.info({ months: round.dropped }, 'dropped old events')
        if (round?.held && round.held !== held) log.error({}, round.held)
        if (round) held = round.held
      } catch (error) {
        log.error({ err: error }, 'rolling up failed')
      }
      await sleep(everyMs, undefined, { signal }).catch(() => {})
    }
  })()
  return {
    async stop() {
      ending.abort()
      await Promise.all([running, counting, erasing])
    },
  }
}
