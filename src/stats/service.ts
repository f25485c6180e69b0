// The only way to read statistics of one site or many. A result comes from the cache or, after waiting for a turn, from ClickHouse; identical
// concurrent queries run once. While ClickHouse is down, the service repeats the last result. It knows no HTTP and no accounts; a site is plain
// data.
import { LRUCache } from 'lru-cache'
import type { DayRange } from '../calendar/days.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { minuteMs } from '../durations.ts'
import { Unavailable } from '../stores/breaker.ts'
import { createFairQueues } from './fair-queue.ts'
import { createLive, type Live } from './live.ts'
import { type QuestionRequest, type QuestionResult, questionQuery } from './questions/questions.ts'
import type { Cacheable, StatsSite } from './report.ts'
import { reportQuery, type StatsRequest, type StatsResult } from './reports.ts'
import { type SiteRow, type SitesRequest, type SitesResult, sitesQuery } from './sites-query.ts'
import { findStoredEvent, type StoredEvent } from './stored-event.ts'
import { readTitles } from './titles.ts'

export interface StatsService {
  /** The signal aborts the wait for a turn, and also the query unless other callers wait for it. */
  read(request: StatsRequest, signal: AbortSignal): Promise<StatsResult>
  readSites<Row extends SiteRow>(request: SitesRequest<Row>, signal: AbortSignal): Promise<SitesResult<Row>>
  ask(request: QuestionRequest, signal: AbortSignal): Promise<QuestionResult>
  /** The titles of these paths, for a list that has none. */
  titles(request: TitlesRequest, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** A single event. It is no number, and is not cached. */
  event(request: EventRequest, signal: AbortSignal): Promise<StoredEvent | undefined>
  live: Live
}

interface EventRequest {
  site: Pick<StatsSite, 'id' | 'shard'>
  eventId: string
  days: DayRange
  queueKey: string
}

interface TitlesRequest {
  site: StatsSite
  paths: readonly string[]
  queueKey: string
}

export interface StatsServiceOptions {
  cluster: ClusterReader
  /** UTC milliseconds. */
  now(): number
  /** Memory for cached results. With 0 every request queries ClickHouse. */
  cacheBytes: number
}

interface CacheableQuery<Result extends Cacheable> {
  /** Everything that decides the numbers, except the time and the state of the days. Each kind of query has keys of its own. */
  cacheKey: string
  /** The state of the days that are read. A cached result of another state is not used. */
  state: string
  /** The current time of the query, for numbers that must agree with others. Undefined: the time of the request. */
  asOf: number | undefined
  /** Whether the last result must not be repeated while ClickHouse is down (report.ts). */
  isLive: boolean
  sites: readonly { shard: number }[]
  queueKey: string
  /** Called only if no result is cached. Returns the function that queries ClickHouse. */
  prepare(): (signal: AbortSignal) => Promise<Result>
}

/**
 * Questions about single visits have turns of their own, so that nothing else waits behind them. An account runs one at a time on a shard
 * (D-235).
 */
const questionLimits = { total: 4, perKey: 1 }

export function createStatsService({ cluster, now, cacheBytes }: StatsServiceOptions): StatsService {
  const reportQueues = createFairQueues()
  const questionQueues = createFairQueues(questionLimits)
  const cache = createResponseCache<Cacheable>(cacheBytes)
  const coalescing = createCoalescing<Cacheable>()

  async function run<Result extends Cacheable>(
    queuesOf: ReturnType<typeof createFairQueues>,
    query: CacheableQuery<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { cacheKey, state, asOf } = query
    const cached = () => (asOf === undefined ? cache.fresh(cacheKey, state, now()) : cache.asOf(cacheKey, state, asOf))
    const cachedResult = cached()
    if (cachedResult) return cachedResult as Result

    const read = query.prepare()
    const readAndKeep = async (abandoned: AbortSignal): Promise<Cacheable> => {
      const result = await read(abandoned)
      if (asOf === undefined) cache.keep(cacheKey, result)
      else cache.keepIfLater(cacheKey, result)
      return result
    }
    const share = () =>
      cacheBytes > 0 ? coalescing.share(`${cacheKey} ${state} ${asOf ?? ''}`, signal, readAndKeep) : readAndKeep(signal)
    try {
      // A request waits for its own turn even if it could join a running query, so that only its queue key decides how long it waits.
      return (await queuesOf(query.sites).take(query.queueKey, signal, async () => cached() ?? share())) as Result
    } catch (error) {
      const last = error instanceof Unavailable && !query.isLive ? cache.last(cacheKey, now()) : undefined
      if (!last) throw error
      return { ...(last as Result), staleMs: now() - last.generatedAt }
    }
  }

  return {
    read: async (request, signal) => run(reportQueues, reportQuery(cluster, request, now()), signal),
    readSites: async (request, signal) => run(reportQueues, sitesQuery(cluster, request, now()), signal),
    async ask(request, signal) {
      const query = questionQuery(cluster, request, now())
      return run(query.isAboutVisits ? questionQueues : reportQueues, query, signal)
    },
    titles: async ({ site, paths, queueKey }, signal) => {
      if (paths.length === 0) return new Map()
      const { id: siteId, excludedCountries } = site
      const read = () => readTitles(cluster.of(site), { siteId, excludedCountries }, paths, signal)
      return reportQueues([site]).take(queueKey, signal, read)
    },
    event: ({ site, eventId, days, queueKey }, signal) =>
      questionQueues([site]).take(queueKey, signal, () =>
        findStoredEvent(cluster.of(site), site.id, eventId, days, signal),
      ),
    live: createLive({ cluster, now }, reportQueues),
  }
}

/**
 * Results that are returned again instead of querying ClickHouse: the same JSON with the same generated_at. A result about settled days stays
 * valid until a late event or a rollup run changes the site's state. Any other is fresh for five seconds (decision D-78), and may be repeated
 * for ten minutes while ClickHouse is down (decision D-66).
 */
export interface ResponseCache<Response extends Cacheable> {
  keep(cacheKey: string, response: Response): void
  /** Does not replace a later response, so that callers who want the current time never get an earlier one after it. */
  keepIfLater(cacheKey: string, response: Response): void
  /** A response that is as good as a new query. */
  fresh(cacheKey: string, state: string, now: number): Response | undefined
  /** A response that counts events up to exactly this instant, or whose days are settled. */
  asOf(cacheKey: string, state: string, generatedAt: number): Response | undefined
  /** The last response, for the time while ClickHouse is down. */
  last(cacheKey: string, now: number): Response | undefined
}

const freshMs = 5_000
const maxStaleMs = 10 * minuteMs
/** Even without a cache, this much memory holds the last responses for an outage. */
const minBytes = 32 * 1024 * 1024

/** With 0 bytes no response is fresh. */
export function createResponseCache<Response extends Cacheable>(maxBytes: number): ResponseCache<Response> {
  const maxSize = Math.max(maxBytes, minBytes)
  const responses = new LRUCache<string, Response>({ maxSize, maxEntrySize: maxSize / 8, sizeCalculation: sizeOf })

  function inState(cacheKey: string, state: string): Response | undefined {
    const response = maxBytes > 0 ? responses.get(cacheKey) : undefined
    return response?.state === state ? response : undefined
  }

  return {
    keep(cacheKey, response) {
      responses.set(cacheKey, response)
    },
    keepIfLater(cacheKey, response) {
      const current = responses.peek(cacheKey)
      if (!current || current.generatedAt <= response.generatedAt) responses.set(cacheKey, response)
    },
    fresh(cacheKey, state, now) {
      const response = inState(cacheKey, state)
      return response && (response.settled || Math.abs(now - response.requestedAt) < freshMs) ? response : undefined
    },
    asOf(cacheKey, state, generatedAt) {
      const response = inState(cacheKey, state)
      return response && (response.settled || response.generatedAt === generatedAt) ? response : undefined
    },
    last(cacheKey, now) {
      const response = responses.get(cacheKey)
      return response && now - response.generatedAt <= maxStaleMs ? response : undefined
    },
  }
}

/** Approximate memory: at most two bytes per character, plus the entry itself. */
const sizeOf = ({ json, state }: Cacheable, cacheKey: string): number =>
  2 * (cacheKey.length + json.length + state.length) + 500

/** Identical concurrent queries run once, and all callers get the same result. */
interface Coalescing<Value> {
  /** Joins the work that runs under this key, or starts it. The work's signal aborts when the last caller has left. */
  share(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value>
}

interface Shared<Value> {
  result: Promise<Value>
  callers: number
  abort: AbortController
}

function createCoalescing<Value>(): Coalescing<Value> {
  const running = new Map<string, Shared<Value>>()

  function begin(key: string, work: (signal: AbortSignal) => Promise<Value>): Shared<Value> {
    const abort = new AbortController()
    const shared = { result: work(abort.signal), callers: 0, abort }
    running.set(key, shared)
    const end = () => close(key, shared)
    shared.result.then(end, end)
    return shared
  }

  /** Nobody can join this work any more. The key may already belong to newer work. */
  function close(key: string, shared: Shared<Value>): void {
    if (running.get(key) === shared) running.delete(key)
  }

  return {
    async share(key, signal, work) {
      const shared = running.get(key) ?? begin(key, work)
      const { promise: aborted, reject } = Promise.withResolvers<never>()
      const abort = () => reject(signal.reason)
      shared.callers++
      signal.addEventListener('abort', abort, { once: true })
      try {
        signal.throwIfAborted()
        return await Promise.race([shared.result, aborted])
      } finally {
        signal.removeEventListener('abort', abort)
        shared.callers--
        if (shared.callers === 0 && signal.aborted) {
          close(key, shared)
          shared.abort.abort(signal.reason)
        }
      }
    },
  }
}
