// GET /api/v2/live over real HTTP: who is on a site now, as server-sent events.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deleteKey, setKeyDisabled } from '../../src/accounts/keys.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { newAccountKey } from '../contract/vocabulary.ts'
import { type EventStreamReader, readEventStream } from '../support/event-stream.ts'
import { pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { inTime } from '../support/in-time.ts'
import { openWorld, type World, type WorldOptions } from '../support/world.ts'

const now = () => new Date(Date.now() - 500).toISOString()

async function openLive(t: TestContext, options: WorldOptions = {}) {
  const world = await openWorld(t, options)
  const open: EventStreamReader[] = []
  t.after(() => open.forEach(({ close }) => void close()))
  const watch = async (query = '', key = world.key.text) => {
    const stream = await readEventStream(`http://127.0.0.1:${world.api.port}/api/v2/live${query}`, {
      Authorization: `Bearer ${key}`,
    })
    open.push(stream)
    return stream
  }
  return { world, watch }
}

const stateOf = ({ data }: { data: string }) => JSON.parse(data)

const hasPage = (page: string) => (message: { data: string }) =>
  stateOf(message).data?.hits.some((hit: { page: string }) => hit.page === page) === true

test('a stream begins with who is there now, and a hit comes within two seconds', async (t) => {
  const { world, watch } = await openLive(t)
  await world.record(pageview({ at: now(), visitor: 'a', pathname: '/first', country: 'DE' }))
  const stream = await watch()
  assert.equal(stream.status, 200)
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(stream.headers.get('x-accel-buffering'), 'no')
  assert.equal(stream.headers.get('cache-control'), 'no-store, no-transform')
  assert.ok(stream.headers.get('x-ratelimit-remaining'))
  const { data, meta } = stateOf(await stream.find(() => true))
  assert.deepEqual([data.visitors, data.pages], [1, [{ page: '/first', visitors: 1 }]])
  assert.equal(meta.site_id, world.siteId)
  assert.ok((stream.retryMs ?? 0) > 0)

  await world.record(pageview({ at: now(), visitor: 'b', pathname: '/second', country: 'US' }))
  const recordedAt = performance.now()
  const message = await stream.find(hasPage('/second'))
  inTime(performance.now() - recordedAt < 2_000, 'a hit took more than two seconds')
  assert.equal(stateOf(message).data.visitors, 2)
})

test('nothing comes while nothing changes', async (t) => {
  const { watch } = await openLive(t, { now: '2026-03-15T12:00:30Z' })
  const stream = await watch()
  await stream.find(() => true)
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  assert.equal(stream.messages.length, 1)
})

test('each stream counts as a request, and HEAD opens none', async (t) => {
  const limiter = memoryLimiter(Date.now)
  const { world, watch } = await openLive(t, { limiter, plan: 'Starter' })
  for (let number = 0; number < 3; number++) await watch()
  assert.equal((await limiter.peek(world.key.id))?.count, 3)
  const head = await world.api.fetch('/api/v2/live', {
    method: 'HEAD',
    headers: { Authorization: `Bearer ${world.key.text}` },
  })
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8'])
  for (let number = 0; number < 7; number++) assert.equal((await watch()).status, 200)
  assert.equal((await limiter.peek(world.key.id))?.count, 11)
})

test('a key has at most ten streams, and gets another one when one of them ends', async (t) => {
  const { watch } = await openLive(t)
  const streams = []
  for (let number = 0; number < 10; number++) streams.push(await watch())
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]))
  const refused = await watch()
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  streams[0]?.close()
  await eventually(async () => assert.equal((await watch()).status, 200))
})

async function endsInTime(stream: EventStreamReader): Promise<void> {
  const startedAt = performance.now()
  await stream.over
  inTime(performance.now() - startedAt < 1_000, 'a stream went on for more than a second')
}

const endings: Record<string, (world: World) => Promise<unknown>> = {
  'the key is deleted': ({ stores, key }) => deleteKey(stores.postgres, key.id),
  'the key is disabled': ({ stores, key }) => setKeyDisabled(stores.postgres, key.id, true),
  'the plan has no API': ({ stores, accountId }) =>
    stores.postgres`UPDATE accounts SET plan = 'Free' WHERE id = ${accountId}`,
  'the site is deleted': ({ stores, siteId }) => stores.postgres`DELETE FROM sites WHERE id = ${siteId}`,
}

for (const [what, change] of Object.entries(endings))
  test(`a stream ends within a second when ${what}, by any process`, async (t) => {
    const { world, watch } = await openLive(t)
    const stream = await watch()
    await stream.find(() => true)
    await change(world)
    await endsInTime(stream)
  })

test('a stream ends when its key expires', async (t) => {
  const { world, watch } = await openLive(t)
  const stream = await watch()
  await stream.find(() => true)
  await world.stores.postgres`UPDATE api_keys SET expires_at = now() + interval '1 second' WHERE id = ${world.key.id}`
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await endsInTime(stream)
})

test('excluded countries are left out, from within a second after they are excluded', async (t) => {
  const { world, watch } = await openLive(t, { excludedCountries: ['CN'] })
  await world.record(
    pageview({ at: now(), visitor: 'a', pathname: '/seen', country: 'DE' }),
    pageview({ at: now(), visitor: 'b', pathname: '/hidden', country: 'CN' }),
  )
  const stream = await watch()
  const first = await stream.find(hasPage('/seen'))
  assert.equal(stateOf(first).data.visitors, 1)
  assert.doesNotMatch(first.data, /hidden|CN/)
  await world.excludeCountries(['DE'])
  await stream.find(({ data }) => stateOf({ data }).data.countries[0]?.country === 'CN')
  assert.doesNotMatch(stream.messages.at(-1)?.data ?? '', /seen|DE/)
})

test('hits of another site are in no message, also not with a key of the whole account', async (t) => {
  const { world, watch } = await openLive(t)
  const { world: other } = await openLive(t, { accountId: world.accountId })
  await other.record(pageview({ at: now(), visitor: 'b', pathname: '/elsewhere' }))
  await world.record(pageview({ at: now(), visitor: 'a', pathname: '/here' }))
  const { text } = await newAccountKey(world)
  const ofAccount = await watch(`?site_id=${world.siteId}`, text)
  for (const stream of [await watch(), ofAccount]) {
    const message = await stream.find(hasPage('/here'))
    assert.equal(stateOf(message).data.visitors, 1)
    assert.doesNotMatch(message.data, /elsewhere/)
  }
})

test('a process that closes ends its streams, and says when to come again', async (t) => {
  const { world, watch } = await openLive(t)
  const stream = await watch()
  await stream.find(() => true)
  const startedAt = performance.now()
  await world.api.app.close()
  await stream.over
  inTime(performance.now() - startedAt < 1_000, 'a stream went on for more than a second')
  assert.ok((stream.retryMs ?? 0) >= 4_000)
})

test('without a key, and with another site, there is no stream', async (t) => {
  const { world, watch } = await openLive(t)
  assert.equal((await readEventStream(`http://127.0.0.1:${world.api.port}/api/v2/live`, {})).status, 401)
  assert.equal(
    (await readEventStream(`http://127.0.0.1:${world.api.port}/api/v2/live`, { Cookie: 'footfall-session=x' })).status,
    401,
  )
  assert.equal((await watch('?site_id=site_aaaaaaaaaaaaaaaa')).status, 403)
  assert.equal((await watch('?site_id=a&site_id=b')).status, 400)
  const warned = await watch('?range=7d&x=1')
  assert.equal(
    warned.headers.get('stats-warning'),
    'unknown parameter x was ignored; range has no effect on this endpoint',
  )
})
