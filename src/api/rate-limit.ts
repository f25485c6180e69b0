// Counts requests per hour and key, in a fixed window that starts with the key's first request (docs/contract.md 8.1,
// decisions D-43 to D-47). A request over the limit is refused before it is counted, so a 429 changes nothing.
import { type RequestWindow, type RequestWindows, redisWindows } from '../accounts/request-windows.ts'
import { hourMs } from '../durations.ts'
import { type Redis, script } from '../stores/redis.ts'

const windowMs = hourMs

export interface Spending {
  allowed: boolean
  limit: number
  remaining: number
  /** Unix seconds; the same number during the whole window. */
  reset: number
  /** Until the window ends, in whole seconds, rounded up. */
  secondsLeft: number
}

export interface Limiter extends RequestWindows {
  spend(keyId: string, limit: number): Promise<Spending>
}

/** Counts in this process, which is enough for a single API process. */
export function memoryLimiter(now: () => number): Limiter {
  const windows = new Map<string, RequestWindow>()
  return {
    spend: async (keyId, limit) => spendLocally(windows, keyId, limit, now()),
    peek: async (keyId) => running(windows.get(keyId), now()),
  }
}

const running = (window: RequestWindow | undefined, now: number): RequestWindow | undefined =>
  window && now < window.endsAt ? { ...window } : undefined

function spendLocally(windows: Map<string, RequestWindow>, keyId: string, limit: number, now: number): Spending {
  let window = windows.get(keyId)
  if (!window || now >= window.endsAt) {
    window = { count: 0, endsAt: now + windowMs }
    open(windows, keyId, window, now)
  }
  const allowed = window.count < limit
  if (allowed) window.count++
  return spending(allowed, limit, window, now)
}

/** The map holds windows in the order in which they end. Each new window removes the ended ones, so the map holds only keys in use. */
function open(windows: Map<string, RequestWindow>, keyId: string, window: RequestWindow, now: number): void {
  windows.delete(keyId)
  windows.set(keyId, window)
  for (const [id, { endsAt }] of windows) {
    if (endsAt > now) return
    windows.delete(id)
  }
}

const spending = (allowed: boolean, limit: number, { count, endsAt }: RequestWindow, now: number): Spending => ({
  allowed,
  limit,
  remaining: Math.max(0, limit - count),
  reset: Math.ceil(endsAt / 1000),
  secondsLeft: Math.ceil((endsAt - now) / 1000),
})

// One round trip, exact for any number of processes. Redis sets the window's end by its own clock and returns it, so all processes
// send the same reset whatever their clocks say. The caller sends what it last saw of the window: a Redis that lost the window
// (restarted empty, failed over) continues from there instead of from zero. The script compares the end itself and does not rely on
// the key's expiry, which comes a millisecond late and would never come for a key that somebody made permanent. A refused request
// writes nothing.
const spendScript = script(`
  local limit, seen, seen_end = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local held, held_end = tonumber(redis.call('GET', KEYS[1])), redis.call('PEXPIRETIME', KEYS[1])
  local count, window_end = held, held_end
  if held_end <= now then count, window_end = 0, now + ${windowMs} end
  if seen_end > now then count, window_end = math.max(count, seen), math.min(window_end, seen_end) end
  local allowed = count < limit
  if allowed then count = count + 1 end
  if count ~= held or window_end ~= held_end then redis.call('SET', KEYS[1], count, 'PXAT', window_end) end
  return { allowed and 1 or 0, count, window_end, now }
`)

export interface RedisLimiterOptions {
  redis: Pick<Redis, 'run'>
  /** Separates installations (and tests) that share a Redis. */
  prefix: string
  now: () => number
  onDegraded: (error: Error) => void
}

/** Counts in Redis for all processes. While Redis is down, continues from the last window that this process saw (decision D-70). */
export function redisLimiter({ redis, prefix, now, onDegraded }: RedisLimiterOptions): Limiter {
  const mirror = new Map<string, RequestWindow>()
  const windows = redisWindows(redis, prefix)
  return {
    peek: (keyId) => windows.peek(keyId).catch(() => running(mirror.get(keyId), now())),
    async spend(keyId, limit) {
      const seen = mirror.get(keyId) ?? { count: 0, endsAt: 0 }
      try {
        const values = [limit, seen.count, seen.endsAt].map(String)
        const answer = await redis.run(spendScript, [`${prefix}${keyId}`], values)
        const [allowed, count, endsAt, redisNow] = answer as [number, number, number, number]
        // While this call ran, another one may have seen a higher count or a later window.
        const current = mirror.get(keyId)
        if (current?.endsAt === endsAt) current.count = Math.max(current.count, count)
        else if (!current || current.endsAt <= now()) open(mirror, keyId, { count, endsAt }, now())
        else mirror.set(keyId, { count, endsAt })
        return spending(allowed === 1, limit, { count, endsAt }, redisNow)
      } catch (error) {
        onDegraded(error as Error)
        return spendLocally(mirror, keyId, limit, now())
      }
    },
  }
}
