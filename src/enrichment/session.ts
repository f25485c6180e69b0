// The definition of a session (decisions D-4 and D-5). Midnight needs no rule here: a visitor has a new id on each day.
import { minuteMs } from '../durations.ts'
import type { Channel } from '../traffic/channel.ts'
import type { Campaign } from '../traffic/event.ts'

/** A gap of exactly this length does not end a session. */
export const sessionGapMs = 30 * minuteMs

/** Where a session came from. Its first hit decides for the whole session. */
export interface Origin {
  referrer: string
  channel: Channel
  utmSource: string
  campaign?: Campaign | undefined
}

export interface Session extends Origin {
  /** 64 bits in decimal. */
  id: string
  lastAt: number
}

/** Whether a hit at `time` still belongs to the session. */
export const continues = ({ lastAt }: Pick<Session, 'lastAt'>, time: number): boolean => time - lastAt <= sessionGapMs

export interface Sessions {
  /** Returns the session of a visitor's hit: the running one, or a new one. Only a new session calls `origin`. */
  join(siteId: string, visitorId: string, time: number, origin: () => Origin): Session | Promise<Session>
  close(): void
}
