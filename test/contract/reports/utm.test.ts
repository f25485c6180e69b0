import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon, times } from '../vocabulary.ts'

const at = '2026-11-14T10:00:00Z'

test('the whole body: most visitors first, without sessions that have no source, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, visitor: 'ann', utmSource: 'newsletter' }),
    pageview({ at, visitor: 'ann', utmSource: 'newsletter' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'ann', utmSource: 'newsletter' }),
    custom('signup', { at, visitor: 'bob', utmSource: 'newsletter' }),
    pageview({ at, visitor: 'cem', utmSource: 'poster' }),
    pageview({ at, visitor: 'dee' }),
  )
  const { json } = await world.get('/stats/utm', 'range=7d')
  assert.deepEqual(json, {
    data: [
      { name: 'newsletter', visitors: 3 },
      { name: 'poster', visitors: 1 },
    ],
    meta: { site_id: world.siteId, range: '7d', limit: 10, generated_at: '2026-11-15T12:00:00.000Z' },
  })
})

test('without data, or without any source: an empty list', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/utm'), [])
  await world.record(pageview({ at }))
  assert.deepEqual(await world.data('/stats/utm'), [])
})

test('a source is kept as written, and ties are in code point order', async (t) => {
  const world = await openWorld(t, { now: noon })
  const sources = ['News', 'news', 'news ', 'é', '\u{FF5E}', '\u{1F98A}']
  await world.record(...sources.toReversed().map((utmSource) => pageview({ at, visitor: utmSource, utmSource })))
  assert.deepEqual(
    await world.data('/stats/utm'),
    sources.map((name) => ({ name, visitors: 1 })),
  )
})

test('the filter is exact and case-sensitive, with any characters', async (t) => {
  const world = await openWorld(t, { now: noon })
  const sources = ['News', 'news', "it's", '\\N', '\\', '%', '"', 'a b', 'a+b', '{p0:String}', '🦊', '0', 'null']
  await world.record(...sources.map((utmSource) => pageview({ at, visitor: utmSource, utmSource })))
  for (const utm_source of sources)
    assert.deepEqual(await world.data('/stats/utm', { utm_source }), [{ name: utm_source, visitors: 1 }])
  assert.deepEqual(await world.data('/stats/utm', { utm_source: 'NEWS' }), [])
})

test('limit keeps the first rows', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(...times(12, (index) => pageview({ at, utmSource: String.fromCharCode(97 + index) })))
  assert.equal((await world.data('/stats/utm')).length, 10)
  assert.deepEqual(await world.data('/stats/utm', 'limit=1'), [{ name: 'a', visitors: 1 }])
})
