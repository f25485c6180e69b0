// Wrong addresses, slow and failing panels, and what the page says when there is nothing to show.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { clusterOf } from '../../src/cluster/cluster.ts'
import type { QuestionRequest } from '../../src/stats/questions/questions.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { Unavailable } from '../../src/stores/breaker.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { inTime } from '../support/in-time.ts'
import { openConsole } from './console.ts'
import { decode, readDashboard, textOf } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'

test('wrong parameters show the page with what is wrong, and 400', async (t) => {
  const console = await openConsole(t, { now })
  const visitor = await console.signedIn('viewer')
  const wrong: [query: string, message: RegExp][] = [
    ['country=XX', /^Country must be a two-letter code/],
    ['device=watch', /Device must be desktop, mobile, tablet or unknown/],
    ['hostname=https://a.example/', /Hostname must be a host name alone/],
    ['range=1y', /range must be one of/],
    ['range=custom', /Choose a first and a last day/],
    ['range=custom&start=2026-02-30&end=2026-03-01', /One of these days does not exist/],
    ['range=custom&start=1900-01-01&end=2026-03-01', /at most 100 years/],
    ['utm_source=%FF', /not UTF-8/],
    ['filter=page', /"page" must be written as dimension:operator:value/],
    ['filter=path:is:/x', /"path" is not one of page, hostname/],
    ['filter=page:like:/x', /"like" is not one of is, is_not, contains, starts_with/],
    ['filter=goal:is:Nothing', /The site has no goal called Nothing/],
    [Array.from({ length: 9 }, (_, nth) => `filter=page:is_not:/${nth}`).join('&'), /At most 8 filters/],
    ['more=page&cursor=x', /cursor must be a next_cursor of the same question/],
  ]
  for (const [query, message] of wrong) {
    for (const path of ['', '/csv/pages']) {
      const page = await visitor.get(`/sites/${console.domain}${path}?${query}`)
      assert.equal(page.status, 400, query)
      assert.match(textOf(/<p class="fault".*?<\/p>/s.exec(page.text)?.[0] ?? ''), message)
      assert.match(page.text, /<div class="when"/)
    }
  }
  const empty = await visitor.get(
    `/sites/${console.domain}?country=&device=&utm_source=&metric=x&sources=x&more=x&order=x&columns=x`,
  )
  assert.equal(empty.status, 200, 'fields of a form that were left empty, and unknown looks')
  assert.equal((await visitor.get(`/sites/${console.domain}/csv/overview`)).status, 404)
})

test('days in the wrong order come back with the form, a sentence and the rest of the address', async (t) => {
  const console = await openConsole(t, { now })
  const visitor = await console.signedIn('viewer')
  const address = `/sites/${console.domain}?device=mobile&metric=pageviews&range=custom`
  const { text, status } = await visitor.get(`${address}&start=2026-11-10&end=2026-11-01`)
  assert.equal(status, 400)
  assert.match(text, /<details class="menu right-menu" open><summary class="pick" data-key="c">/)
  assert.match(text, /name="start" value="2026-11-10"/)
  assert.match(text, /name="end" value="2026-11-01"/)
  const [, swap = ''] = /after the last one\. <a href="([^"]*)">Swap them/.exec(text) ?? []
  const swapped = new URLSearchParams(decode(swap).split('?')[1])
  assert.deepEqual(Object.fromEntries(swapped), {
    range: 'custom',
    start: '2026-11-01',
    end: '2026-11-10',
    filter: 'device:is:mobile',
    metric: 'pageviews',
  })
  assert.equal((await visitor.get(decode(swap))).status, 200)
})

test('a page is called after its list, its range and its site', async (t) => {
  const console = await openConsole(t, { now })
  const visitor = await console.signedIn('viewer')
  const titleOf = async (query: string) =>
    /<title>(.*?)<\/title>/.exec((await visitor.get(`/sites/${console.domain}?${query}`)).text)?.[1]
  assert.equal(await titleOf('more=pages'), `Pages · Last 30 days · ${console.domain} · Footfall`)
  assert.equal(
    await titleOf('range=custom&start=2025-12-30&end=2026-11-01'),
    `30 Dec 2025 – 1 Nov · ${console.domain} · Footfall`,
  )
})

test('a site without events says how to begin, and a range without visitors says so', async (t) => {
  const console = await openConsole(t, { now })
  const visitor = await console.signedIn('viewer')
  const before = await visitor.get(`/sites/${console.domain}`)
  assert.match(before.text, /Waiting for the first event/)
  assert.match(before.text, new RegExp(`data-site=&#34;${console.domain}&#34;`))
  assert.match(before.text, new RegExp(`href="/sites/${console.domain}/settings/install/wordpress">WordPress`))
  const event = eventOf(pageview({ at: '2026-01-15T10:00:00Z' }), console.siteId, 'UTC')
  await recordBatch(console.stores.clickhouse, { id: console.siteId, events: [event] })
  const after = await visitor.get(`/sites/${console.domain}`)
  assert.doesNotMatch(after.text, /Waiting for the first event/)
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
  const event = eventOf(pageview({ at: new Date().toISOString() }), console.siteId, 'UTC')
  await recordBatch(console.stores.clickhouse, { id: console.siteId, events: [event] })
  const cookie = Array.from(visitor.cookies, ([name, value]) => `${name}=${value}`).join('; ')
  for (const encoding of ['identity', 'gzip', 'br']) {
    proxy.setFault({ latencyMs: 500 })
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
    assert.match(beforeNumbers, /<div class="when"/, `${encoding}: the bar does not wait`)
    assert.match(text, /<\/html>\s*$/)
    assert.equal(readDashboard(text).metrics.size, 5)
  }
})

test('while nothing can be read the page says so once, and the log is not filled with it', async (t) => {
  const { console, proxy, visitor, lines } = await openFaulty(t)
  proxy.setFault({ reset: true })
  const page = await visitor.get(`/sites/${console.domain}`)
  assert.equal(page.status, 200)
  assert.equal(page.text.match(/cannot be read at the moment/g)?.length, 1)
  assert.match(page.text, /<\/html>\s*$/)
  assert.deepEqual(
    lines.filter((line) => line.includes('a panel of the dashboard failed')),
    [],
  )
  assert.equal((await visitor.get(`/sites/${console.domain}/csv/pages`)).status, 500)
})

test('one question that takes too long does not hide what the others answer', async (t) => {
  const { stores } = await openConsole(t)
  const { cluster } = stores
  const real = createStatsService({ cluster, now: Date.now, cacheBytes: 0 })
  const late = Promise.reject(new Unavailable('ClickHouse did not answer in time'))
  late.catch(() => {})
  const stats = {
    ...real,
    ask: (request: QuestionRequest, signal: AbortSignal) =>
      request.question.kind === 'totals' ? late : real.ask(request, signal),
  }
  const console = await openConsole(t, { stores, stats })
  const event = eventOf(
    pageview({ at: new Date(Date.now() - 3_600_000).toISOString(), pathname: '/seen' }),
    console.siteId,
    'UTC',
  )
  await recordBatch(stores.clickhouse, { id: console.siteId, events: [event] })
  const { text } = await (await console.signedIn('owner')).get(`/sites/${console.domain}`)
  assert.match(text, /\/seen/)
  assert.match(text, /These numbers cannot be read at the moment/)
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
