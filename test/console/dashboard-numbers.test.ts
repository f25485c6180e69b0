// The numbers at the top of a dashboard: each is a link that lets the chart show it, and conversions stand beside visitors.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { goalOf } from '../../src/accounts/goal-rules.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { createStatsService, type StatsService } from '../../src/stats/service.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addSharedLink } from '../../src/users/shared-links.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import { type ConsoleOptions, openConsole, type Page } from './console.ts'
import { decode, readDashboard, textOf } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'

/** Three visitors on two days. One reads a page for 100 seconds and signs up; two look at the prices. */
async function openNumbers(t: TestContext, options: ConsoleOptions = {}) {
  const console = await openConsole(t, { now, ...options })
  const { stores, siteId, domain } = console
  const hits = [
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'a', pathname: '/pricing' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'b', pathname: '/' }),
    custom('Signup', { at: '2026-11-14T10:01:40Z', visitor: 'b', pathname: '/' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'c', pathname: '/pricing' }),
  ]
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  const member = await console.signedIn('viewer')
  return {
    console,
    dashboard: `/sites/${domain}`,
    get: (query: string) => member.get(`/sites/${domain}${query}`),
    addGoals: async () => {
      await createGoal(stores.postgres, siteId, goalOf('Prices', { pattern: '/pricing' }))
      await createGoal(stores.postgres, siteId, goalOf('Signup', { event: 'Signup' }))
      console.api.directory.forget(siteId)
    },
    async share(...filters: string[]): Promise<Page> {
      const nonce = randomBytes(16).toString('base64url')
      const link = { name: 'A link', expiresAt: null, passwordHash: null, isEmbeddable: true, filters, nonce }
      const site = (await findSite(stores.postgres, siteId)) as Site
      const token = await addSharedLink(stores.postgres, keySecrets, { actor: 'maria@example.com' }, site, link)
      return console.stranger().get(`/share/${token}?range=7d`)
    },
  }
}

/** What the chart shows of the 13th and the 14th. */
const chartIn = ({ text }: Page): (string | undefined)[] =>
  readDashboard(text)
    .chart.filter(([name]) => /^(Fri 13|Sat 14) /.test(name as string))
    .map(([, value]) => value)

const chosenIn = ({ text }: Page): string[] =>
  [...text.matchAll(/id="metric-(\w+)"[^>]* aria-current="true"/g)].map(([, name]) => name as string)

const addressOf = ({ text }: Page, name: string): string =>
  decode(new RegExp(`id="metric-${name}" href="([^"]*)"`).exec(text)?.[1] ?? '')

test('the chart shows each of the five numbers, which the address names', async (t) => {
  const { console, dashboard, get } = await openNumbers(t)
  const member = await console.signedIn('viewer')
  const start = await get('?range=7d')
  assert.deepEqual(chosenIn(start), ['visitors'])
  for (const [name, address, values] of [
    ['visitors', '?range=7d', ['1', '2']],
    ['pageviews', '?range=7d&metric=pageviews', ['1', '2']],
    ['sessions', '?range=7d&metric=sessions', ['1', '2']],
    // Of two sessions one has an event.
    ['bounce_rate', '?range=7d&metric=bounce_rate', ['100%', '50%']],
    ['avg_duration', '?range=7d&metric=avg_duration', ['0s', '50s']],
  ] as const) {
    assert.equal(addressOf(start, name), dashboard + address)
    const page = await member.get(addressOf(start, name))
    assert.deepEqual([chosenIn(page), chartIn(page)], [[name], values])
  }
  // Rates and durations have an axis of their own.
  assert.match((await get('?range=7d&metric=bounce_rate')).text, /<text[^>]*>100%<\/text>/)
  assert.match((await get('?range=7d&metric=avg_duration')).text, /<text[^>]*>50s<\/text>/)
})

test('conversions of a goal stand beside visitors, and are charted', async (t) => {
  const { dashboard, get, addGoals } = await openNumbers(t)
  const without = await get('?range=7d&metric=conversions')
  assert.deepEqual([chosenIn(without), readDashboard(without.text).metrics.size], [['visitors'], 5])
  await addGoals()
  const page = await get('?range=7d')
  assert.deepEqual(
    [...readDashboard(page.text).metrics].map(([name, { text }]) => [name, text]),
    [
      ['visitors', '3'],
      ['conversions', '2'],
      ['pageviews', '3'],
      ['sessions', '3'],
      ['bounce_rate', '67%'],
      ['avg_duration', '33s'],
    ],
  )
  const menu = /<details class="menu goals">.*?<\/details>/s.exec(page.text)?.[0] ?? ''
  const items = [...menu.matchAll(/<a class="item" href="([^"]*)"([^>]*)>(.*?)<\/a>/g)]
  assert.deepEqual(
    items.map(([, href = '', rest = '', name = '']) => [decode(href), rest.includes('aria-current'), textOf(name)]),
    [
      [`${dashboard}?range=7d&metric=conversions&goal=Prices`, true, 'Prices'],
      [`${dashboard}?range=7d&metric=conversions&goal=Signup`, false, 'Signup'],
    ],
  )
  const signups = await get('?range=7d&metric=conversions&goal=Signup')
  assert.deepEqual([chosenIn(signups), chartIn(signups)], [['conversions'], ['0', '1']])
  // Of the two visitors of the day.
  assert.match(signups.text, /data-share="50\.0% of visitors"/)
  // The goal stays when the chart shows another number, and one that the site has not is the first.
  assert.equal(addressOf(signups, 'sessions'), `${dashboard}?range=7d&metric=sessions&goal=Signup`)
  assert.deepEqual(chartIn(await get('?range=7d&metric=conversions&goal=Gone')), ['1', '1'])
  assert.match((await get('?range=7d&goal=Gone')).text, /Conversions<span class="unseen"> of Prices/)
})

test('a link to some pages does not tell who reached a goal elsewhere', async (t) => {
  const { addGoals, share } = await openNumbers(t)
  await addGoals()
  const all = readDashboard((await share()).text).metrics
  assert.equal(all.get('conversions')?.text, '2')
  for (const filter of ['page:is:/', 'hostname:is:example.com'])
    assert.equal(readDashboard((await share(filter)).text).metrics.has('conversions'), false, filter)
})

test('visitors are shown while conversions are still counted', async (t) => {
  const counted = Promise.withResolvers<void>()
  const { clickhouse } = await openStores()
  const all = createStatsService({ cluster: clusterOf([clickhouse]), now: () => Date.parse(now), cacheBytes: 0 })
  const stats: StatsService = {
    ...all,
    async ask(request, signal) {
      if (request.question.metrics.some(({ name }) => name === 'conversions')) await counted.promise
      return all.ask(request, signal)
    },
  }
  const { console, dashboard, addGoals } = await openNumbers(t, { stats })
  await addGoals()
  const { cookies } = await console.signedIn('viewer')
  const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${console.url}${dashboard}?range=7d&actions=event`, { headers: { Cookie: cookie } })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('metric-visitors')) counted.resolve()
  }
  assert.deepEqual([...readDashboard(text).metrics.keys()].slice(0, 2), ['visitors', 'conversions'])
})
