// Recounts answers from events, quietly (decision D-247): in the process that rolls up, one day at a time, on one process per shard, and with long
// pauses, so that it takes a hundredth of a core.
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Site } from '../accounts/sites.ts'
import { withLease } from '../cluster/lease.ts'
import { type AllStores, byShard, type Stores } from '../cluster/stores.ts'
import { hourMs } from '../durations.ts'
import { isIncomplete } from '../stores/clickhouse.ts'
import type { Difference } from './differences.ts'
import { isDue, type NextDay, nextDay, noteVisit } from './rounds.ts'
import { type Visit, visitDay } from './visit.ts'

const defaultLookEveryMs = 5_000
/** The pause is this many times as long as ClickHouse worked. A quarter of a hundredth of a core is left for this process and PostgreSQL. */
const restPerWork = 135
const minRestMs = 5_000
/** A busy installation is left alone for this long. Then one day is visited, so that the proof does not end without a word. */
const patienceMs = hourMs

export interface RecountOptions {
  signal: AbortSignal
  now?(): number
  settleMs?: number
  isBusy?(stores: Stores): Promise<boolean>
  onDifference?(site: Site, day: string, difference: Difference): void
}

interface WatchOptions extends RecountOptions {
  lookEveryMs?: number
  onError(error: Error): void
}

export interface RecountingLoop {
  stop(): Promise<void>
}

export function startRecounting(stores: AllStores, log: Logger): RecountingLoop {
  const ending = new AbortController()
  const { signal } = ending
  const loops = byShard(stores).map((shard) =>
    watchAnswers(shard, {
      signal,
      onError: (err) => log.error({ err }, 'answers cannot be recounted'),
      onDifference: ({ domain }, day, { request }) => log.error({ domain, day, request }, differed),
    }),
  )
  return {
    async stop() {
      ending.abort()
      await Promise.all(loops)
    },
  }
}

export const differed = 'an answer differed from its events; the day is rolled up again'

/** Repeats until the signal aborts. Each shard has its own loop. */
export async function watchAnswers(stores: Stores, options: WatchOptions): Promise<void> {
  const { signal, onError, isBusy = isAtWork, lookEveryMs = defaultLookEveryMs } = options
  let quietAt = performance.now()
  let isFailing = false
  while (!signal.aborted) {
    try {
      const due = await isDue(stores.postgres, stores.clickhouse.shard)
      const isOver = performance.now() - quietAt > patienceMs
      if (due && (isOver || !(await isBusy(stores)))) {
        await recountOnce(stores, options)
        quietAt = performance.now()
      }
      isFailing = false
    } catch (error) {
      if (!isFailing && !signal.aborted) onError(error as Error)
      isFailing = true
    }
    await sleep(lookEveryMs, undefined, { signal }).catch(() => {})
  }
}

/** Visits one day, unless another process does. Undefined: there was none to visit, or it could not be compared now. */
export async function recountOnce(stores: Stores, options: RecountOptions): Promise<(Visit & NextDay) | undefined> {
  const { postgres, clickhouse } = stores
  const { now = Date.now, ...others } = options
  return withLease(postgres, `recount answers of shard ${clickhouse.shard}`, async () => {
    if (!(await isDue(postgres, clickhouse.shard)) || (await isIncomplete(clickhouse))) return undefined
    const next = await nextDay(stores)
    if (!next) return undefined
    const begun = performance.now()
    try {
      const visit = await visitDay(stores, next.siteId, next.day, { now, ...others })
      await noteVisit(postgres, clickhouse.shard, next, visit, Math.max(minRestMs, restPerWork * (visit?.spentMs ?? 0)))
      return visit && { ...visit, ...next }
    } catch (error) {
      if (options.signal.aborted) return undefined
      // Whatever failed may fail again, so the next day is of another site.
      await noteVisit(postgres, clickhouse.shard, next, undefined, Math.max(minRestMs, performance.now() - begun))
      throw error
    }
  })
}

/** Days are being rolled up, or this machine has no core to spare. */
async function isAtWork({ postgres }: Stores): Promise<boolean> {
  if ((loadavg()[0] as number) >= availableParallelism()) return true
  const [row] = await postgres<{ isRollingUp: boolean }[]>`
    SELECT EXISTS (SELECT FROM rollup_runs WHERE state IN ('writing', 'sweeping')) AS "isRollingUp"`
  return row?.isRollingUp ?? false
}
