// The whole path with real processes: POST /api/event -> spool -> shipper -> ClickHouse -> the statistics API.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { startCollectorProcess } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { openWorld } from '../support/world.ts'

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1'

test('acknowledged events are in the responses within seconds', async (t) => {
  const world = await openWorld(t)
  const { postgres, clickhouse } = world.stores.addresses
  const collector = await startCollectorProcess({ postgres, clickhouse })
  t.after(() => collector.stop())
  const { domain } = world
  const page = (path: string) => `https://${domain}${path}`

  // In the formats of Plausible's script and of its server libraries, and as a list.
  const script = {
    n: 'pageview',
    u: page('/?utm_source=News&utm_campaign=Spring&utm_content=blue&x=1'),
    d: domain,
    r: 'https://www.google.com/search',
    t: 'Home',
  }
  const library = { name: 'pageview', url: page('/about'), domain, referrer: page('/'), props: { plan: 'x' } }
  const list = [
    { name: 'Signup', url: page('/about'), domain, revenue: { amount: '19.90', currency: 'EUR' }, more: 1 },
    { name: 'pageview', url: 'https://elsewhere.example/', domain },
  ]
  const first = await collector.post(script, { 'X-Forwarded-For': '193.0.6.139' })
  assert.equal(first.status, 202)
  assert.deepEqual(await first.json(), { accepted: 1 })
  assert.equal((await collector.post(library, { 'X-Forwarded-For': '193.0.6.139' })).status, 202)
  const third = await collector.post(list, { 'X-Forwarded-For': '193.0.6.139' }, '?debug=1')
  const { ids, ...outcome } = (await third.json()) as { ids: string[] }
  assert.equal(ids.length, 1)
  assert.deepEqual(outcome, {
    accepted: 1,
    dropped: [{ index: 1, reason: 'hostname_not_allowed' }],
    ignored: [{ index: 0, fields: ['more'] }],
  })
  const again = { n: 'pageview', u: page('/'), d: domain, id: randomUUID() }
  for (let time = 0; time < 2; time++) {
    await collector.post(again, { 'X-Forwarded-For': '8.8.8.8', 'User-Agent': phone })
  }

  await eventually(async () => {
    const { current } = await world.data('/stats/overview')
    assert.deepEqual(
      { ...current, avg_duration: 0 },
      { visitors: 2, pageviews: 3, sessions: 2, bounce_rate: 50, avg_duration: 0 },
    )
  })
  assert.deepEqual(await world.data('/stats/pages'), [
    { pathname: '/', title: 'Home', views: 2, visitors: 2 },
    { pathname: '/about', title: '', views: 1, visitors: 1 },
  ])
  assert.deepEqual(await world.data('/stats/channels'), [
    { channel: 'Direct', visitors: 1, percentage: 50 },
    { channel: 'Organic Search', visitors: 1, percentage: 50 },
  ])
  assert.deepEqual(await world.data('/stats/referrers'), [{ referrer: 'google.com', views: 2, visitors: 1 }])
  assert.deepEqual(await world.data('/stats/utm'), [{ name: 'News', visitors: 1 }])
  assert.deepEqual(await world.data('/stats/devices'), [
    { name: 'Desktop', visitors: 1 },
    { name: 'Mobile', visitors: 1 },
  ])
  assert.deepEqual(await world.data('/stats/geo'), [
    { name: 'Netherlands', visitors: 1 },
    { name: 'United States', visitors: 1 },
  ])
  assert.deepEqual(await world.data('/stats/events'), [{ name: 'Signup', count: 1, visitors: 1 }])

  const visit = { utm_medium: '', utm_campaign: 'Spring', utm_content: 'blue', utm_term: '' }
  const client = { browser: 'Chrome', os: 'Linux', import_id: '0' }
  const plain = { props: {}, revenue: 0, currency: '' }
  assert.deepEqual(
    await world.stores.clickhouse.rows(sql`
      SELECT utm_medium, utm_campaign, utm_content, utm_term, browser, os, props, revenue, currency, toString(import_id) AS import_id
      FROM events WHERE site_id = ${text(world.siteId)} ORDER BY time, pathname`),
    [
      { ...visit, ...client, ...plain },
      { ...visit, ...client, ...plain, props: { plan: 'x' } },
      { ...visit, ...client, ...plain, revenue: 1990, currency: 'EUR' },
      {
        ...plain,
        utm_medium: '',
        utm_campaign: '',
        utm_content: '',
        utm_term: '',
        browser: 'Safari',
        os: 'iOS',
        import_id: '0',
      },
    ],
  )
})
