// Sites that cannot be confused: every word of site number k has its mark, every count is a multiple of k + 1 visitors, and every session
// lasts k + 1 seconds. The traffic is so regular that the right response to any query can be computed.
import { randomUUID } from 'node:crypto'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createGoal } from '../../../src/accounts/goals.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { channels } from '../../../src/traffic/channel.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { uuidOf } from '../../../src/traffic/uuid.ts'
import { eventOf, type Hit } from '../../support/events.ts'
import { keySecrets, type Stores } from '../../support/stores.ts'

export const countries = ['DE', 'FR', 'JP'] as const satisfies CountryCode[]
export const devices = ['Desktop', 'Mobile'] as const

export interface WatermarkedSite {
  number: number
  id: string
  accountId: string
  mark: string
  /** Visitors per day for each pair of country and device. */
  visitors: number
  siteKeys: string[]
  /** Keys of its account, which has other sites too, so requests name the site_id. */
  accountKeys: string[]
}

/** Two days of traffic: one in every range except 24h, the other in 90d, 12m and the period before 30d. */
export interface TrafficDays {
  recent: Temporal.PlainDate
  older: Temporal.PlainDate
}

export const markPattern = /wm\d{5}x/g

/** Sites per account. Sites of other accounts are foreign. */
const sitesPerAccount = 5

export async function makeSites(
  { postgres, clickhouse }: Stores,
  count: number,
  days: TrafficDays,
  keysEach: number,
): Promise<WatermarkedSite[]> {
  const sites: WatermarkedSite[] = []
  let account: { id: string; keys: string[] } | undefined
  for (let number = 0; number < count; number++) {
    if (!account || number % sitesPerAccount === 0) {
      const id = await createAccount(postgres, { name: `Tenant ${number}`, plan: 'Agency' })
      const make = () => createKey(postgres, keySecrets, { accountId: id, name: 'Account' })
      account = { id, keys: await many(keysEach * sitesPerAccount, async () => (await make()).text) }
    }
    const accountId = account.id
    const mark = `wm${String(number).padStart(5, '0')}x`
    const id = await createSite(postgres, { accountId, domain: `${mark}.example` })
    await createGoal(postgres, id, { name: goalOf(mark), condition: { kind: 'event', event: `buy-${mark}` } })
    const make = () => createKey(postgres, keySecrets, { accountId, siteId: id, name: 'Site' })
    const siteKeys = await many(keysEach, async () => (await make()).text)
    // Keeps a thousand sites affordable: among a hundred, no two have the same number of visitors.
    sites.push({ number, id, accountId, mark, visitors: 1 + (number % 100), siteKeys, accountKeys: account.keys })
  }
  for (let from = 0; from < sites.length; from += 10) {
    const events = sites.slice(from, from + 10).flatMap((site) => eventsOf(site, days))
    await recordBatch(clickhouse, { id: randomUUID(), events })
  }
  return sites
}

function eventsOf(site: WatermarkedSite, { recent, older }: TrafficDays): TrafficEvent[] {
  const events: TrafficEvent[] = []
  for (const day of [recent, older]) {
    for (const country of countries) {
      for (const device of devices) {
        for (let one = 0; one < site.visitors; one++) events.push(...visitOf(site, day, country, device, one))
      }
    }
  }
  return events
}

function visitOf(
  { id, mark, number }: WatermarkedSite,
  day: Temporal.PlainDate,
  country: CountryCode,
  device: (typeof devices)[number],
  one: number,
): TrafficEvent[] {
  const start = day.toZonedDateTime('UTC').add({ hours: 12 }).toInstant()
  const common = {
    visitor: `${mark} ${country} ${device} ${one}`,
    country,
    device,
    hostname: `${mark}.example`,
    referrer: `ref-${mark}.example`,
    channel: channelOf(number),
    utmSource: device === 'Desktop' ? `utm-${mark}` : '',
  }
  const hits: Hit[] = [
    { ...common, at: start.toString(), pathname: `/${mark}/a`, title: `Title ${mark} a` },
    { ...common, at: start.toString(), pathname: `/${mark}/b`, title: `Title ${mark} b` },
    { ...common, at: start.add({ seconds: number + 1 }).toString(), name: `buy-${mark}` },
  ]
  const events = hits.map((hit) => eventOf(hit, id, 'UTC'))
  const isFirst = one === 0 && country === countries[0] && device === devices[0]
  return isFirst ? events.map((event, index) => ({ ...event, eventId: eventIdOf(mark, `${day} ${index}`) })) : events
}

export const channelOf = (number: number) => channels[number % channels.length] as (typeof channels)[number]

/** Of the first visitor of a day: two pageviews, 0 and 1, and an event, 2. */
export const eventIdOf = (mark: string, hit: string): string => uuidOf(`${mark} ${hit}`)

/** The only goal of the site. */
export const goalOf = (mark: string): string => `Goal ${mark}`

const many = <Value>(count: number, make: () => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, make))
