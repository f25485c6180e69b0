// Every function of the client against the real API: the numbers, and what the headers say.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSite } from '../../src/accounts/sites.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { reports } from '../../src/stats/reports.ts'
import { newAccountKey, noon } from '../contract/vocabulary.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { addressOf, functionNames, runners, serverOf } from './runners.ts'
import { hits } from './visits.ts'

const none = { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 }
const unknown = { visitors: null, pageviews: null, sessions: null, bounce_rate: null, avg_duration: null }

const numbers: Record<string, unknown> = {
  overview: {
    // One of three sessions has one pageview and nothing else; they last 9, 0 and 60 seconds.
    current: { visitors: 3, pageviews: 5, sessions: 3, bounce_rate: 33, avg_duration: 23 },
    previous: none,
    change: unknown,
  },
  timeseries: [
    { date: '2026-11-09', visitors: 0, pageviews: 0 },
    { date: '2026-11-10', visitors: 0, pageviews: 0 },
    { date: '2026-11-11', visitors: 0, pageviews: 0 },
    { date: '2026-11-12', visitors: 0, pageviews: 0 },
    { date: '2026-11-13', visitors: 1, pageviews: 3 },
    { date: '2026-11-14', visitors: 2, pageviews: 2 },
    { date: '2026-11-15', visitors: 0, pageviews: 0 },
  ],
  pages: [{ pathname: '/docs', title: '', views: 3, visitors: 1 }],
  referrers: [{ referrer: 'x.com', views: 2, visitors: 2 }],
  channels: [
    { channel: 'Referral', visitors: 2, percentage: 67 },
    { channel: 'Direct', visitors: 1, percentage: 33 },
  ],
  devices: [{ name: 'Desktop', visitors: 2 }],
  geo: [{ name: 'Germany', visitors: 2 }],
  events: [{ name: 'signup', count: 1, visitors: 1 }],
  utm: [{ name: 'news', visitors: 2 }],
}

for (const [where, open] of Object.entries(runners)) {
  test(`${where}: all nine reports, with what their headers say`, async (t) => {
    const limiter = memoryLimiter(() => Date.parse(noon))
    const [run, world] = [await open(t), await openWorld(t, { now: noon, zone: 'Europe/Berlin', limiter })]
    await world.record(...hits)
    let remaining = 5000
    for (const [name, data] of Object.entries(numbers)) {
      const isLimited = ['pages', 'referrers', 'devices', 'geo', 'events', 'utm'].includes(name)
      const { result, thrown } = await run({
        server: serverOf(world),
        name,
        parameters: { range: '7d', limit: 1, country: undefined, device: null },
      })
      assert.equal(thrown, undefined, JSON.stringify(thrown))
      const { requestId, ...rest } = result
      assert.match(requestId, /^[0-9a-f-]{36}$/)
      assert.deepEqual(rest, {
        data,
        meta: {
          site_id: world.siteId,
          range: '7d',
          ...(isLimited && { limit: 1 }),
          generated_at: '2026-11-15T12:00:00.000Z',
        },
        period: { start: '2026-11-09T00:00:00+01:00', end: '2026-11-15T13:00:00+01:00' },
        previousPeriod:
          name === 'overview' ? { start: '2026-11-02T00:00:00+01:00', end: '2026-11-08T13:00:00+01:00' } : undefined,
        totalRows: ['pages', 'devices', 'geo'].includes(name) ? 2 : undefined,
        rateLimit: { limit: 5000, remaining: --remaining, reset: new Date('2026-11-15T13:00:00Z') },
        warnings: isLimited ? [] : ['limit has no effect on this endpoint'],
      })
    }
  })
}

for (const [where, open] of Object.entries(runners)) {
  test(`${where}: the sites of an account, their overview page by page, and the countries without a key`, async (t) => {
    const [run, world] = [await open(t), await openWorld(t, { now: noon, zone: 'Europe/Berlin' })]
    await world.record(...hits)
    const { accountId, siteId, domain, stores } = world
    const other = {
      site_id: await createSite(stores.postgres, { accountId, domain: `z.${domain}` }),
      domain: `z.${domain}`,
    }
    const one = { site_id: siteId, domain }
    const [first, second] = one.domain < other.domain ? [one, other] : [other, one]
    const server = { ...serverOf(world), key: (await newAccountKey(world)).text }

    const { result: list } = await run({ server, name: 'sites' })
    assert.deepEqual(
      list.data,
      [first, second].map((site) => ({ ...site, time_zone: site === one ? 'Europe/Berlin' : 'UTC' })),
    )
    assert.deepEqual([list.warnings, list.rateLimit.remaining, list.period], [[], 4999, undefined])

    const found: unknown[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { result, thrown } = await run({
        server,
        name: 'sitesOverview',
        parameters: { range: '7d', limit: 1, cursor },
      })
      assert.equal(thrown, undefined, JSON.stringify(thrown))
      assert.equal(result.meta.limit, 1)
      found.push(
        ...result.data.map(({ site_id, domain, current }: Record<string, unknown>) => ({ site_id, domain, current })),
      )
      cursor = result.meta.next_cursor
    }
    const { current } = numbers.overview as { current: object }
    assert.deepEqual(
      found,
      [first, second].map((site) => ({ ...site, current: site === one ? current : none })),
    )

    const { result: names } = await run({ server: { url: server.url, key: undefined }, name: 'countries' })
    assert.deepEqual(names.data[0], { code: 'AD', name: 'Andorra' })
    assert.deepEqual([names.rateLimit, names.warnings], [undefined, []])
  })
}

test('there is a function for every report, and for the endpoints beside them', () => {
  assert.deepEqual(functionNames.sort(), [...Object.keys(reports), 'sites', 'sitesOverview', 'countries'].sort())
})

test('the address may end in a slash, in /api/v1 or in /api/v2, and may be below a path of another server', async (t) => {
  const world = await openWorld(t, { now: noon })
  const run = await runners.Node!(t)
  const base = addressOf(world.api)
  for (const url of [base, `${base}/`, `${base}/api/v1`, `${base}/api/v1/`, `${base}/api/v2`]) {
    const { result } = await run({ server: { ...serverOf(world), url }, name: 'geo' })
    assert.deepEqual(result?.data, [], url)
  }
  for (const url of [`${base}/below`, `${base}/api/v3`]) {
    assert.equal((await run({ server: { ...serverOf(world), url }, name: 'geo' })).thrown?.code, 'not_found', url)
  }
})

test('several warnings are several sentences, and text of any script arrives as it was sent', async (t) => {
  const world = await openWorld(t, { now: noon })
  const run = await runners.Node!(t)
  await world.record(pageview({ at: '2026-11-14T10:00:00Z', utmSource: 'näws & more=1' }))
  const parameters = { utm_source: 'näws & more=1', start: '2026-01-01', colour: 'red' }
  const { result } = await run({ server: serverOf(world), name: 'utm', parameters })
  assert.deepEqual(result.data, [{ name: 'näws & more=1', visitors: 1 }])
  assert.deepEqual(result.warnings, [
    'unknown parameter colour was ignored',
    'start has no effect without range=custom',
  ])
})
