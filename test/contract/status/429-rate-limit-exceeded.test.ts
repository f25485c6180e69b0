import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryLimiter } from '../../../src/api/rate-limit.ts'
import { openWorld } from '../../support/world.ts'
import { noon, rateLimitOf, refused, reportNames, times } from '../vocabulary.ts'

test('over the limit every endpoint returns 429 and says when to retry', async (t) => {
  const limiter = memoryLimiter(() => Date.parse(noon))
  const world = await openWorld(t, { plan: 'Starter', now: noon, limiter })
  await Promise.all(times(1000, () => limiter.spend(world.key.id, 1000)))
  for (const name of reportNames) {
    const answer = await world.get(`/stats/${name}`)
    refused(answer, 429, 'rate_limit_exceeded')
    assert.deepEqual(rateLimitOf(answer), {
      limit: 1000,
      remaining: 0,
      reset: Date.parse('2026-11-15T13:00:00Z') / 1000,
    })
    assert.equal(answer.headers.get('retry-after'), '3600')
    assert.match(answer.json.error.message, /X-RateLimit-Reset/)
  }
})

test('Retry-After is at least 1 until the last millisecond of the window', async (t) => {
  let at = Date.parse(noon)
  const limiter = memoryLimiter(() => at)
  const world = await openWorld(t, { plan: 'Starter', now: noon, limiter })
  await Promise.all(times(1000, () => limiter.spend(world.key.id, 1000)))
  for (const [now, seconds] of [
    ['2026-11-15T12:59:30.000Z', '30'],
    ['2026-11-15T12:59:30.001Z', '30'],
    ['2026-11-15T12:59:59.000Z', '1'],
    ['2026-11-15T12:59:59.999Z', '1'],
  ] as const) {
    at = Date.parse(now)
    world.setNow(now)
    assert.equal((await world.get('/stats/overview')).headers.get('retry-after'), seconds)
  }
})

test('Retry-After is the rest of the window, never more than an hour, even in a window that begins within a second', async (t) => {
  let at = Date.parse('2026-11-15T12:00:00.900Z')
  const limiter = memoryLimiter(() => at)
  const world = await openWorld(t, { plan: 'Starter', now: noon, limiter })
  await Promise.all(times(1000, () => limiter.spend(world.key.id, 1000)))
  for (const [now, seconds] of [
    ['2026-11-15T12:00:00.900Z', '3600'],
    ['2026-11-15T12:00:01.899Z', '3600'],
    ['2026-11-15T12:00:01.900Z', '3599'],
    ['2026-11-15T13:00:00.899Z', '1'],
  ] as const) {
    at = Date.parse(now)
    world.setNow(now)
    assert.equal((await world.get('/stats/overview')).headers.get('retry-after'), seconds, now)
  }
})
