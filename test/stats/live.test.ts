// Who is on a site now, as all callers read it: without HTTP, on real ClickHouse.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { LiveReading } from '../../src/stats/live.ts'
import type { StatsSite } from '../../src/stats/report.ts'
import { createStatsService } from '../../src/stats/service.ts'
import type { ClickHouseReader } from '../../src/stores/clickhouse.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openStores } from '../support/stores.ts'

const noon = Date.parse('2026-03-15T12:00:30Z')

async function openSite(given: Partial<StatsSite> = {}) {
  const { clickhouse } = await openStores()
  const coverage = {
    versions: [],
    today: null,
    settledThrough: null,
    invalidations: 0,
    eventsFrom: '1970-01-01',
    imported: [],
  }
  const site: StatsSite = {
    id: `site_${randomBytes(8).toString('hex')}`,
    timeZone: 'Europe/Berlin',
    excludedCountries: [],
    goals: [],
    shard: 1,
    coverage,
    ...given,
  }
  const state = { statements: 0, isDown: false }
  const counting: ClickHouseReader = {
    rows(statement, signal, limits) {
      state.statements++
      if (state.isDown) return Promise.reject(new Error('down'))
      return clickhouse.rows(statement, signal, limits)
    },
  }
  const { live } = createStatsService({ cluster: { of: () => counting }, now: () => noon, cacheBytes: 0 })
  const record = (...hits: Hit[]) =>
    recordBatch(clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, site.id, site.timeZone)) })
  return { site, state, live, record }
}

test('a reading has who is there now, each visitor once with their last hit, and what happened in half an hour', async () => {
  const { site, live, record } = await openSite({ excludedCountries: ['CN'] })
  await record(
    pageview({ at: '2026-03-15T11:30:59.999Z', visitor: 'too early' }),
    pageview({ at: '2026-03-15T11:31:00Z', visitor: 'a', pathname: '/', country: 'DE', referrer: 'google.com' }),
    pageview({ at: '2026-03-15T11:55:29.999Z', visitor: 'gone', pathname: '/gone', country: 'FR' }),
    pageview({ at: '2026-03-15T11:55:30Z', visitor: 'a', pathname: '/one', country: 'DE', referrer: 'google.com' }),
    pageview({
      at: '2026-03-15T11:59:00Z',
      visitor: 'b',
      pathname: '/one',
      country: 'US',
      utmSource: 'news',
      referrer: 'x.example',
    }),
    pageview({
      at: '2026-03-15T11:59:10Z',
      visitor: 'b',
      pathname: '/two',
      country: 'US',
      utmSource: 'news',
      referrer: 'x.example',
    }),
    pageview({ at: '2026-03-15T12:00:10Z', visitor: 'c', pathname: '/two', country: 'US' }),
    custom('signup', { at: '2026-03-15T12:00:20Z', visitor: 'c', pathname: '/three', country: 'US' }),
    custom('signup', { at: '2026-03-15T11:40:00Z', visitor: 'd', pathname: '/three', country: 'US' }),
    custom('click', { at: '2026-03-15T11:40:01Z', visitor: 'd', pathname: '/three', country: 'US' }),
    pageview({ at: '2026-03-15T12:00:15Z', visitor: 'excluded', pathname: '/secret', country: 'CN' }),
    custom('hidden', { at: '2026-03-15T12:00:15Z', visitor: 'excluded', pathname: '/secret', country: 'CN' }),
    pageview({ at: '2026-03-15T12:00:30Z', visitor: 'later' }),
  )
  const { state, at } = await live.read(site)
  assert.equal(at, noon)
  assert.equal(state.visitors, 3)
  assert.deepEqual(state.pages, [
    { page: '/one', visitors: 1 },
    { page: '/three', visitors: 1 },
    { page: '/two', visitors: 1 },
  ])
  assert.deepEqual(state.countries, [
    { country: 'US', visitors: 2 },
    { country: 'DE', visitors: 1 },
  ])
  assert.deepEqual(state.sources, [
    { source: null, visitors: 1 },
    { source: 'google.com', visitors: 1 },
    { source: 'news', visitors: 1 },
  ])
  assert.deepEqual(state.events, [
    { event: 'signup', times: 2 },
    { event: 'click', times: 1 },
  ])
  assert.equal(state.minutes.length, 30)
  assert.deepEqual(
    state.minutes.filter(({ pageviews }) => pageviews > 0),
    [
      { time: '2026-03-15T11:31:00.000Z', pageviews: 1 },
      { time: '2026-03-15T11:55:00.000Z', pageviews: 2 },
      { time: '2026-03-15T11:59:00.000Z', pageviews: 2 },
      { time: '2026-03-15T12:00:00.000Z', pageviews: 1 },
    ],
  )
  assert.deepEqual(
    state.hits.map(({ time, event, page, country, source }) => [time.slice(11, 23), event, page, country, source]),
    [
      ['12:00:20.000', 'signup', '/three', 'US', null],
      ['12:00:10.000', 'pageview', '/two', 'US', null],
      ['11:59:10.000', 'pageview', '/two', 'US', 'news'],
      ['11:59:00.000', 'pageview', '/one', 'US', 'news'],
      ['11:55:30.000', 'pageview', '/one', 'DE', 'google.com'],
      ['11:55:29.999', 'pageview', '/gone', 'FR', null],
      ['11:40:01.000', 'click', '/three', 'US', null],
      ['11:40:00.000', 'signup', '/three', 'US', null],
      ['11:31:00.000', 'pageview', '/', 'DE', 'google.com'],
    ],
  )
  assert.equal(new Set(state.hits.map(({ id }) => id)).size, 9)
})

