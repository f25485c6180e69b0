// Finds days that have closed and folds them: in `footfall serve`, or as a process of its own. Any number may run; an advisory lock of
// PostgreSQL lets one work at a time. It only saves work: two at once would still be right (ledger.ts).
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, sql, text } from '../stores/clickhouse-sql.ts'
import type { Clocks } from '../stores/clocks.ts'
import type { Postgres } from '../stores/postgres.ts'
import { lastClosedDay } from './calendar.ts'
import { eraseDeletedSites } from './erasures.ts'
import { foldSite, type Progress, type Stores, sweep } from './fold.ts'
import { foldOpenDays } from './open-days.ts'
import { dropOldEvents } from './retention.ts'

const roundMs = 60_000
const openRoundMs = 5_000
/** Late events come in bursts: a site's days are folded again once in five minutes. */
const pause = '5 minutes'
// Any constants: the names of the locks.
const closedLock = 4_669_202
const openLock = 4_669_203
const erasureLock = 4_669_205

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
  alone(stores.postgres, closedLock, () => foldDue(stores, options))

async function alone<Result>(
  postgres: Postgres,
  lock: number,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const connection = await postgres.reserve()
  try {
    const [row] = await connection<[{ locked: boolean }]>`SELECT pg_try_advisory_lock(${lock}) AS locked`
    if (!row.locked) return undefined
    try {
      return await work()
    } finally {
      await connection`SELECT pg_advisory_unlock(${lock})`
    }
  } finally {
    connection.release()
  }
}

interface Candidate {
  id: string
  domain: string
  time_zone: string
  considered_through: string | null
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
    if (options.siteId === undefined && (site.considered_through ?? '') >= closed) continue
    try {
      const days = await considerSite(stores, site, closed, options)
      round.days += days
      if (days > 0) round.sites++
    } catch (error) {
      round.failed++
      await consider(stores.postgres, site.id, null)
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
  SELECT id, domain, time_zone, considered_through::text,
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
  return isWanted ? foldSite(stores, id, closed, onSite?.(domain)) : 0
}

const consider = (postgres: Postgres, siteId: string, through: string | null) => postgres`
  INSERT INTO site_folding (site_id, considered_through, considered_at)
  SELECT id, ${through}::text::date, now() FROM sites WHERE id = ${siteId}
  ON CONFLICT (site_id) DO UPDATE SET considered_through = excluded.considered_through, considered_at = now()`

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
    const counting = alone(stores.postgres, openLock, () =>
      foldOpenDays(stores, { now: Date.now, signal, restUntil, onError }),
    )
    await counting.catch(onError)
    await sleep(openRoundMs, undefined, { signal }).catch(() => {})
  }
}

/** Erases what is left of deleted sites, if nobody else is at it; beside folding, because rewriting parts may take hours. */
export const eraseRound = (stores: Stores) => alone(stores.postgres, erasureLock, () => eraseDeletedSites(stores))

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

export function startFolding(stores: Stores, log: Log, retentionMonths: number | undefined): FoldingLoop {
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
      await sleep(roundMs, undefined, { signal }).catch(() => {})
    }
  })()
  return {
    async stop() {
      ending.abort()
      await Promise.all([running, counting, erasing])
    },
  }
}
