import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setKeyDisabled } from '../../src/accounts/keys.ts'
import type { Plan } from '../../src/accounts/plans.ts'
import { memoryLimiter, redisLimiter } from '../../src/api/rate-limit.ts'
import { openRedis } from '../../src/stores/redis.ts'
import { type Answer, openWorld, startApi, type World } from '../support/world.ts'
import { apiWithoutClickHouse } from './outage.ts'
import { sendRaw } from './raw.ts'
import { as, codeOf, newAccountKey, newSiteKey, rateLimitOf, reportNames, times } from './vocabulary.ts'

const perHour: Record<Exclude<Plan, 'Free'>, number> = { Starter: 1000, Growth: 2000, Scale: 3000, Agency: 5000 }

const remainingOf = (answer: Answer) => rateLimitOf(answer)?.remaining as number

const unix = (iso: string) => Date.parse(iso) / 1000

/** A world whose clock the test sets, with a limiter on the same clock. `spend` uses up requests without sending them. */
async function openTimed(t: Parameters<typeof openWorld>[0], plan: Exclude<Plan, 'Free'>, start: string) {
  let at = Date.parse(start)
  const limiter = memoryLimiter(() => at)
  const world = await openWorld(t, { plan, now: start, limiter })
  return {
    ...world,
    setNow: (iso: string) => {
      at = Date.parse(iso)
      world.setNow(iso)
    },
    spend: (count: number) => Promise.all(times(count, () => limiter.spend(world.key.id, perHour[plan]))),
    ask: () => world.get('/stats/overview'),
  }
}

for (const [plan, limit] of Object.entries(perHour) as [Exclude<Plan, 'Free'>, number][])
  test(`${plan} has ${limit} requests per hour`, async (t) => {
    const world = await openWorld(t, { plan })
    const first = rateLimitOf(await world.get('/stats/overview'))
    assert.deepEqual([first?.limit, first?.remaining], [limit, limit - 1])
    const timed = await openTimed(t, plan, '2026-11-15T12:00:00Z')
    await timed.spend(limit - 1)
    assert.deepEqual([codeOf(await timed.ask()), codeOf(await timed.ask())], ['ok', 'rate_limit_exceeded'])
  })

test('the window starts with the first request of a key, is fixed, and ends an hour later to the millisecond', async (t) => {
  const { setNow, spend, ask } = await openTimed(t, 'Starter', '2026-11-15T12:34:56.789Z')
  await ask()
  await spend(999)
  const seen: Record<string, unknown> = {}
  for (const time of ['12:34:56.789', '13:00:00.000', '13:34:56.788', '13:34:56.789', '14:34:56.788', '14:34:56.789']) {
    setNow(`2026-11-15T${time}Z`)
    const answer = await ask()
    seen[time] = [answer.status, remainingOf(answer), rateLimitOf(answer)?.reset]
  }
  const [first, second, third] = ['13:34:57', '14:34:57', '15:34:57'].map((time) => unix(`2026-11-15T${time}Z`)) // rounded up
  assert.deepEqual(seen, {
    '12:34:56.789': [429, 0, first],
    '13:00:00.000': [429, 0, first],
    '13:34:56.788': [429, 0, first],
    '13:34:56.789': [200, 999, second],
    '14:34:56.788': [200, 998, second],
    '14:34:56.789': [200, 999, third],
  })
})

test('the reset is a Unix time in seconds, not the seconds left, and stays the same throughout the window', async (t) => {
  const world = await openWorld(t)
  const before = Math.floor(Date.now() / 1000)
  const resets = new Set<number>()
  for (const name of reportNames) resets.add(rateLimitOf(await world.get(`/stats/${name}`))?.reset as number)
  assert.equal(resets.size, 1)
  const [reset = 0] = resets
  assert.ok(before + 3600 <= reset && reset <= Math.ceil(Date.now() / 1000) + 3600, `${reset}`)
})

