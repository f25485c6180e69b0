// Hits of a file become events by the rules that visits of today go by (decisions D-1 to D-5), and the same file becomes the same
// events every time: all ids follow from the import's salt, its id and the place in the file (decision D-120).
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { Site } from '../../accounts/sites.ts'
import type { Channel } from '../../traffic/channel.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import { dayIn } from '../calendar.ts'
import { classifyChannel } from '../channel.ts'
import { longestGapMs } from '../sessions.ts'
import { type OwnHosts, readSource } from '../source.ts'
import { visitorIdOf } from '../visitor.ts'
import type { ImportedHit } from './hit.ts'

export interface ImportIdentity {
  id: string
  salt: Buffer
  timeZone: string
}

interface ImportedSession {
  sessionId: string
  lastAt: number
  referrer: string
  channel: Channel
  utmSource: string
}

/** Takes hits in the order of their times. */
export function eventsOf(
  { id, salt, timeZone }: ImportIdentity,
  site: Pick<Site, 'id'> & OwnHosts,
): (hit: ImportedHit) => TrafficEvent {
  let today = ''
  let dayKey: KeyObject
  let running = new Map<string, ImportedSession>()

  return (hit) => {
    const { time, url, country, device } = hit
    const day = dayIn(timeZone, time)
    if (day !== today) {
      today = day
      // Nothing links two days: not in the ids, and not in a session.
      dayKey = createSecretKey(createHmac('sha256', salt).update(day).digest())
      running = new Map()
    }
    const sender = { ip: hit.visitor, userAgent: hit.userAgent }
    const visitorId = visitorIdOf(dayKey, { siteId: site.id, country, device }, sender)
    const known = running.get(visitorId)
    const session = known && time - known.lastAt <= longestGapMs ? known : begin(hit, visitorId)
    session.lastAt = time
    running.set(visitorId, session)
    return {
      siteId: site.id,
      day,
      time,
      visitorId,
      sessionId: session.sessionId,
      eventId: uuidOf(`${id} event ${hit.line}`),
      name: hit.name,
      hostname: url.hostname.replace(/\.$/, ''),
      pathname: url.pathname,
      title: hit.title,
      referrer: session.referrer,
      channel: session.channel,
      utmSource: session.utmSource,
      country,
      device,
    }
  }

  function begin({ url, referrer, time }: ImportedHit, visitorId: string): ImportedSession {
    const source = readSource(url, referrer, site)
    return {
      sessionId: createHmac('sha256', dayKey).update(`${visitorId} ${time}`).digest().readBigUInt64BE().toString(),
      lastAt: time,
      referrer: source.referrer,
      channel: classifyChannel(source),
      utmSource: source.utmSource,
    }
  }
}

/** Version 8: an id that follows from something. */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}
