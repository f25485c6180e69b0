// Turns the hits of a file into events by the rules of live traffic (decisions D-1 to D-5). The same file gives the same events every
// time: all ids follow from the import's salt, its id and the place in the files (decision D-120).
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Site } from '../accounts/sites.ts'
import { classifyChannel } from '../enrichment/channel.ts'
import { dayIn } from '../enrichment/day.ts'
import { hostnameOf } from '../enrichment/page.ts'
import { continues, type Session } from '../enrichment/session.ts'
import { type OwnHosts, readSource } from '../enrichment/source.ts'
import { visitorIdOf } from '../enrichment/visitor.ts'
import type { TrafficEvent } from '../traffic/event.ts'
import { uuidOf } from '../traffic/uuid.ts'
import type { ImportedHit } from './hit.ts'

export interface ImportIdentity {
  id: string
  salt: Buffer
  timeZone: string
}

/** Returns a function that turns a hit into an event. It expects the hits in the order of their times. */
export function eventsOf(
  { id, salt, timeZone }: ImportIdentity,
  site: Pick<Site, 'id'> & OwnHosts,
): (hit: ImportedHit) => TrafficEvent {
  let today = ''
  let dayKey: KeyObject
  let running = new Map<string, Session>()

  return (hit) => {
    const { time, url, country, device } = hit
    const day = dayIn(timeZone, time)
    if (day !== today) {
      today = day
      // Nothing links two days, neither an id nor a session.
      dayKey = createSecretKey(createHmac('sha256', salt).update(day).digest())
      running = new Map()
    }
    const sender = { ip: hit.visitor, userAgent: hit.userAgent }
    const visitorId = visitorIdOf(dayKey, { siteId: site.id, country, device }, sender, hit.namedFamilies)
    const current = running.get(visitorId)
    const session = current && continues(current, time) ? current : begin(hit, visitorId)
    session.lastAt = time
    running.set(visitorId, session)
    return {
      siteId: site.id,
      day,
      time,
      visitorId,
      sessionId: session.id,
      eventId: uuidOf(`${id} event ${hit.place}`),
      name: hit.name,
      hostname: hostnameOf(url),
      pathname: url.pathname,
      title: hit.title,
      referrer: session.referrer,
      channel: session.channel,
      utmSource: session.utmSource,
      campaign: session.campaign,
      country,
      device,
      browser: hit.browser,
      os: hit.os,
      props: hit.props,
      revenue: hit.revenue,
      importId: id,
    }
  }

  function begin({ url, referrer, time }: ImportedHit, visitorId: string): Session {
    const source = readSource(url, referrer, site)
    return {
      id: createHmac('sha256', dayKey).update(`${visitorId} ${time}`).digest().readBigUInt64BE().toString(),
      lastAt: time,
      referrer: source.referrer,
      channel: classifyChannel(source),
      utmSource: source.utmSource,
      campaign: source.campaign,
    }
  }
}
