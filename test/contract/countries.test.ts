import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { noon, rateLimitNames, refused } from './vocabulary.ts'

test('the countries need no key, use no quota and are sorted by code', async (t) => {
  const world = await openWorld(t, { now: noon })
  const { status, json, headers } = await world.api.fetch('/api/v1/countries')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(json), ['data', 'meta'])
  assert.deepEqual(json.meta, { generated_at: '2026-11-15T12:00:00.000Z' })
  const codes = json.data.map(({ code }: { code: string }) => code)
  assert.deepEqual(codes, codes.toSorted())
  assert.equal(new Set(codes).size, 251, '249 of ISO 3166-1, XK and ZZ')
  for (const row of json.data) assert.deepEqual(Object.keys(row), ['code', 'name'])
  for (const name of [...rateLimitNames, 'etag', 'set-cookie']) assert.equal(headers.get(name), null, name)
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('cache-control'), 'public, max-age=300')
  assert.match(headers.get('vary') ?? '', /Accept-Encoding/)
})

test('a key and parameters change nothing, HEAD works, and other methods are refused', async (t) => {
  const world = await openWorld(t, { now: noon })
  const plain = await world.api.fetch('/api/v1/countries')
  const known = await world.get('/countries', 'range=nonsense&browser=x')
  assert.deepEqual([known.status, known.text], [200, plain.text])
  const wrongKey = await world.api.fetch('/api/v1/countries', { headers: { Authorization: 'Basic x' } })
  assert.equal(wrongKey.status, 200)
  const head = await world.api.fetch('/api/v1/countries', { method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [200, ''])
  refused(await world.api.fetch('/api/v1/countries', { method: 'POST' }), 405, 'method_not_allowed')
})

test('Stats-Warning names every parameter that was sent: it takes none', async (t) => {
  const world = await openWorld(t, { now: noon })
  const warning = async (query: string) =>
    (await world.api.fetch(`/api/v1/countries?${query}`)).headers.get('stats-warning')
  assert.equal(await warning(''), null)
  assert.equal(await warning('x=1'), 'unknown parameter x was ignored')
  assert.equal(
    await warning('range=nonsense&limit=5&cursor=x'),
    'unknown parameter cursor was ignored; range has no effect on this endpoint; limit has no effect on this endpoint',
  )
})

test('its codes are those that the filter takes, and its names those that geo returns', async (t) => {
  const world = await openWorld(t, { now: noon })
  const { json } = await world.api.fetch('/api/v1/countries')
  const rows = json.data as { code: string; name: string }[]
  await world.record(
    ...rows.map(({ code }) => pageview({ at: '2026-11-15T10:00:00Z', visitor: code, country: code as 'DE' })),
  )
  for (const { code, name } of rows.filter((_row, index) => index % 25 === 0))
    assert.deepEqual(await world.data('/stats/geo', `country=${code}`), [{ name, visitors: 1 }])
  const listed = (await world.data('/stats/geo', 'limit=100')).map(({ name }: { name: string }) => name)
  assert.ok(listed.every((name: string) => rows.some((row) => row.name === name)))
})
