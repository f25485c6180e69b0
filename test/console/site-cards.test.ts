// The numbers on the cards of all sites. That they are right is tested in test/stats/site-summaries.test.ts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { newId } from '../../src/accounts/ids.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { openConsole, type TestConsole } from './console.ts'
import { textOf } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'

/** What each card says, from left to right and top to bottom. */
const cardsIn = (text: string): string[] =>
  Array.from(text.matchAll(/<a class="card site-card".*?<\/a>/gs), ([card]) => textOf(card).replace(/\s+/g, ' ').trim())

async function addSite({ stores, accountId }: TestConsole, domain: string, times: readonly string[]): Promise<void> {
  const siteId = await createSite(stores.postgres, { accountId, domain })
  const events = times.map((at, index) => eventOf(pageview({ at, visitor: `v${index}` }), siteId, 'UTC'))
  if (events.length > 0) await recordBatch(stores.clickhouse, { id: randomUUID(), events })
}

test('a card says how many visitors a site has, how that changed, and who is there now', async (t) => {
  const console = await openConsole(t, { now })
  const end = randomUUID()
  const today = (minutes: number) => `2026-11-15T11:${minutes}:00Z`
  await addSite(console, `a.${end}.example`, ['2026-11-01T10:00:00Z'])
  await addSite(console, `b.${end}.example`, [today(10), today(56), today(57), '2026-10-10T10:00:00Z'])
  await addSite(console, `c.${end}.example`, [])
  const visitor = await console.signedIn('viewer')
  const cards = async (query: string) => cardsIn((await visitor.get(`/?q=${end}&${query}`)).text)
  const [a, b, c] = [
    `a.${end}.example 1 visitor –nothing to compare with`,
    `b.${end}.example 2 now 3 visitors ▲up 200%`,
    `c.${end}.example Waiting for the first event`,
  ]
  assert.deepEqual(await cards(''), [a, b, c])
  assert.deepEqual(await cards('sort=visitors'), [b, a, c])
  assert.deepEqual(await cards('range=7d'), [
    `a.${end}.example 0 visitors –nothing to compare with`,
    `b.${end}.example 2 now 3 visitors –nothing to compare with`,
    c,
  ])
  assert.deepEqual(await cards('range=x&sort=x&page=x'), [a, b, c])
})

test('without the statistics the cards still lead to the sites', async (t) => {
  const clickhouse = openClickHouse('http://127.0.0.1:9/none')
  t.after(() => clickhouse.close())
  const stats = createStatsService({ cluster: clusterOf([clickhouse]), now: Date.now, cacheBytes: 0 })
  const console = await openConsole(t, { stats })
  const visitor = await console.signedIn('viewer')
  const { status, text } = await visitor.get('/')
  assert.equal(status, 200)
  assert.match(text, /The numbers cannot be read now/)
  assert.deepEqual(cardsIn(text), [console.domain])
})

test('more than 200 sites are on several pages', async (t) => {
  const console = await openConsole(t)
  const end = randomUUID()
  const { postgres } = console.stores
  await postgres`
    INSERT INTO sites ${postgres(
      Array.from({ length: 201 }, (_, index) => ({
        id: newId('site'),
        account_id: console.accountId,
        domain: `n${String(index).padStart(3, '0')}.${end}.example`,
      })),
    )}`
  const visitor = await console.signedIn('viewer')
  const domains = async (query: string) => {
    const { text } = await visitor.get(`/?q=${end}&sort=visitors${query}`)
    return { text, domains: cardsIn(text).map((card) => card.slice(0, 4)) }
  }
  const first = await domains('')
  assert.equal(first.domains.length, 200)
  assert.match(textOf(first.text), /Page 1 of 2/)
  const [, next = ''] = /href="\/\?([^"]*page=2)"/.exec(first.text) ?? []
  assert.match(next, new RegExp(`q=${end}.*sort=visitors`))
  assert.deepEqual((await domains('&page=2')).domains, ['n200'])
  assert.deepEqual((await domains('&page=99')).domains, ['n200'])
})
