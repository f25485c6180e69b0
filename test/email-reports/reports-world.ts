// A dozen sites of one account with demo traffic, the API in front of them over HTTP, and reports about them.
import { randomUUID } from 'node:crypto'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite, listSitesOf } from '../../src/accounts/sites.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { generateDemo } from '../../src/demo/generate.ts'
import { composeReport } from '../../src/email-reports/compose.ts'
import type { ReportOrder } from '../../src/email-reports/order.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { createStatsService } from '../../src/stats/service.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import type { Goal } from '../../src/traffic/goals.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { seeded } from '../support/random.ts'
import { keySecrets, type Stores } from '../support/stores.ts'
import { startApi } from '../support/world.ts'

const now = Date.UTC(2026, 10, 18, 9, 30)

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Santiago',
  'UTC',
]
const countries: CountryCode[] = ['US', 'DE', 'GB', 'FR', 'IN', 'CN', 'RU', 'BR', 'JP', 'ZZ']

/** Sites with many visitors every day, with a few visitors in some weeks, with one day of traffic, and with none. */
const events = [20_000, 6_000, 3_000, 3_000, 1_000, 1_000, 300, 300, 60, 60, 'one day', 0] as const
const goals: readonly Goal[] = [
  { name: 'Signed up', condition: { kind: 'event', event: 'signup' } },
  { name: 'Sign up', condition: { kind: 'event', event: 'Sign up' } },
  { name: 'Read something', condition: { kind: 'path', pattern: '/blog/**' } },
  { name: 'Seen anything at all', condition: { kind: 'path', pattern: '/**' } },
  { name: 'Never', condition: { kind: 'path', pattern: '/no/such/page' } },
]
/** A Wednesday. */
export const onlyDay = '2026-08-12'

export type ReportsWorld = Awaited<ReturnType<typeof openReportsWorld>>

export async function openReportsWorld(stores: Stores, seed: string) {
  const { postgres, clickhouse, cluster } = stores
  const random = seeded(`${seed}/sites`)
  const accountId = await createAccount(postgres, { name: 'Acme', plan: 'Agency' })
  for (const [index, size] of events.entries()) {
    const timeZone = random.pick(zones)
    const domain = `site-${index}.${randomUUID().slice(0, 8)}.example`
    const excludedCountries = random.oneIn(2) ? random.sample(countries, 1 + random.below(3)) : []
    const siteId = await createSite(postgres, { accountId, domain, timeZone, excludedCountries })
    if (size === 'one day') {
      const hits = Array.from({ length: 40 }, (_, hit) => {
        const about = {
          at: `${onlyDay}T${String(10 + (hit % 3)).padStart(2, '0')}:${String(hit + 10)}:00Z`,
          visitor: `visitor ${hit % 17}`,
          country: random.pick(countries),
          referrer: random.pick(['', 'news.example', 'search.example']),
        }
        return hit % 5 === 0 ? custom('Sign up', about) : pageview({ ...about, pathname: `/${hit % 7}` })
      })
      await recordBatch(clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, timeZone)) })
    } else if (size > 0) {
      await generateDemo({
        ...{ clickhouse, siteId, domain, zone: timeZone, events: size, until: now },
        seed: random.below(1_000_000),
      })
    }
    for (const goal of index % 3 === 0 ? goals : []) await createGoal(postgres, siteId, goal)
    // Of some sites a part is rolled up, and the rest is read from events.
    if (index % 4 === 0) await rollUpSite(stores, siteId, '2026-09-15')
  }
  const sites = await listSitesOf(postgres, [accountId])
  const key = await createKey(postgres, keySecrets, { accountId, name: 'Reports' })
  // Other tests are about the rate limit: here every request begins an hour of its own.
  let clock = now
  const limiter = memoryLimiter(() => (clock += 3_600_000))
  const api = await startApi(stores, { now: () => now, limiter, responseCacheBytes: 64 * 1024 * 1024 })
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  return {
    sites,
    async api(path: string, fields: Record<string, string>, version = 'v1') {
      const answer = await api.fetch(`/api/${version}/${path}?${new URLSearchParams(fields)}`, {
        headers: { Authorization: `Bearer ${key.text}` },
      })
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.text}`)
      return answer
    },
    compose: (order: Pick<ReportOrder, 'interval' | 'firstDay' | 'about'>) =>
      composeReport(stats, { ...usual, ...order }, AbortSignal.timeout(60_000)),
    close: () => api.close(),
  }
}

/** What no number depends on. */
const usual = {
  hour: 8,
  zone: 'Europe/Berlin',
  publicUrl: 'https://stats.example',
  changeUrl: 'https://stats.example/account/reports',
  unsubscribeUrl: 'https://stats.example/unsubscribe/token',
  dueAt: now,
  now,
}
