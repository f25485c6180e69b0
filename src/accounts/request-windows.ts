// The current rate-limit window of a key: its number of requests and its end. The API counts (api/rate-limit.ts); the console shows it.
import { type Redis, script } from '../stores/redis.ts'

export interface RequestWindow {
  count: number
  /** UTC milliseconds. */
  endsAt: number
}

export interface RequestWindows {
  /** Reads without counting. Undefined if no window is running. */
  peek(keyId: string): Promise<RequestWindow | undefined>
}

/** In Redis, the name of a window is this prefix and the id of the API key. */
export const windowPrefix = 'footfall:limit:'

// Like the counting script, it compares the end with the clock of Redis and does not rely on the expiry of the key.
const peekScript = script(`#!lua flags=no-writes
  local time = redis.call('TIME')
  local window_end = redis.call('PEXPIRETIME', KEYS[1])
  if window_end <= time[1] * 1000 + math.floor(time[2] / 1000) then return { 0, 0 } end
  return { tonumber(redis.call('GET', KEYS[1])), window_end }
`)

/** The windows that all API processes share. */
export const redisWindows = (redis: Pick<Redis, 'run'>, prefix = windowPrefix): RequestWindows => ({
  async peek(keyId) {
    const [count, endsAt] = (await redis.run(peekScript, [`${prefix}${keyId}`], [])) as [number, number]
    return count > 0 ? { count, endsAt } : undefined
  },
})
