// Identical requests share one ClickHouse query, and a cached response is sent while it is fresh (D-78).
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { Unavailable } from '../../src/stores/breaker.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { pageview } from '../support/events.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'
import { makeWorld, openWorld, startApi, type World } from '../support/world.ts'

const march = 'range=custom&start=2026-03-01&end=2026-03-14'

/** A second process for the same site, with a response cache. It counts its ClickHouse queries, and a test can make it wait. */
async function openSharing(t: TestContext, world: World) {
  const { stores } = world
  const state = { asked: 0, aborted: 0, gate: Promise.resolve(), now: Date.parse('2026-03-15T12:00:00Z') }
  const clickhouse: ClickHouse = {
    ...stores.clickhouse,
    async rows(statement, signal) {
      state.asked++
      signal?.addEventListener('abort', () => state.aborted++)
      await state.gate
      return stores.clickhouse.rows(statement, signal)
    },
  }
  const api = await startApi({ ...stores, clickhouse }, { now: () => state.now, responseCacheBytes: 1e6 })
  t.after(() => api.close())
  const headers = { Authorization: `Bearer ${world.key.text}` }
  const get = async (query: string, path = 'overview', signal?: AbortSignal) =>
    api.fetch(`/api/v1/stats/${path}?${query}`, { headers, ...(signal && { signal }) })
  return { state, get, api }
}

async function openRolledUpWorld(t: TestContext): Promise<World> {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z' })
  await world.record(
    pageview({ at: '2026-02-01T10:00:00Z' }), // so that the window before March is rolled up too
    pageview({ at: '2026-03-04T10:00:00Z', visitor: 'a' }),
    pageview({ at: '2026-03-04T10:00:00Z', visitor: 'b', country: 'FR' }),
  )
  await world.rollUp('2026-03-14')
  return world
}

/** Makes the next queries wait until the returned function is called. */
function closeGate(state: { gate: Promise<void> }): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  state.gate = promise
  return resolve
}

