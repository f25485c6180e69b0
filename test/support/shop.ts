// A site with a few hits on fixed days, whose numbers are worked out by hand.
import { randomUUID } from 'node:crypto'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, type Hit, pageview } from './events.ts'
import type { Installation } from './installation.ts'
import { connect, disconnect } from './stores.ts'

const berlin = 'Europe/Berlin'

/** The options for these days, and for the three days before as the previous period. */
export const shopDays = ['--start', '2026-03-01', '--end', '2026-03-03'] as const

const hits: Hit[] = [
  // 1 March: a came from a search and stayed two minutes, b looked at one page of the blog.
  pageview({ at: '2026-03-01T10:00:00Z', visitor: 'a', referrer: 'google.com', title: 'Shop' }),
  pageview({ at: '2026-03-01T10:02:00Z', visitor: 'a', referrer: 'google.com', pathname: '/pricing' }),
  pageview({
    at: '2026-03-01T11:00:00Z',
    visitor: 'b',
    referrer: 'news.example',
    country: 'FR',
    device: 'Mobile',
    hostname: 'blog.shop.example',
  }),
  // 2 March: a looked at one page, c signed up after half a minute.
  pageview({ at: '2026-03-02T12:00:00Z', visitor: 'a' }),
  pageview({ at: '2026-03-02T09:00:00Z', visitor: 'c', pathname: '/pricing', device: 'Mobile', utmSource: 'letter' }),
  custom('Sign up', {
    at: '2026-03-02T09:00:30Z',
    visitor: 'c',
    pathname: '/pricing',
    device: 'Mobile',
    utmSource: 'letter',
  }),
  // 27 February: d looked at one page.
  pageview({ at: '2026-02-27T08:00:00Z', visitor: 'd' }),
]

export async function createShop(installation: Installation): Promise<{ id: string }> {
  const site = await installation.json('site', 'create', 'shop.example', '--timezone', berlin)
  await recordHits(installation, site.id, hits)
  return site
}

export async function recordHits({ addresses }: Installation, siteId: string, some: readonly Hit[]): Promise<void> {
  const stores = connect(addresses)
  const events = some.map((hit) => eventOf(hit, siteId, berlin))
  await recordBatch(stores.clickhouse, { id: randomUUID(), events })
  await disconnect(stores)
}
