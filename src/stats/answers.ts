// Answers to queries: from the cache, or in turn from ClickHouse, once for all who ask for the same at the same time. While ClickHouse is
// down, the last answer again.
import { hash } from 'node:crypto'
import { Unavailable } from '../stores/breaker.ts'
import { createCoalescing } from './coalescing.ts'
import type { FairQueue } from './fair-queue.ts'
import { type Cacheable, createResponseCache } from './response-cache.ts'

interface Asked {
  /** Everything that decides the numbers, except the time and the state of the days. Each kind of answer has keys of its own. */
  cacheKey: string
  /** What is known about the days that are read. */
  state: string
  queue: FairQueue
  queueKey: string
  /** The current time of the query, for numbers that must agree with others. Without it, the time of the request. */
  now?: number | undefined
}

export interface Given<Found> {
  found: Found
  /** Set when ClickHouse is down and this repeats an earlier answer: its age in milliseconds. */
  staleMs: number | undefined
}

export interface Answers {
  /** `prepare` runs only if nothing is cached, and what it returns queries ClickHouse. */
  give<Found extends Cacheable>(
    asked: Asked,
    prepare: () => (signal: AbortSignal) => Promise<Found>,
    signal: AbortSignal,
  ): Promise<Given<Found>>
}

/** Identical for identical texts, and short enough for a header. */
export const identityOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 27)

export function createAnswers(now: () => number, cacheBytes: number): Answers {
  const cache = createResponseCache<Cacheable>(cacheBytes)
  const coalescing = createCoalescing<Cacheable>()

  return {
    async give<Found extends Cacheable>(
      asked: Asked,
      prepare: () => (signal: AbortSignal) => Promise<Found>,
      signal: AbortSignal,
    ) {
      const { cacheKey, state } = asked
      const cached = () =>
        asked.now === undefined ? cache.fresh(cacheKey, state, now()) : cache.asOf(cacheKey, state, asked.now)
      const given = (found: Cacheable, staleMs?: number) => ({ found: found as Found, staleMs })
      const known = cached()
      if (known) return given(known)

      const query = prepare()
      const compute = async (abandoned: AbortSignal): Promise<Cacheable> => {
        const found = await query(abandoned)
        if (asked.now === undefined) cache.keep(cacheKey, found)
        else cache.keepIfLater(cacheKey, found)
        return found
      }
      const share = () =>
        cacheBytes > 0 ? coalescing.share(`${cacheKey} ${state} ${asked.now ?? ''}`, signal, compute) : compute(signal)
      try {
        // Every request takes its own turn, also one that could join a running query: its queue key alone decides how long it waits.
        return given(await asked.queue.take(asked.queueKey, signal, async () => cached() ?? share()))
      } catch (error) {
        const last = error instanceof Unavailable ? cache.last(cacheKey, now()) : undefined
        if (!last) throw error
        return given(last, now() - last.generatedAt)
      }
    },
  }
}