test('a site without hits has an empty reading', async () => {
  const { site, live } = await openSite()
  const { state } = await live.read(site)
  assert.deepEqual([state.visitors, state.pages, state.hits], [0, [], []])
  assert.deepEqual([...new Set(state.minutes.map(({ pageviews }) => pageviews))], [0])
})

test('lists have ten rows, and the last hits are twenty', async () => {
  const { site, live, record } = await openSite()
  await record(
    ...Array.from({ length: 25 }, (_, index) =>
      pageview({ at: new Date(noon - 1000 * (index + 1)).toISOString(), visitor: `${index}`, pathname: `/${index}` }),
    ),
  )
  const { state } = await live.read(site)
  assert.deepEqual([state.visitors, state.pages.length, state.hits.length], [25, 10, 20])
  assert.deepEqual([state.hits[0]?.page, state.hits[19]?.page], ['/0', '/19'])
})

test('fifty watchers and fifty pages of a site cost one statement per second, and nobody who watches costs none', async (t) => {
  const { site, state, live } = await openSite()
  const seen = Array.from({ length: 50 }, () => 0)
  const ends = seen.map((_, index) =>
    live.watch(site.id, {
      site: async () => site,
      show() {
        seen[index] = (seen[index] ?? 0) + 1
      },
      fail: assert.fail,
    }),
  )
  t.after(() => ends.forEach((end) => void end()))
  const startedAt = performance.now()
  await eventually(async () => assert.ok(seen.every((times) => times >= 3)))
  await Promise.all(Array.from({ length: 50 }, () => live.read(site)))
  const seconds = (performance.now() - startedAt) / 1000
  assert.ok(state.statements <= seconds + 1, `${state.statements} statements in ${seconds} s`)

  for (const end of ends) end()
  const before = state.statements
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  assert.ok(state.statements <= before + 1)
})

test('a country that is excluded now is missing from the next reading, and a failure is told to everybody', async (t) => {
  const { site, state, live, record } = await openSite()
  await record(pageview({ at: new Date(noon - 1000).toISOString(), visitor: 'a', country: 'FR' }))
  let current: StatsSite | undefined = site
  let last: LiveReading | undefined
  let failures = 0
  t.after(
    live.watch(site.id, {
      site: async () => current,
      show(reading) {
        last = reading
      },
      fail: () => void failures++,
    }),
  )
  await eventually(async () => assert.equal(last?.state.visitors, 1))
  // Even within the same second.
  current = { ...site, excludedCountries: ['FR'] }
  assert.equal((await live.read(current)).state.visitors, 0)
  await eventually(async () => assert.equal(last?.state.visitors, 0))

  state.isDown = true
  await eventually(async () => assert.ok(failures > 0))
  state.isDown = false
  last = undefined
  await eventually(async () => assert.ok(last))
  // The site is deleted: nothing is read any more.
  current = undefined
  let statements = -1
  await eventually(async () => {
    const before = state.statements
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    statements = state.statements - before
    assert.equal(statements, 0)
  })
})
