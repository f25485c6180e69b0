// Sessions that several collectors share through Redis. Each collector also keeps its sessions in memory: it uses those while Redis
// is down, and the visitor's next hit writes the session back into a Redis that comes back empty (decision D-92).
import { minuteMs } from '../../durations.ts'
import { type Session, type Sessions, sessionGapMs } from '../../enrichment/session.ts'
import { type Redis, script } from '../../stores/redis.ts'
import type { MemorySessions } from './memory-sessions.ts'

// A value is `<time of the last hit> <session as JSON>`. The script compares the times, because Redis expiry is not exact.
const join = script(`
  local known = redis.call('GET', KEYS[1])
  if known then
    local gap = string.find(known, ' ', 1, true)
    local last = tonumber(string.sub(known, 1, gap - 1))
    if tonumber(ARGV[1]) - last <= ${sessionGapMs} then
      if tonumber(ARGV[1]) > last then
        redis.call('SET', KEYS[1], ARGV[1] .. string.sub(known, gap), 'PX', ${sessionGapMs + minuteMs})
      end
      return string.sub(known, gap + 1)
    end
  end
  redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ${sessionGapMs + minuteMs})
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
        return own // a hit is accepted without Redis; the circuit breaker logs the outage once
      }
    },
    close: () => memory.close(),
  }
}
