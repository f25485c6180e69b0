// Sessions of several collectors, in Redis. Each also keeps what it saw in memory: while Redis does not answer it goes on from
// there, and a Redis that comes back empty is filled again with the visitor's next hit (decision D-92).
import { type Redis, script } from '../stores/redis.ts'
import { longestGapMs, type MemorySessions, type Session, type Sessions } from './sessions.ts'

// A value is `<time of the last hit> <session as JSON>`. Times are compared here, not left to expiry, which is not exact.
const join = script(`
  local known = redis.call('GET', KEYS[1])
  if known then
    local gap = string.find(known, ' ', 1, true)
    local last = tonumber(string.sub(known, 1, gap - 1))
    if tonumber(ARGV[1]) - last <= ${longestGapMs} then
      if tonumber(ARGV[1]) > last then
        redis.call('SET', KEYS[1], ARGV[1] .. string.sub(known, gap), 'PX', ${longestGapMs + 60_000})
      end
      return string.sub(known, gap + 1)
    end
  end
  redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ${longestGapMs + 60_000})
  return ARGV[2]`)

export function shareSessions(redis: Redis, memory: MemorySessions, prefix = 'footfall:session:'): Sessions {
  return {
    async join(siteId, visitorId, time, origin) {
      const own = memory.join(siteId, visitorId, time, origin)
      const { lastAt: _, ...offered } = own
      try {
        const key = `${prefix}${siteId}:${visitorId}`
        const shared = await redis.runForText(join, [key], [`${time}`, JSON.stringify(offered)])
        const session = { ...(JSON.parse(shared) as Omit<Session, 'lastAt'>), lastAt: time }
        memory.remember(siteId, visitorId, session)
        return session
      } catch {
        return own // Redis down never refuses a hit; the breaker says once that it is
      }
    },
    close: () => memory.close(),
  }
}