async function until(holds: () => boolean): Promise<void> {
  for (const began = performance.now(); !holds(); ) {
    assert.ok(performance.now() - began < 20_000, 'it never came to that')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('identical concurrent requests query ClickHouse once; another parameter is another query', async (t) => {
  const { state, get } = await openSharing(t, await openRolledUpWorld(t))
  const open = closeGate(state)
  const same = [1, 2, 3].map(() => get('range=7d'))
  await until(() => state.asked === 1)
  const other = get('range=7d&device=mobile')
  await until(() => state.asked === 2)
  open()
  const bodies = await Promise.all(same)
  assert.equal(state.asked, 2)
  assert.equal(new Set(bodies.map(({ text }) => text)).size, 1)
  assert.notEqual((await other).text, bodies[0]?.text)
})

test('a query continues when one of its callers disconnects and is cancelled when the last one does', async (t) => {
  const { state, get } = await openSharing(t, await openRolledUpWorld(t))
  const open = closeGate(state)
  const leaving = new AbortController()
  const first = get('range=7d', 'utm', leaving.signal)
  await until(() => state.asked === 1)
  const second = get('range=7d', 'utm')
  await new Promise((resolve) => setTimeout(resolve, 200)) // by now it has joined the query
  leaving.abort()
  await assert.rejects(first)
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.equal(state.aborted, 0)
  open()
  assert.equal((await second).status, 200)
  assert.equal(state.asked, 1)

  const reopen = closeGate(state)
  const alone = new AbortController()
  const last = get('range=30d', 'utm', alone.signal)
  await until(() => state.asked === 2)
  alone.abort()
  await assert.rejects(last)
  await until(() => state.aborted === 1)
  reopen()
})

test('a response that includes today is cached for five seconds and keeps its generated_at', async (t) => {
  const world = await openRolledUpWorld(t)
  const { state, get } = await openSharing(t, world)
  const first = await get('range=7d')
  state.now += 4_999
  assert.equal((await get('range=7d')).text, first.text)
  assert.equal(state.asked, 1)
  state.now += 1
  assert.equal((await get('range=7d')).json.meta.generated_at, '2026-03-15T12:00:05.000Z')
  assert.equal(state.asked, 2)
})

test('a closed window stays cached until a late event arrives; exclusions take effect at once', async (t) => {
  const world = await openRolledUpWorld(t)
  const { state, get, api } = await openSharing(t, world)
  const visitors = async () => (await get(march)).json.data.current.visitors
  assert.equal(await visitors(), 2)
  state.now += 3_600_000
  const again = await get(march)
  assert.deepEqual([again.json.data.current.visitors, again.json.meta.generated_at], [2, '2026-03-15T12:00:00.000Z'])
  assert.equal(state.asked, 1)

  await world.record(pageview({ at: '2026-03-05T10:00:00Z', visitor: 'late' }))
  api.directory.forget(world.siteId)
  assert.equal(await visitors(), 3)
  await world.rollUp('2026-03-14')
  await world.excludeCountries(['FR'])
  api.directory.forget(world.siteId)
  assert.equal(await visitors(), 2)
  await world.excludeCountries([])
  api.directory.forget(world.siteId)
  assert.equal(await visitors(), 3)
})

test('a closed window of a site too small for rollups stays cached too, until a late event arrives', async (t) => {
  // Uses its own stores: a rollup round processes every site, including those of tests that run at the same time.
  const created = await createStores()
  const stores = connect(created.addresses)
  const world = await makeWorld(stores, { now: '2026-03-15T12:00:00Z' })
  t.after(async () => {
    await world.close()
    await disconnect(stores)
    await created.remove()
  })
  await world.record(pageview({ at: '2026-03-04T10:00:00Z', visitor: 'a' }))
  const { state, get, api } = await openSharing(t, world)
  const visitors = async () => (await get(march)).json.data.current.visitors
  assert.equal(await visitors(), 1)
  state.now += 6_000
  assert.equal(await visitors(), 1)
  assert.equal(state.asked, 2, 'no rollup round has considered the site yet')

  await rollUpRound(world.stores, { now: Date.parse('2026-03-15T12:00:00Z') })
  api.directory.forget(world.siteId)
  assert.equal(await visitors(), 1)
  state.now += 3_600_000
  assert.equal(await visitors(), 1)
  assert.equal(state.asked, 3)

  await world.record(pageview({ at: '2026-03-05T10:00:00Z', visitor: 'late' }))
  // Consider the site again at once: the response cached before the event must not return because the last day is the same.
  await world.stores.postgres`UPDATE rollup_state SET considered_at = NULL WHERE site_id = ${world.siteId}`
  await rollUpRound(world.stores, { now: Date.parse('2026-03-15T12:00:00Z') })
  api.directory.forget(world.siteId)
  assert.equal(await visitors(), 2)
})

test('a title is never older than five seconds, even in a closed window', async (t) => {
  const world = await openRolledUpWorld(t)
  const { state, get } = await openSharing(t, world)
  const title = async () => (await get(march, 'pages')).json.data[0].title
  assert.equal(await title(), '')
  await world.record(pageview({ at: '2026-03-15T11:00:00Z', title: 'Home' }))
  state.now += 5_000
  assert.equal(await title(), 'Home')
})

test('a cached response sent while ClickHouse is down says how old it is', async (t) => {
  const world = await openRolledUpWorld(t)
  const { state, get } = await openSharing(t, world)
  const first = await get('range=7d&unknown=1')
  assert.equal(first.headers.get('stats-warning'), 'unknown parameter unknown was ignored')
  state.now += 75_000
  state.gate = Promise.reject(new Unavailable('ClickHouse'))
  state.gate.catch(() => {})
  const again = await get('range=7d&unknown=1')
  assert.deepEqual([again.status, again.text], [200, first.text])
  assert.equal(
    again.headers.get('stats-warning'),
    'unknown parameter unknown was ignored; this is the last known answer, 75 seconds old, because the statistics cannot be read now',
  )
  state.gate = Promise.resolve()
  assert.equal((await get('range=7d')).headers.get('stats-warning'), null)
})
