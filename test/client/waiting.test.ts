// Waiting for Retry-After, and aborting.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { pages } from '../../packages/client/index.js'
import { type Limiter, memoryLimiter } from '../../src/api/rate-limit.ts'
import { apiWithoutClickHouse } from '../contract/outage.ts'
import { noon, times } from '../contract/vocabulary.ts'
import { eventually } from '../support/eventually.ts'
import { openWorld } from '../support/world.ts'
import { addressOf, runners, serve, serverOf } from './runners.ts'

/** The real limiter with a clock that reaches the next window with the first refusal, and the number of requests that it saw. */
function turningLimiter(at: string): Limiter & { requests: number } {
  let now = Date.parse(noon)
  const limiter = memoryLimiter(() => now)
  const counting = {
    ...limiter,
    requests: 0,
    async spend(...given: Parameters<Limiter['spend']>) {
      if (counting.requests++ === 1000) now = Date.parse(at)
      const spending = await limiter.spend(...given)
      if (!spending.allowed) now = Date.parse('2026-11-15T13:00:00Z')
      return spending
    },
  }
  return counting
}

async function spentWorld(t: Parameters<typeof openWorld>[0], at: string) {
  const limiter = turningLimiter(at)
  const world = await openWorld(t, { plan: 'Starter', now: noon, limiter })
  await Promise.all(times(1000, () => limiter.spend(world.key.id, 1000)))
  return { world, limiter }
}

for (const [where, open] of Object.entries(runners)) {
  test(`${where}: a call waits for Retry-After and tries again`, async (t) => {
    const [run, { world, limiter }] = [await open(t), await spentWorld(t, '2026-11-15T12:59:59Z')]
    const began = performance.now()
    const { result, thrown } = await run({ server: { ...serverOf(world), waitSeconds: 1 }, name: 'pages' })
    assert.deepEqual(result?.data, [], JSON.stringify(thrown))
    assert.equal(limiter.requests, 1002)
    assert.ok(performance.now() - began > 990)
  })

  test(`${where}: a call that would have to wait longer throws at once`, async (t) => {
    const [run, { world, limiter }] = [await open(t), await spentWorld(t, '2026-11-15T12:59:58Z')]
    const { thrown } = await run({ server: { ...serverOf(world), waitSeconds: 1.9 }, name: 'pages' })
    assert.deepEqual([thrown?.code, thrown?.retryAfter], ['rate_limit_exceeded', 2])
    assert.equal(limiter.requests, 1001)
  })

  test(`${where}: all tries of a call together wait no longer than waitSeconds`, { timeout: 120_000 }, async (t) => {
    const [run, world, down] = [await open(t), await openWorld(t), await apiWithoutClickHouse(t)]
    const server = { ...serverOf(world), url: addressOf(down), waitSeconds: 2 }
    const { thrown } = await run({ server, name: 'pages' })
    // Retry-After is 1: the first try and two more.
    assert.deepEqual([thrown?.code, thrown?.rateLimit?.remaining], ['internal_error', 5000 - 3])
  })

  test(`${where}: a signal ends the waiting`, { timeout: 120_000 }, async (t) => {
    const [run, { world, limiter }] = [await open(t), await spentWorld(t, '2026-11-15T12:00:00Z')]
    const server = { ...serverOf(world), waitSeconds: 3600 }
    const { thrown } = await run({ server, name: 'pages', abortAfterMs: 1000 })
    assert.deepEqual([thrown?.name, thrown?.isFootfallError], ['AbortError', false])
    assert.ok(limiter.requests <= 1001) // on a very slow machine the signal comes before the request
  })

  test(`${where}: a signal ends a request that is not answered`, { timeout: 120_000 }, async (t) => {
    const run = await open(t)
    const never = { ...memoryLimiter(Date.now), spend: () => new Promise<never>(() => {}) }
    const world = await openWorld(t, { limiter: never })
    for (const abortAfterMs of [0, 100]) {
      const { thrown } = await run({ server: serverOf(world), name: 'pages', abortAfterMs })
      assert.deepEqual([thrown?.name, thrown?.isFootfallError], ['AbortError', false])
    }
  })

  test(`${where}: a signal ends a body that does not end`, { timeout: 120_000 }, async (t) => {
    const run = await open(t)
    const url = await serve(t, (_request, response) => void response.writeHead(200).write('{"data":'))
    const { thrown } = await run({ server: { url, key: 'any' }, name: 'pages', abortAfterMs: 500 })
    assert.deepEqual([thrown?.name, thrown?.isFootfallError], ['AbortError', false])
  })
}

test('a signal that is used for many calls keeps no listener, and its own reason is thrown', async (t) => {
  const { world } = await spentWorld(t, '2026-11-15T12:59:59Z')
  const server = { ...serverOf(world), waitSeconds: 1 }
  const controller = new AbortController()
  await pages(server, {}, { signal: controller.signal })
  // The fetch of Node removes its own listeners a little later.
  await eventually(async () => assert.deepEqual(getEventListeners(controller.signal, 'abort'), []))
  const reason = new Error('The page was closed')
  controller.abort(reason)
  await assert.rejects(pages(server, {}, { signal: controller.signal }), (error) => error === reason)
})

test('a date or nonsense in Retry-After is not waited for', async (t) => {
  let requests = 0
  let retryAfter = ''
  const url = await serve(t, (_request, response) => {
    requests++
    response.writeHead(503, { 'Retry-After': retryAfter }).end()
  })
  for (retryAfter of ['Sun, 15 Nov 2026 12:00:00 GMT', 'soon', '0', '-1', '']) {
    const { thrown } = await (await runners.Node!(t))({
      server: { url, key: 'any', waitSeconds: Infinity },
      name: 'pages',
    })
    assert.deepEqual([thrown?.code, thrown?.retryAfter], ['unexpected_response', undefined])
  }
  assert.equal(requests, 5)
})
