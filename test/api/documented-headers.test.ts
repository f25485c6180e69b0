import assert from 'node:assert/strict'
import test from 'node:test'
import { describeApi } from '../../src/api/openapi.ts'
import { responseHeaders } from '../../src/api/openapi-text.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

/** Headers of HTTP itself, which the reference does not need to explain. */
const ordinary = /^(access-control-|connection|content-|date|keep-alive|x-content-type-options)/

const namesOf = (headers: Headers) => [...headers.keys()].filter((name) => !ordinary.test(name)).sort()

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
    await world.get('/stats/pages', '', { method: 'POST' }),
  ]
  for (let spent = 4; spent < 1000; spent++) await limiter.spend(world.key.id, 1000)
  const limited = await world.get('/stats/pages')
  assert.equal(limited.status, 429)
  for (const { headers } of [...more, limited]) for (const name of headers.keys()) seen.add(name)
  assert.deepEqual(
    namesOf(new Headers([...seen].map((name) => [name, 'x']))),
    Object.keys(responseHeaders)
      .map((name) => name.toLowerCase())
      .sort(),
  )
})

test('openapi.json has every header of every status, of a 304 too', async (t) => {
  const limiter = memoryLimiter(Date.now)
  const world = await openWorld(t, { limiter, plan: 'Starter' })
  const at = new Date(Date.now() - 60_000).toISOString()
  await world.record(pageview({ at, pathname: '/a' }), pageview({ at, pathname: '/b' }))
  const matching = { headers: { 'If-None-Match': '*' } }
  const answers: [path: string, answer: Awaited<ReturnType<typeof world.get>>][] = [
    ['/stats/pages', await world.get('/stats/pages', 'limit=1&x=1')],
    ['/stats/pages', await world.get('/stats/pages', 'limit=1&x=1', matching)],
    ['/stats/overview', await world.get('/stats/overview', 'x=1', matching)],
    ['/sites', await world.get('/sites', 'x=1', matching)],
    ['/countries', await world.get('/countries', 'x=1')],
    ['/stats/pages', await world.get('/stats/pages', 'limit=0')],
    ['/stats/pages', await world.get('/stats/pages', 'site_id=x')],
    ['/stats/pages', await world.api.fetch('/api/v1/stats/pages')],
    ['/stats/pages', await world.api.fetch('/api/v1/stats/pages/')],
    ['/stats/pages', await world.get('/stats/pages', '', { method: 'POST' })],
    ['/countries', await world.api.fetch('/api/v1/countries/')],
    ['/countries', await world.api.fetch('/api/v1/countries', { method: 'POST' })],
  ]
  const { remaining } = await limiter.spend(world.key.id, 1000)
  for (let left = remaining; left > 0; left--) await limiter.spend(world.key.id, 1000)
  answers.push(['/stats/pages', await world.get('/stats/pages')])
  // biome-ignore lint/suspicious/noExplicitAny: a description of any shape
  const { paths, components }: any = JSON.parse(JSON.stringify(describeApi()))
  for (const [path, { status, headers }] of answers) {
    const response = paths[path].get.responses[status]
    const { headers: documented } = response?.$ref ? components.responses[status] : (response ?? {})
    const names = Object.keys(documented ?? {}).map((name) => name.toLowerCase())
    assert.deepEqual(
      namesOf(headers).filter((name) => !names.includes(name)),
      [],
      `${path} ${status}`,
    )
  }
  assert.deepEqual([...new Set(answers.map(([, { status }]) => status))], [200, 304, 400, 403, 401, 404, 405, 429])
})