test('Remaining counts down to 0 and stays there; a 429 is not counted and does not move the window', async (t) => {
  const { setNow, spend, ask, changePlan } = await openTimed(t, 'Starter', '2026-11-15T12:00:00Z')
  await spend(997)
  const seen: [number, number][] = []
  for (const minute of times(6, (index) => `1${index}`)) {
    setNow(`2026-11-15T12:${minute}:00Z`)
    const answer = await ask()
    seen.push([answer.status, remainingOf(answer)])
    assert.equal(rateLimitOf(answer)?.reset, unix('2026-11-15T13:00:00Z'))
  }
  assert.deepEqual(seen, [
    [200, 2],
    [200, 1],
    [200, 0],
    [429, 0],
    [429, 0],
    [429, 0],
  ])
  // 1000 requests were counted and the refused ones were not, so the larger plan has 1000 left, minus this request.
  await changePlan('Growth')
  assert.equal(remainingOf(await ask()), 999)
})

/** How much of the quota one request costs. */
async function costOf(world: World, send: (world: World) => Promise<unknown>): Promise<number> {
  const before = remainingOf(await world.get('/stats/overview'))
  await send(world)
  return before - remainingOf(await world.get('/stats/overview')) - 1
}

const costs: Record<string, [number, (world: World, t: Parameters<typeof openWorld>[0]) => Promise<unknown>]> = {
  'a 200': [1, (world) => world.get('/stats/pages')],
  HEAD: [1, (world) => world.get('/stats/pages', '', { method: 'HEAD' })],
  'a 304': [1, (world) => world.get('/stats/pages', '', { headers: { 'If-None-Match': '*' } })],
  invalid_parameter: [1, (world) => world.get('/stats/pages', 'limit=0')],
  invalid_date: [1, (world) => world.get('/stats/pages', 'range=custom')],
  unsupported_filter: [1, (world) => world.get('/stats/pages', 'os=x')],
  forbidden: [1, (world) => world.get('/stats/pages', 'site_id=x')],
  'a 500': [1, async ({ key }, t) => (await apiWithoutClickHouse(t)).fetch('/api/v1/stats/pages', as(key.text))],
  OPTIONS: [0, (world) => world.get('/stats/pages', '', { method: 'OPTIONS' })],
  not_found: [0, (world) => world.get('/stats/nope')],
  method_not_allowed: [0, (world) => world.get('/stats/pages', '', { method: 'POST' })],
  unauthorized: [0, ({ api, key }) => api.fetch(`/api/v1/stats/pages?api_key=${key.text}`)],
  'a request that cannot be parsed': [
    0,
    ({ api, key }) => sendRaw(api.port, `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key.text}\r\nX\r\n\r\n`),
  ],
  'a disabled key': [
    0,
    async (world) => {
      for (const disabled of [true, false]) {
        await setKeyDisabled(world.stores.postgres, world.key.id, disabled)
        world.api.directory.forget(world.key.id)
        if (disabled) assert.equal(codeOf(await world.get('/stats/pages')), 'key_disabled')
      }
    },
  ],
  'a missing plan': [
    0,
    async (world) => {
      await world.changePlan('Free')
      assert.equal(codeOf(await world.get('/stats/pages')), 'plan_required')
      await world.changePlan('Agency')
    },
  ],
}

for (const [what, [cost, send]] of Object.entries(costs))
  test(`${what} costs ${cost} of the quota`, async (t) => {
    assert.equal(await costOf(await openWorld(t), (world) => send(world, t)), cost)
  })

test('site_required is counted', async (t) => {
  const world = await openWorld(t)
  const key = await newAccountKey(world)
  const left = await Promise.all([1, 2].map(() => world.get('/stats/pages', '', as(key.text))))
  assert.deepEqual(left.map(remainingOf).toSorted(), [4998, 4999])
})

test('every key has its own window, even on the same site', async (t) => {
  const world = await openWorld(t)
  const other = await newSiteKey(world)
  for (const left of [4999, 4998]) {
    assert.equal(remainingOf(await world.get('/stats/overview')), left)
    assert.equal(remainingOf(await world.get('/stats/overview', '', as(other.text))), left)
  }
})

