// Responses that are returned again instead of querying ClickHouse: the same JSON with the same generated_at. A response about
// settled days stays valid until a late event or a rollup run changes the site's state. Any other response is fresh for five
// seconds (decision D-78), and may be repeated for ten minutes while ClickHouse is down (decision D-66).
import { LRUCache } from 'lru-cache'
import { minuteMs } from '../durations.ts'

export interface Cacheable {
  json: string
  /** The instant up to which events are counted, in UTC milliseconds. */
  generatedAt: number
  /** When ClickHouse was queried. Later than generatedAt where today was rolled up a moment before (decision D-81). */
  askedAt: number
  /** What was known about the site's days at that time. When it changes, the response is no longer fresh. */
  state: string
  /** True when the response covers settled days only: an event can change it only by changing the state too. */
  settled: boolean
}

export interface ResponseCache<Response extends Cacheable> {
  keep(cacheKey: string, response: Response): void
  /** Keeps it unless a later response is there: callers who ask for the current time never see an earlier one after it. */
  keepIfLater(cacheKey: string, response: Response): void
  /** A response that is as good as a new query. */
  fresh(cacheKey: string, state: string, now: number): Response | undefined
  /** A response that counts events up to exactly this instant, or whose days are settled. */
  asOf(cacheKey: string, state: string, generatedAt: number): Response | undefined
  /** The last response, for the time while ClickHouse is down. */
  last(cacheKey: string, now: number): Response | undefined
}

const freshMs = 5_000
const longestMs = 10 * minuteMs
/** Even without a cache, this much memory holds the last responses for an outage. */
const leastBytes = 32 * 1024 * 1024

/** With 0 bytes no response is fresh. */
export function createResponseCache<Response extends Cacheable>(mostBytes: number): ResponseCache<Response> {
  const maxSize = Math.max(mostBytes, leastBytes)
  const responses = new LRUCache<string, Response>({ maxSize, maxEntrySize: maxSize / 8, sizeCalculation: sizeOf })

  function inState(cacheKey: string, state: string): Response | undefined {
    const response = mostBytes > 0 ? responses.get(cacheKey) : undefined
    return response?.state === state ? response : undefined
  }

  return {
    keep(cacheKey, response) {
      responses.set(cacheKey, response)
    },
    keepIfLater(cacheKey, response) {
      const known = responses.peek(cacheKey)
      if (!known || known.generatedAt <= response.generatedAt) responses.set(cacheKey, response)
    },
    fresh(cacheKey, state, now) {
      const response = inState(cacheKey, state)
      return response && (response.settled || Math.abs(now - response.askedAt) < freshMs) ? response : undefined
    },
    asOf(cacheKey, state, generatedAt) {
      const response = inState(cacheKey, state)
      return response && (response.settled || response.generatedAt === generatedAt) ? response : undefined
    },
    last(cacheKey, now) {
      const response = responses.get(cacheKey)
      return response && now - response.generatedAt <= longestMs ? response : undefined
    },
  }
}

/** Roughly the memory it takes: at most two bytes per character, plus the entry itself. */
const sizeOf = ({ json, state }: Cacheable, cacheKey: string): number =>
  2 * (cacheKey.length + json.length + state.length) + 500
