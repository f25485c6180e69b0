// Which session a hit belongs to (decisions D-4 and D-5). Midnight needs no rule here: a new day is a new visitor id.
import { randomBytes } from 'node:crypto'
import type { Channel } from '../traffic/channel.ts'

/** A gap of exactly this long does not end a session. */
export const longestGapMs = 1_800_000

/** What the first hit of a session says for all of it. */
export interface Origin {
  referrer: string
  channel: Channel
  utmSource: string
}

export interface Session extends Origin {
  /** 64 bits in decimal. */
  id: string
  lastAt: number
}

export interface Sessions {
  /** The session of a visitor's hit: the running one, or a new one, of which alone `origin` is asked. */
  join(siteId: string, visitorId: string, time: number, origin: () => Origin): Session | Promise<Session>
  close(): void
}

/** Some 250 bytes each. Beyond it the longest silent sessions are let go of, and split if they go on (decision D-92). */
const mostSessions = 500_000
const sweepMs = 60_000

export interface MemorySessions extends Sessions {
  join(siteId: string, visitorId: string, time: number, origin: () => Origin): Session
  /** Takes a session as known from elsewhere, unless a later state of it is known already. */
  remember(siteId: string, visitorId: string, session: Session): void
  size(): number
}

export function openMemorySessions(most = mostSessions): MemorySessions {
  // In the order of their last hit: the first is the longest silent one.
  const running = new Map<string, Session>()

  function put(key: string, session: Session): void {
    running.delete(key)
    running.set(key, session)
    if (running.size > most) running.delete(running.keys().next().value as string)
  }

  function sweep(): void {
    const now = Date.now()
    for (const [key, { lastAt }] of running) {
      if (now - lastAt <= longestGapMs) break
      running.delete(key)
    }
  }

  const timer = setInterval(sweep, sweepMs).unref()
  return {
    join(siteId, visitorId, time, origin) {
      const key = siteId + visitorId
      const known = running.get(key)
      const session = known && time - known.lastAt <= longestGapMs ? known : beginSession(time, origin())
      if (time > session.lastAt) session.lastAt = time
      put(key, session)
      return session
    },
    remember(siteId, visitorId, session) {
      const known = running.get(siteId + visitorId)
      if (!known || known.lastAt <= session.lastAt) put(siteId + visitorId, session)
    },
    size: () => running.size,
    close: () => clearInterval(timer),
  }
}

function beginSession(time: number, { referrer, channel, utmSource }: Origin): Session {
  return { id: randomBytes(8).readBigUInt64BE().toString(), lastAt: time, referrer, channel, utmSource }
}
