// Wrong addresses, slow and failing panels, and what the page says when there is nothing to show.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { inTime } from '../support/in-time.ts'
import { openConsole } from './console.ts'
import { readDashboard, textOf } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'

test('wrong parameters show the page with what is wrong, and 400', async (t) => {
  const console = await openConsole(t, { now })
  const visitor = await console.signedIn('viewer')
  const wrong: [query: string, message: RegExp][] = [
    ['country=XX', /country must be a two-letter code/],
    ['device=watch', /device must be desktop, mobile or tablet/],
    ['hostname=https://a.example/', /hostname must be a host name alone/],
    ['range=1y', /range must be one of/],
    ['range=custom', /A custom range needs both start and end/],
    ['range=custom&start=2026-02-30&end=2026-03-01', /start must be one existing date/],
    ['range=custom&start=1900-01-01&end=2026-03-01', /at most 100 years/],
    ['limit=0', /limit must be a whole number/],
    ['utm_source=%FF', /not UTF-8/],
    ['os=Linux', /Filters on browser, os and channel are not supported/],
  ]
  for (const [query, message] of wrong) {
    for (const path of ['', '/csv/pages']) {
      const page = await visitor.get(`/sites/${console.domain}${path}?${query}`)
      assert.equal(page.status, 400, query)
      assert.match(textOf(/<p class="fault".*?<\/p>/s.exec(page.text)?.[0] ?? ''), message)
      assert.match(page.text, /<div class="segments"/)
    }
  }
  const empty = await visitor.get(`/sites/${console.domain}?country=&device=&utm_source=&metric=x&sources=x&more=x`)
  assert.equal(empty.status, 200, 'fields of a form that were left empty, and unknown looks')
  assert.equal((await visitor.get(`/sites/${console.domain}/csv/overview`)).status, 404)
})

test('a site without events says how to begin, and a range without visitors says so', async (t) => {
  const console = await openConsole(t, { now })
  const visitor = await console.signedIn('viewer')
  const before = await visitor.get(`/sites/${console.domain}`)
  assert.match(before.text, /No visitors yet/)
  assert.match(before.text, new RegExp(`href="/sites/${console.domain}/settings">Get the snippet`))
  const event = eventOf(pageview({ at: '2026-01-15T10:00:00Z' }), console.siteId, 'UTC')
  await recordBatch(console.stores.clickhouse, { id: console.siteId, events: [event] })
  const after = await visitor.get(`/sites/${console.domain}`)
  assert.doesNotMatch(after.text, /No visitors yet/)
  assert.match(after.text, /No visitors in this range/)
})

/** A console whose statistics come through a proxy with faults. */
async function openFaulty(t: TestContext) {
  const lines: string[] = []
  const { addresses } = (await openConsole(t)).stores
  const target = new URL(addresses.clickhouse)
  const proxy = await startFaultProxy({ host: target.hostname, port: Number(target.port) })
  t.after(() => proxy.close())
  const clickhouse = openClickHouse(Object.assign(target, { port: String(proxy.port) }).href)
  t.after(() => clickhouse.close())
  const stats = createStatsService({ cluster: clusterOf([clickhouse]), now: Date.now, cacheBytes: 0 })
  const console = await openConsole(t, { stats, log: { write: (line) => void lines.push(line) } })
  return { console, proxy, visitor: await console.signedIn('owner'), lines }
}

test('the head comes at once, and panels follow in the same response', async (t) => {
  const { console, proxy, visitor } = await openFaulty(t)
  const cookie = Array.from(visitor.cookies, ([name, value]) => `${name}=${value}`).join('; ')
  for (const encoding of ['identity', 'gzip', 'br']) {
    proxy.setFault({ latencyMs: 150 })
    const response = await fetch(`${console.url}/sites/${console.domain}`, {
      headers: { Cookie: cookie, 'Accept-Encoding': encoding },
    })
    const decoder = new TextDecoder()
    let text = ''
    let beforeNumbers = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      if (!text.includes('metric-visitors')) beforeNumbers = text
    }
    assert.match(beforeNumbers, /<link rel="stylesheet"/, encoding)
    assert.match(text, /<\/html>\s*$/)
    assert.equal(readDashboard(text).metrics.size, 5)
  }
})

test('panels that cannot be read say so in their place, and the log is not filled with them', async (t) => {
  const { console, proxy, visitor, lines } = await openFaulty(t)
  proxy.setFault({ reset: true })
  const page = await visitor.get(`/sites/${console.domain}`)
  assert.equal(page.status, 200)
  assert.equal(page.text.match(/These numbers cannot be read at the moment/g)?.length, 7)
  assert.match(page.text, /<\/html>\s*$/)
  assert.deepEqual(
    lines.filter((line) => line.includes('a panel of the dashboard failed')),
    [],
  )
  assert.equal((await visitor.get(`/sites/${console.domain}/csv/pages`)).status, 500)
})

test('while PostgreSQL does not answer, a page says so instead of waiting without end', async (t) => {
  const { stores } = await openConsole(t)
  const target = new URL(stores.addresses.postgres)
  const proxy = await startFaultProxy({ host: target.hostname, port: Number(target.port) })
  t.after(() => proxy.close())
  const postgres = openPostgres(Object.assign(target, { port: String(proxy.port) }).href, 4)
  t.after(() => postgres.end({ timeout: 0 }))
  const console = await openConsole(t, { stores: { ...stores, postgres } })
  const visitor = await console.signedIn('owner')
  proxy.setFault({ blackHole: true })
  const began = performance.now()
  const page = await visitor.get('/')
  assert.equal(page.status, 503)
  assert.match(page.text, /The database does not answer/)
  inTime(performance.now() - began < 20_000, 'not within 20 s')
})
