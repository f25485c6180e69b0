// Finds days that have closed and folds them: in `footfall serve`, or as a process of its own. Any number may run; a lease lets one
// work at a time. It only saves work: two at once would still be right (ledger.ts).
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, sql, text } from '../stores/clickhouse-sql.ts'
import type { Clocks } from '../stores/clocks.ts'
import type { Postgres } from '../stores/postgres.ts'
import { lastClosedDay } from './calendar.ts'
import { eraseDeletedSites } from './erasures.ts'
import { foldSite, type Progress, type Stores, sweep } from './fold.ts'
import { withLease } from './lease.ts'
import { foldOpenDays } from './open-days.ts'
import { dropOldEvents } from './retention.ts'

const roundMs = 60_000
const openRoundMs = 5_000
/** Late events come in bursts: a site's days are folded again once in five minutes. */
const pause = '5 minutes'

/** Events in a year from which on a site is folded: below, a year is read from the events in no time (decision D-75). */
const leastEvents = 50_000

export interface RoundOptions {
  now: number
  /** All of them, also small sites and those folded a moment ago; without it, what is due. */
  siteId?: string
  least?: number
  /** Events older than so many months are dropped; undefined keeps all. */
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
  /** Months of events that are gone now. */
  dropped?: string[]
  /** Why old events are kept although they are due. */
  held?: string
}

/** Folds what is due, if nobody else is at it; undefined if somebody is. */
export const foldRound = (stores: Stores, options: RoundOptions): Promise<Round | undefined> =>
  withLease(stores.postgres, 'fold closed days', () => foldDue(stores, options))

interface Candidate {
  id: string
  domain: string
  time_zone: string
  considered_through: string | null
  is_unfinished: boolean
  /** Other than what a small site was folded for before its old events were dropped. */
  has_folds: boolean
}

async function foldDue(stores: Stores, options: RoundOptions): Promise<Round> {
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
      round.failed++ // it stays unfinished, and its turn comes again
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
      SELECT FROM site_folds WHERE site_id = id AND (upper(days) > (SELECT kept_from FROM retention)) IS NOT FALSE
    ) AS has_folds
  FROM sites LEFT JOIN site_folding ON site_id = id
  WHERE ${siteId === undefined ? postgres`considered_at IS NULL OR considered_at < now() - ${pause}::text::interval` : postgres`id = ${siteId}`}
  ORDER BY domain`

async function considerSite(
  stores: Stores,
  { id, domain, has_folds }: Candidate,
  closed: string,
  { siteId, least = leastEvents, onSite }: RoundOptions,
): Promise<number> {
  // Before the days are looked at: an event that comes late while they are sets it back again.
  await consider(stores.postgres, id, closed)
  const isWanted = siteId !== undefined || has_folds || (await eventsOfAYear(stores.clickhouse, id, closed)) >= least
  const days = isWanted ? await foldSite(stores, id, closed, onSite?.(domain)) : 0
  await stores.postgres`UPDATE site_folding SET is_unfinished = false WHERE site_id = ${id}`
  return days
}

/** A site that has moved west may be looked at less far than before: answers about days that are no longer settled end with it. */
const consider = (postgres: Postgres, siteId: string, through: string) => postgres`
  INSERT INTO site_folding AS known (site_id, considered_through, considered_at, is_unfinished)
  SELECT id, ${through}::text::date, now(), true FROM sites WHERE id = ${siteId}
  ON CONFLICT (site_id) DO UPDATE
  SET considered_through = excluded.considered_through, considered_at = now(), is_unfinished = true,
      late = known.late + CASE WHEN excluded.considered_through < known.considered_through THEN 1 ELSE 0 END`

async function eventsOfAYear(clickhouse: ClickHouse, siteId: string, closed: string): Promise<number> {
  const [row] = await clickhouse.rowsPatiently<{ events: number }>(sql`
    SELECT count() AS events FROM events
    WHERE site_id = ${text(siteId)} AND day BETWEEN ${date(closed)} - 365 AND ${date(closed)}`)
  return row?.events ?? 0
}

export interface FoldingLoop {
  /** Ends after the site it is at. */
  stop(): Promise<void>
}

interface Log {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Counts the open days of busy sites until the signal aborts; beside folding, because a large site may take minutes to fold. */
export async function watchOpenDays(
  stores: Stores,
  signal: AbortSignal,
  onError: (error: Error, domain?: string) => void,
): Promise<void> {
  const restUntil = new Map<string, number>()
  while (!signal.aborted) {
    const counting = withLease(stores.postgres, 'count open days', () =>
      foldOpenDays(stores, { now: Date.now, signal, restUntil, onError }),
    )
    await counting.catch(onError)
    await sleep(openRoundMs, undefined, { signal }).catch(() => {})
  }
}

/** Erases what is left of deleted sites, if nobody else is at it; beside folding, because rewriting parts may take hours. */
export const eraseRound = (stores: Stores) =>
  withLease(stores.postgres, 'erase deleted sites', () => eraseDeletedSites(stores))

/** The same until the signal aborts, which it does not wait for. What fails is tried again with every round, and told once. */
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

export function startFolding(
  stores: Stores,
  log: Log,
  retentionMonths: number | undefined,
  everyMs = roundMs,
): FoldingLoop {
  const ending = new AbortController()
  const { signal } = ending
  const counting = watchOpenDays(stores, signal, (error, domain) =>
    log.error({ err: error, domain }, 'open days could not be counted'),
  )
  const erasing = watchErasures(stores, signal, (error) =>
    log.error({ err: error }, 'deleted sites could not be erased; it is tried again every minute'),
  )
  let held: string | undefined
  const running = (async () => {
    while (!signal.aborted) {
      try {
        const round = await foldRound(stores, {
          now: Date.now(),
          retentionMonths,
          signal,
          onError: (error, domain) => log.error({ err: error, domain }, 'a site could not be folded'),
        })
        if (round && round.days > 0) log.info(round, 'folded')
        if (round?.dropped) log.info({ months: round.dropped }, 'old events were dropped')
        if (round?.held && round.held !== held) log.error({}, round.held)
        if (round) held = round.held
      } catch (error) {
        log.error({ err: error }, 'folding failed')
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
