// A small installation with something of everything that a migration must carry over: days that are only left as rollups, days and a month
// with two versions, a day that is read from the events although it was rolled up, titles, and a deleted site that is not erased yet.
import { randomUUID } from 'node:crypto'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite, deleteSite } from '../../src/accounts/sites.ts'
import type { AllStores, Stores } from '../../src/cluster/stores.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { declareRetention, dropRolledUpMonths, rollUpBeforeDropping } from '../../src/rollups/retention.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'

/** The noon that its last day is read at. */
export const now = '2026-11-15T12:00:00Z'
const timeZone = 'Europe/Berlin'

/** On each day one visitor counts: France is excluded. */
const ann: Partial<Hit> = { visitor: 'ann', country: 'DE', device: 'Desktop' }
const bob: Partial<Hit> = { visitor: 'bob', country: 'US', device: 'Mobile' }
const cem: Partial<Hit> = { visitor: 'cem', country: 'DE', device: 'Mobile' }
const eve: Partial<Hit> = { visitor: 'eve', country: 'US', device: 'Desktop' }
const fay: Partial<Hit> = { visitor: 'fay', country: 'FR', device: 'Desktop' }
const fromNews: Partial<Hit> = { referrer: 'news.example', channel: 'Referral' }
const fromLetter: Partial<Hit> = { utmSource: 'newsletter', channel: 'Email' }

const dropped: Hit[] = [
  pageview({ ...ann, ...fromNews, at: '2024-05-10T10:00:00Z', pathname: '/a', title: 'Old A' }),
  pageview({ ...ann, ...fromNews, at: '2024-05-10T10:01:00Z', pathname: '/b' }),
  pageview({ ...bob, ...fromLetter, at: '2024-05-31T10:00:00Z', pathname: '/a' }),
  pageview({ ...fay, at: '2024-05-31T10:00:00Z', pathname: '/a' }),
]

const rolledUp: Hit[] = [
  pageview({ ...cem, ...fromLetter, at: '2026-10-01T10:00:00Z', pathname: '/a', hostname: 'blog.shop.example' }),
  pageview({ ...ann, at: '2026-10-31T10:00:00Z', pathname: '/b', channel: 'Organic Search' }),
  custom('signup', { ...ann, at: '2026-10-31T10:00:30Z', pathname: '/b', channel: 'Organic Search' }),
  pageview({ ...ann, at: '2026-11-05T10:00:00Z', pathname: '/a', title: 'New A' }),
  pageview({ ...fay, at: '2026-11-05T11:00:00Z', pathname: '/a', title: 'Nouveau A' }),
]

const late: Hit[] = [pageview({ ...eve, at: '2026-10-20T10:00:00Z', pathname: '/c', title: 'C' })]
const later: Hit[] = [pageview({ ...bob, at: '2026-11-10T10:00:00Z', pathname: '/b' })]
const today: Hit[] = [pageview({ ...ann, ...fromNews, at: '2026-11-15T08:00:00Z', pathname: '/a' })]

/** Fills migrated databases and returns a key that reads the site shop.example. */
export async function fillInstallation(stores: Stores & AllStores): Promise<string> {
  const { postgres } = stores
  const accountId = await createAccount(postgres, { name: 'A shop', plan: 'Growth' })
  const siteId = await createSite(postgres, {
    accountId,
    domain: 'shop.example',
    timeZone,
    hostnames: ['shop.example', 'blog.shop.example'],
    excludedCountries: ['FR'],
  })
  const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Dashboard' })

  await record(stores, siteId, dropped)
  await declareRetention(postgres, '2024-06-01')
  await rollUpBeforeDropping(stores, {})
  await dropRolledUpMonths(stores, '0 seconds')

  await record(stores, siteId, rolledUp)
  await rollUpRound(stores, { now: Date.parse(now), siteId })
  await record(stores, siteId, late)
  await rollUpRound(stores, { now: Date.parse(now), siteId })
  await record(stores, siteId, later)
  await record(stores, siteId, today)

  const gone = await createSite(postgres, { accountId, domain: 'gone.example' })
  await record(stores, gone, [pageview({ at: '2026-11-14T10:00:00Z', title: 'Gone' })])
  await deleteSite(postgres, gone)
  return key.text
}

async function record({ postgres, clickhouse }: Stores, siteId: string, hits: readonly Hit[]): Promise<void> {
  const events = hits.map((hit) => eventOf({ hostname: 'shop.example', ...hit }, siteId, timeZone))
  await recordBatch(clickhouse, { id: randomUUID(), events })
  await invalidateDays(postgres, events)
}
