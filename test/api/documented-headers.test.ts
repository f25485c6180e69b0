import assert from 'node:assert/strict'
import test from 'node:test'
import { responseHeaders } from '../../src/api/openapi-text.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

/** Headers of HTTP itself, which the reference does not need to explain. */
const ordinary =
  /^(access-control-|cache-control|connection|content-|date|keep-alive|vary|www-authenticate|x-content-type-options|allow$)/

test('the reference names every header of a response, and no others', async (t) => {
  const limiter = memoryLimiter(Date.now)
  const world = await openWorld(t, { limiter, plan: 'Starter' })
  const first = await world.get('/stats/overview', 'unknown=1')
  const seen = new Set([...first.headers.keys()])
  const at = new Date(Date.now() - 60_000).toISOString()
  await world.record(pageview({ at, pathname: '/a' }), pageview({ at, pathname: '/b' }))
  const more = [
    await world.get('/stats/pages', 'limit=1'),
    await world.get('/stats/overview', '', { headers: { 'If-None-Match': '*' } }),
    await world.get('/stats/pages', 'limit=0'),
    await world.api.fetch('/api/v1/stats/pages'),
    await world.api.fetch('/nowhere'),
  ]
  for (let spent = 4; spent < 1000; spent++) await limiter.spend(world.key.id, 1000)
  const limited = await world.get('/stats/pages')
  assert.equal(limited.status, 429)
  for (const { headers } of [...more, limited]) for (const name of headers.keys()) seen.add(name)
  assert.deepEqual(
    [...seen].filter((name) => !ordinary.test(name)).sort(),
    Object.keys(responseHeaders)
      .map((name) => name.toLowerCase())
      .sort(),
  )
})
