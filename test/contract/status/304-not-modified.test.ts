import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageview } from '../../support/events.ts'
import { openWorld, type World } from '../../support/world.ts'
import { as, newAccountKey, newSite, noon, rateLimitOf, reportNames } from '../vocabulary.ts'

const tagOf = async (world: World, path: string, query = '') =>
  (await world.get(path, query)).headers.get('etag') as string

const ifNoneMatch = (value: string, method = 'GET') => ({ method, headers: { 'If-None-Match': value } })

test('every report returns 304 without a body for its own tag', async (t) => {
  const world = await openWorld(t, { now: noon })
  for (const name of reportNames) {
    const tag = await tagOf(world, `/stats/${name}`)
    assert.match(tag, /^W\/"[^"]+"$/)
    const answer = await world.get(`/stats/${name}`, '', ifNoneMatch(tag))
    assert.equal(answer.status, 304)
    assert.equal(answer.text, '')
    assert.equal(answer.headers.get('etag'), tag)
    assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
    assert.equal(
      answer.headers.get('vary'),
      name === 'overview' ? 'Authorization, Accept-Encoding' : 'Authorization, Accept, Accept-Encoding',
    )
  }
})

test('the tag is compared weakly and in lists, and * matches anything', async (t) => {
  const world = await openWorld(t, { now: noon })
  const tag = await tagOf(world, '/stats/pages')
  const strong = tag.slice(2)
  for (const value of [tag, strong, `"x", ${tag}`, `${tag},"x"`, `"x" , ${strong} , W/"y"`, '*'])
    assert.equal((await world.get('/stats/pages', '', ifNoneMatch(value))).status, 304, value)
  for (const value of ['"x"', 'W/"x"', strong.slice(1, -1), ''])
    assert.equal((await world.get('/stats/pages', '', ifNoneMatch(value))).status, 200, value)
})

test('HEAD answers 304 as GET does', async (t) => {
  const world = await openWorld(t, { now: noon })
  const tag = await tagOf(world, '/stats/geo')
  assert.equal((await world.get('/stats/geo', '', ifNoneMatch(tag, 'HEAD'))).status, 304)
})

test('the tag does not depend on generated_at: the same numbers later are not modified', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(pageview({ at: '2026-11-14T10:00:00Z' }))
  const tag = await tagOf(world, '/stats/pages')
  world.setNow('2026-11-15T13:00:00Z')
  assert.equal((await world.get('/stats/pages', '', ifNoneMatch(tag))).status, 304)
})

test('new numbers have a new tag', async (t) => {
  const world = await openWorld(t, { now: noon })
  const tag = await tagOf(world, '/stats/pages')
  await world.record(pageview({ at: '2026-11-14T10:00:00Z' }))
  const answer = await world.get('/stats/pages', '', ifNoneMatch(tag))
  assert.equal(answer.status, 200)
  assert.notEqual(answer.headers.get('etag'), tag)
})

test('the tag differs by endpoint, site and parameters, even when the data are equal', async (t) => {
  const world = await openWorld(t, { now: noon })
  const key = await newAccountKey(world)
  const other = await newSite(world)
  const tags = [
    await tagOf(world, '/stats/pages'),
    await tagOf(world, '/stats/utm'),
    await tagOf(world, '/stats/pages', 'limit=9'),
    await tagOf(world, '/stats/pages', 'range=7d'),
    await tagOf(world, '/stats/pages', 'country=DE'),
    (await world.get('/stats/pages', { site_id: other }, as(key.text))).headers.get('etag'),
  ]
  assert.equal(new Set(tags).size, tags.length)
})

test('a 304 is counted', async (t) => {
  const world = await openWorld(t, { now: noon })
  const first = await world.get('/stats/pages')
  const answer = await world.get('/stats/pages', '', ifNoneMatch(first.headers.get('etag') as string))
  assert.equal(answer.status, 304)
  assert.equal(rateLimitOf(answer)?.remaining, (rateLimitOf(first)?.remaining as number) - 1)
})

test('an error response never becomes a 304', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.equal((await world.get('/stats/pages', 'limit=0', ifNoneMatch('*'))).status, 400)
  assert.equal((await world.api.fetch('/api/v1/stats/pages', ifNoneMatch('*'))).status, 401)
})