test('an account key has one window for all its sites', async (t) => {
  const world = await openWorld(t)
  const key = await newAccountKey(world)
  const ask = (site_id: string) => world.get('/stats/overview', { site_id }, as(key.text))
  assert.deepEqual([remainingOf(await ask(world.siteId)), remainingOf(await ask('another'))], [4999, 4998])
})

test('a new plan takes effect at once within the running window, and used requests stay used', async (t) => {
  const world = await openWorld(t, { plan: 'Agency' })
  const first = rateLimitOf(await world.get('/stats/overview'))
  await world.changePlan('Starter')
  const second = rateLimitOf(await world.get('/stats/overview'))
  await world.changePlan('Scale')
  const third = rateLimitOf(await world.get('/stats/overview'))
  const reset = first?.reset
  assert.deepEqual(
    [first, second, third],
    [
      { limit: 5000, remaining: 4999, reset },
      { limit: 1000, remaining: 998, reset },
      { limit: 3000, remaining: 2997, reset },
    ],
  )
})

test('a downgrade below the requests already used refuses at once, with 0 remaining', async (t) => {
  const { spend, ask, changePlan } = await openTimed(t, 'Agency', '2026-11-15T12:00:00Z')
  await spend(1500)
  await changePlan('Starter')
  const answer = await ask()
  assert.deepEqual([answer.status, rateLimitOf(answer)?.limit, remainingOf(answer)], [429, 1000, 0])
  await changePlan('Growth')
  assert.equal(remainingOf(await ask()), 499)
})

test('two API instances with one Redis share an exact count, even under a burst', async (t) => {
  const world = await openWorld(t, { plan: 'Starter' })
  const second = await startApi(world.stores)
  const redis = openRedis(world.stores.addresses.redis, () => {})
  t.after(async () => {
    await second.close()
    await redis.close()
  })
  const ask = (index: number) =>
    [world.api, second][index % 2]!.fetch('/api/v1/stats/overview?range=24h', as(world.key.text))
  assert.deepEqual([remainingOf(await ask(0)), remainingOf(await ask(1))], [999, 998])

  const limiter = redisLimiter({
    redis,
    prefix: world.prefix,
    now: Date.now,
    onDegraded: (error) => assert.fail(error),
  })
  for (const _ of times(97, String)) await Promise.all(times(10, () => limiter.spend(world.key.id, 1000)))
  const answers = await Promise.all(times(60, ask)) // 28 requests are left
  const allowed = answers.filter(({ status }) => status === 200)
  assert.deepEqual(
    allowed.map(remainingOf).toSorted((one, other) => one - other),
    times(28, (index) => index),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 429]))
  assert.equal(new Set(answers.map((answer) => rateLimitOf(answer)?.reset)).size, 1)
})

test('without Redis a process counts alone, refuses at the limit, and reports its own numbers', async (t) => {
  const redis = openRedis('redis://127.0.0.1:1', () => {})
  t.after(() => redis.close())
  const limiter = redisLimiter({ redis, prefix: 'nowhere:', now: Date.now, onDegraded: () => {} })
  const world = await openWorld(t, { plan: 'Starter', limiter })
  assert.equal(remainingOf(await world.get('/stats/overview')), 999)
  await Promise.all(times(998, () => limiter.spend(world.key.id, 1000)))
  const answers = [await world.get('/stats/overview'), await world.get('/stats/overview')]
  assert.deepEqual(answers.map(codeOf), ['ok', 'rate_limit_exceeded'])
  assert.deepEqual(answers.map(remainingOf), [0, 0])
})

test('concurrency alone is never refused: a burst from one key waits in its queue', async (t) => {
  const world = await openWorld(t)
  const answers = await Promise.all(
    times(100, (index) => world.get(`/stats/${reportNames[index % reportNames.length]}`, 'range=24h')),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.deepEqual(
    answers.map(remainingOf).toSorted((one, other) => one - other),
    times(100, (index) => 4900 + index),
  )
})
