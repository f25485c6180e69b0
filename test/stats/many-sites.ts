// An account with sites in every state of rollups, in two zones, with and without excluded countries, and traffic near every edge.
import { randomUUID } from 'node:crypto'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, listSitesOf, type Site } from '../../src/accounts/sites.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf } from '../support/events.ts'
import { seeded } from '../support/random.ts'
import { openStores } from '../support/stores.ts'

export const now = Date.parse('2026-03-15T12:00:07.123Z')
const dayMs = 86_400_000
const zones = ['Pacific/Kiritimati', 'America/New_York']
const exclusions: CountryCode[][] = [[], ['DE'], ['FR', 'US'], ['DE', 'FR', 'US', 'JP']]
/** What has been rolled up: nothing, all closed days, days up to the middle, all with late events afterwards, and today too. */
const states = ['nothing', 'closed', 'half', 'late', 'today'] as const

/** A visitor has one country and one device on a day. */
const visitors = {
  a: { country: 'DE', device: 'Desktop' },
  b: { country: 'FR', device: 'Mobile' },
  c: { country: 'US', device: 'Desktop' },
  d: { country: 'GB', device: 'Mobile' },
  e: { country: 'DE', device: 'Mobile' },
} as const
/** A session has one source. */
const sources = { morning: '', noon: 'news', night: 'mail' } as const
const hostnames = ['example.com', 'shop.example.com']

export interface ManySites {
  clickhouse: Awaited<ReturnType<typeof openStores>>['clickhouse']
  /** A site without traffic. */
  quiet: string
  sites: Site[]
}

/** In each state a site in every zone, or in the zones in turn. */
export async function openManySites(seed: string, eventsEach: number, inEveryZone: boolean): Promise<ManySites> {
  const random = seeded(seed)
  const stores = await openStores()
  const { postgres, clickhouse } = stores
  const accountId = await createAccount(postgres, { name: 'Many sites', plan: 'Agency' })

  /** Near midnight in this zone, near the time of day at which periods end, in the last minutes of it, or at any time. */
  function timeIn(zone: string, firstDaysAgo: number): number {
    const time = now - (firstDaysAgo + random.below(64 - firstDaysAgo)) * dayMs
    const midnight = Temporal.Instant.fromEpochMilliseconds(time)
      .toZonedDateTimeISO(zone)
      .startOfDay().epochMilliseconds
    return random.pick([
      midnight + random.below(5) - 2,
      time + random.below(12_000) - 6_000,
      time - random.below(400_000),
      midnight + random.below(dayMs),
    ])
  }

  function eventIn(siteId: string, zone: string, firstDaysAgo: number) {
    const visitor = random.pick(Object.keys(visitors) as (keyof typeof visitors)[])
    const session = random.pick(Object.keys(sources) as (keyof typeof sources)[])
    return eventOf(
      {
        at: new Date(timeIn(zone, firstDaysAgo)).toISOString(),
        name: random.oneIn(4) ? 'signup' : 'pageview',
        visitor,
        session,
        utmSource: sources[session],
        hostname: random.pick(hostnames),
        ...visitors[visitor],
      },
      siteId,
      zone,
    )
  }

  let index = 0
  for (const [nth, state] of states.entries()) {
    for (const zone of inEveryZone ? zones : [zones[nth % zones.length] as string]) {
      const excludedCountries = exclusions[index++ % exclusions.length] as CountryCode[]
      const domain = `${randomUUID()}.example`
      const siteId = await createSite(postgres, { accountId, domain, timeZone: zone, excludedCountries })
      const record = async (count: number, firstDaysAgo: number) => {
        const events = Array.from({ length: count }, () => eventIn(siteId, zone, firstDaysAgo))
        await recordBatch(clickhouse, { id: randomUUID(), events })
        await invalidateDays(postgres, events)
      }
      await record(eventsEach, 0)
      const last = dayIn(zone, now - (state === 'half' ? 20 : 1) * dayMs)
      if (state !== 'nothing') await rollUpSite(stores, siteId, last)
      if (state === 'late') await record(20, 5)
      if (state === 'today') await rollUpToday(stores, siteId, zone, now - 2_000)
    }
  }
  const quiet = await createSite(postgres, { accountId, domain: `${randomUUID()}.example`, timeZone: 'UTC' })
  return { clickhouse, quiet, sites: await listSitesOf(postgres, [accountId]) }
}

const dayIn = (zone: string, time: number): string =>
  Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone).toPlainDate().toString()
