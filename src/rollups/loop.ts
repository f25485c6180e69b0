// Finds closed days and rolls them up, in `footfall serve` or in its own process. Any number of these processes may run; a lease lets
// one work on a shard at a time. The lease only saves work: two at once would still be right (runs.ts).

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastClosedDay } from '../calendar/days.ts'
import { freeShareOf } from '../cluster/disks.ts'
import { withLease } from '../cluster/lease.ts'
import { type AllStores, byShard, type Stores } from '../cluster/stores.ts'
import { minuteMs } from '../durations.ts'
import { eraseDeletedSites } from '../erasure/job.ts'
import { Unavailable } from '../stores/breaker.ts'
import { type ClickHouse, isIncomplete } from '../stores/clickhouse.ts'
import { date, sql, text } from '../stores/clickhouse-sql.ts'
import { noteInClickHouse, verifyLedger } from './ledger.ts'
import { type RolledUpAgain, rollUpOlderLayouts } from './older-layouts.ts'
import { type Dropped, dropOldEvents, type Retention } from './retention.ts'
import { type Progress, rollUpSite } from './roll-up.ts'
import { considerSites, finishSites } from './runs.ts'
import { sweep } from './sweep.ts'
import { rollUpTodayOfBusySites } from './today.ts'
import { rollUpTogether } from './together.ts'

const roundMs = minuteMs
const todayRoundMs = 5_000
/** Late events come in bursts, so a site's days are rolled up again at most once in five minutes. */
const pause = '5 minutes'

/** Sites with at least this many events in a year are rolled up. For others, reading a year of events takes no time (decision D-75). */
const minEvents = 50_000
/** How many small sites share the same statements. */
const sitesTogether = 500

export interface RoundOptions {
  now: number
  /** Rolls up this site, even if it is small or was rolled up a moment ago. Without it, every site that is due. */
  siteId?: string
  minYearEvents?: number
  signal?: AbortSignal
  onSite?: (domain: string) => Progress | undefined
  onError?: (error: Error, domain: string) => void
  /** See `rollUpOlderLayouts`. */
  restUntil?: Map<string, number>
  onAgain?: (again: RolledUpAgain) => void
}

export interface Round {
  sites: number
  days: number
  failed: number
}

/** Rolls up what is due on a shard, or returns undefined if another process is doing it. */
export const rollUpRound = (stores: Stores, options: RoundOptions): Promise<Round | undefined> =>
  withLease(stores.postgres, nameOf('roll up closed days', stores), () => rollUpDue(stores, options))

const nameOf = (job: string, { clickhouse }: Stores): string => `${job} of shard ${clickhouse.shard}`

interface Candidate {
  id: string
  domain: string
  /** Its last closed day. */
  closed: string
  time_zone: string
  considered_through: string | null
  is_unfinished: boolean
  /** Ignores days that were rolled up only because retention drops their events, since small sites have such days, too. */
  hasRollups: boolean
}

async function rollUpDue(stores: Stores, options: RoundOptions): Promise<Round> {
  const round: Round = { sites: 0, days: 0, failed: 0 }
  const { clickhouse } = stores
  const cause = await clickhouse.replicas?.incomplete()
  if (cause) {
    round.failed++
    options.onError?.(new Unavailable(cause), `every site of shard ${clickhouse.shard}`)
    return round
  }
  const due = await dueSites(stores, options)
  for (const site of options.siteId === undefined ? await rollUpMany(stores, due, options, round) : due) {
    if (options.signal?.aborted) break
    try {
      const days = await rollUpAlone(stores, site, options)
      round.days += days
      if (days > 0) round.sites++
    } catch (error) {
      round.failed++ // the site stays unfinished, so a later round tries again
      options.onError?.(error as Error, site.domain)
      if (await isIncomplete(clickhouse)) break
    }
  }
  const { siteId, signal, onError, restUntil } = options
  options.onAgain?.(await rollUpOlderLayouts(stores, { siteId, signal, onError, restUntil, forMs: roundMs / 2 }))
  await noteInClickHouse(stores) // includes the changes of other processes
  await sweep(stores)
  return round
}

/** Drops the events that are older than the retention, on all shards, or returns undefined if another process is doing it. */
export const retentionRound = (stores: AllStores, retention: Retention): Promise<Dropped | undefined> =>
  withLease(stores.postgres, 'drop old events', () => dropOldEvents(stores, retention))

async function dueSites({ postgres, clickhouse }: Stores, { siteId, now }: RoundOptions): Promise<Candidate[]> {
  const sites = await postgres<Omit<Candidate, 'closed'>[]>`
    SELECT id, domain, time_zone, considered_through::text, coalesce(is_unfinished, false) AS is_unfinished,
      EXISTS (
        SELECT FROM rollup_coverage WHERE site_id = id AND (upper(days) > (SELECT events_from FROM retention)) IS NOT FALSE
      ) AS "hasRollups"
    FROM sites LEFT JOIN rollup_state ON site_id = id
    WHERE shard = ${clickhouse.shard} AND ${siteId === undefined ? postgres`(considered_at IS NULL OR considered_at < now() - ${pause}::text::interval)` : postgres`id = ${siteId}`}
    ORDER BY domain`
  const zones = new Set(sites.map(({ time_zone }) => time_zone))
  const closedIn = new Map(Array.from(zones, (zone) => [zone, lastClosedDay(zone, now)]))
  return sites
    .map((site) => ({ ...site, closed: closedIn.get(site.time_zone) as string }))
    .filter(
      ({ closed, considered_through, is_unfinished }) =>
        siteId !== undefined || (considered_through ?? '') < closed || is_unfinished,
    )
}

