import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon, times } from '../vocabulary.ts'

const at = '2026-11-14T10:00:00Z'

test('the whole body: most views first, without sessions that have no referrer, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, visitor: 'ann', referrer: 'news.example' }),
    pageview({ at, visitor: 'ann', referrer: 'news.example' }),
    pageview({ at, visitor: 'bob', referrer: 'search.example' }),
    pageview({ at, visitor: 'cem', referrer: 'news.example' }),
    pageview({ at, visitor: 'dee' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'ann', referrer: 'news.example' }),
  )
  const { json } = await world.get('/stats/referrers', 'range=7d&limit=5')
  assert.deepEqual(json, {
    data: [
      { referrer: 'news.example', views: 4, visitors: 3 },
      { referrer: 'search.example', views: 1, visitors: 1 },
    ],
    meta: { site_id: world.siteId, range: '7d', limit: 5, generated_at: '2026-11-15T12:00:00.000Z' },
  })
})

test('without data, or without any referrer: an empty list', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/referrers'), [])
  await world.record(pageview({ at }))
  assert.deepEqual(await world.data('/stats/referrers'), [])
})

test('a referrer whose visitors sent only custom events has 0 views and stays in the list', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    custom('signup', { at, visitor: 'ann', referrer: 'quiet.example' }),
    pageview({ at, visitor: 'bob', referrer: 'news.example' }),
  )
  assert.deepEqual(await world.data('/stats/referrers'), [
    { referrer: 'news.example', views: 1, visitors: 1 },
    { referrer: 'quiet.example', views: 0, visitors: 1 },
  ])
})

test('ties are ordered by visitors, then by referrer in code point order', async (t) => {
  const world = await openWorld(t, { now: noon })
  const tied = ['b.example', 'a.example', '\u{1F98A}.example', '\u{FF5E}.example', 'ä.example', '1.example']
  await world.record(
    ...tied.flatMap((referrer) => times(2, () => pageview({ at, referrer, visitor: referrer }))),
    ...['ann', 'bob'].map((visitor) => pageview({ at, visitor, referrer: 'two.example' })),
  )
  assert.deepEqual(await world.data('/stats/referrers'), [
    { referrer: 'two.example', views: 2, visitors: 2 },
    { referrer: '1.example', views: 2, visitors: 1 },
    { referrer: 'a.example', views: 2, visitors: 1 },
    { referrer: 'b.example', views: 2, visitors: 1 },
    { referrer: 'ä.example', views: 2, visitors: 1 },
    { referrer: '\u{FF5E}.example', views: 2, visitors: 1 },
    { referrer: '\u{1F98A}.example', views: 2, visitors: 1 },
  ])
})

test('a visitor who came from two referrers in a day is counted once in each row', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T08:00:00Z', session: 'one', referrer: 'a.example' }),
    pageview({ at: '2026-11-14T12:00:00Z', session: 'two', referrer: 'b.example' }),
    pageview({ at: '2026-11-14T18:00:00Z', session: 'three', referrer: 'a.example' }),
  )
  assert.deepEqual(await world.data('/stats/referrers'), [
    { referrer: 'a.example', views: 2, visitors: 1 },
    { referrer: 'b.example', views: 1, visitors: 1 },
  ])
})

test('limit keeps the first rows', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(...times(12, (index) => pageview({ at, referrer: `${String.fromCharCode(97 + index)}.example` })))
  assert.equal((await world.data('/stats/referrers')).length, 10)
  assert.deepEqual(await world.data('/stats/referrers', 'limit=1'), [{ referrer: 'a.example', views: 1, visitors: 1 }])
})
