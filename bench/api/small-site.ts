// A small site for the latencies: a few thousand events over thirteen months, the same in every run.
import { randomUUID } from 'node:crypto'
import { channels } from '../../src/traffic/channel.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import { devices } from '../../src/traffic/device.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf } from '../../test/support/events.ts'
import type { Stores } from '../../test/support/stores.ts'

const countries: CountryCode[] = ['DE', 'FR', 'US', 'JP', 'BR', 'IN', 'GB', 'ZZ']
const days = 395
const visitsADay = 5

/** Returns the number of recorded events. */
export async function recordSmallSite({ clickhouse }: Stores, siteId: string, now: Temporal.Instant): Promise<number> {
  const events: TrafficEvent[] = []
  for (let visit = 0; visit < days * visitsADay; visit++) {
    const begin = now.subtract({ hours: 24 * Math.floor(visit / visitsADay), minutes: 7 * (1 + (visit % visitsADay)) })
    const session = {
      visitor: `visitor ${visit % 700}`,
      session: `session ${visit}`,
      country: countries[visit % countries.length] as CountryCode,
      device: devices[visit % devices.length] as (typeof devices)[number],
      channel: channels[visit % channels.length] as (typeof channels)[number],
      referrer: visit % 3 === 0 ? '' : `referrer-${visit % 40}.example`,
      utmSource: visit % 4 === 0 ? `source-${visit % 12}` : '',
    }
    const page = (number: number) => ({ pathname: `/page/${number}`, title: `Page ${number}` })
    const hits = [page(visit % 60), page(visit % 7), ...(visit % 5 === 0 ? [{ name: `event-${visit % 15}` }] : [])]
    events.push(
      ...hits.map((hit, index) =>
        eventOf({ ...session, ...hit, at: begin.add({ seconds: 20 * index }).toString() }, siteId, 'UTC'),
      ),
    )
  }
  await recordBatch(clickhouse, { id: randomUUID(), events })
  return events.length
}