/** Rolls up small sites together, and returns the sites that must be rolled up alone. */
async function rollUpMany(
  stores: Stores,
  due: readonly Candidate[],
  { minYearEvents = minEvents, signal, onError }: RoundOptions,
  round: Round,
): Promise<Candidate[]> {
  const alone: Candidate[] = []
  for (const sites of Map.groupBy(due, ({ closed }) => closed).values()) {
    for (let first = 0; first < sites.length; first += sitesTogether) {
      if (signal?.aborted) return []
      const some = sites.slice(first, first + sitesTogether)
      const closed = (some[0] as Candidate).closed
      // A site that makes this fail must not hold up the others, so each is then tried alone.
      const done = await rollUpTogether(stores, some, closed, minYearEvents).catch(async (error: Error) => {
        onError?.(error, `${some.length} sites together`)
        return (await isIncomplete(stores.clickhouse)) ? undefined : new Map<string, number>()
      })
      if (!done) return []
      for (const site of some) {
        const days = done.get(site.id)
        if (days === undefined) alone.push(site)
        else if (days > 0) round.sites++
        round.days += days ?? 0
      }
    }
  }
  return alone
}

async function rollUpAlone(
  stores: Stores,
  { id, domain, closed, hasRollups }: Candidate,
  { siteId, minYearEvents = minEvents, onSite }: RoundOptions,
): Promise<number> {
  // Recorded before the days are read, so that an event that arrives late in the meantime sets it back again.
  await considerSites(stores.postgres, [id], closed)
  const needsRollups =
    siteId !== undefined || hasRollups || (await eventsOfAYear(stores.clickhouse, id, closed)) >= minYearEvents
  const days = needsRollups ? await rollUpSite(stores, id, closed, onSite?.(domain)) : 0
  await finishSites(stores.postgres, [{ id, events: null }])
  return days
}

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
    const counting = withLease(stores.postgres, nameOf('count today', stores), () =>
      rollUpTodayOfBusySites(stores, { now: Date.now, signal, restUntil, onError }),
    )
    await counting.catch(onError)
    await sleep(todayRoundMs, undefined, { signal }).catch(() => {})
  }
}

/** Erases the data of deleted sites, unless another process does. It runs beside the rollups, because rewriting parts may take hours. */
export const eraseRound = (stores: Stores) =>
  withLease(stores.postgres, nameOf('erase deleted sites', stores), () => eraseDeletedSites(stores))

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

/** Each shard has its own loops, so that a shard that is down does not delay the others. */
export function startRollups(
  stores: AllStores,
  log: Log,
  retentionMonths: number | undefined,
  everyMs = roundMs,
): RollupLoop {
  const ending = new AbortController()
  const { signal } = ending
  const loops = byShard(stores).flatMap((shard) => [
    watchToday(shard, signal, (error, domain) => log.error({ err: error, domain }, 'counting today failed')),
    watchErasures(shard, signal, (error) =>
      log.error({ err: error }, 'erasing deleted sites failed; trying again every minute'),
    ),
    repeat(rollingUp(shard), 'rolling up failed'),
  ])
  if (retentionMonths !== undefined) loops.push(repeat(dropping(retentionMonths), 'dropping old events failed'))

  function rollingUp(shard: Stores): () => Promise<void> {
    const restUntil = new Map<string, number>()
    let heldBefore: string | undefined
    const onAgain = ({ days, left, held }: RolledUpAgain) => {
      if (days > 0) log.info({ days, left }, 'rolled up days again that had no sessions')
      if (held && held !== heldBefore) log.error({ left }, held)
      heldBefore = held
    }
    const onError = (error: Error, domain: string) => log.error({ err: error, domain }, 'rolling up a site failed')
    return async () => {
      await verify()
      const round = await rollUpRound(shard, { now: Date.now(), signal, restUntil, onError, onAgain })
      if (round && round.days > 0) log.info(round, 'rolled up closed days')
      await measureShard(shard)
    }
  }

  async function verify(): Promise<void> {
    const older = await verifyLedger(stores)
    if (older)
      log.error(
        { older },
        `${older} is an older copy: all days with events are rolled up again, and read from events until then`,
      )
  }

  async function repeat(work: () => Promise<void>, failure: string): Promise<void> {
    while (!signal.aborted) {
      await work().catch((error) => log.error({ err: error }, failure))
      await sleep(everyMs, undefined, { signal }).catch(() => {})
    }
  }

  function dropping(months: number): () => Promise<void> {
    let held: string | undefined
    return async () => {
      const onError = (error: Error, domain: string) => log.error({ err: error, domain }, 'rolling up a site failed')
      const round = await retentionRound(stores, { months, signal, onError })
      if (!round) return
      if (round.months.length > 0) log.info({ months: round.months }, 'dropped old events')
      if (round.held && round.held !== held) log.error({}, round.held)
      held = round.held
    }
  }

  return {
    async stop() {
      ending.abort()
      await Promise.all(loops)
    },
  }
}

/** New sites go where most of the disk is free (migrations/postgres/0007_shards.sql). */
async function measureShard({ postgres, clickhouse }: Stores): Promise<void> {
  const free = await freeShareOf(clickhouse)
  if (free === undefined) return // it is down
  await postgres`UPDATE shards SET free_share = ${free} WHERE number = ${clickhouse.shard}`
}
