import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon, times } from '../vocabulary.ts'

const at = '2026-11-14T10:00:00Z'

test('the whole body: most frequent first, without pageviews, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...times(9, () => pageview({ at })),
    custom('signup', { at, visitor: 'ann' }),
    custom('signup', { at, visitor: 'ann' }),
    custom('signup', { at, visitor: 'bob' }),
    custom('signup', { at: '2026-11-13T10:00:00Z', visitor: 'ann' }),
    custom('purchase', { at, visitor: 'bob' }),
  )
  const { json } = await world.get('/stats/events', 'range=7d')
  assert.deepEqual(json, {
    data: [
      { name: 'signup', count: 4, visitors: 3 },
      { name: 'purchase', count: 1, visitors: 1 },
    ],
    meta: { site_id: world.siteId, range: '7d', limit: 10, generated_at: '2026-11-15T12:00:00.000Z' },
  })
})

test('without custom events: an empty list', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(pageview({ at }))
  assert.deepEqual(await world.data('/stats/events'), [])
})

test('an event named 404 stays a string, like every name that looks like another type', async (t) => {
  const world = await openWorld(t, { now: noon })
  const names = ['1e5', '404', 'NaN', '__proto__', 'null', 'true']
  await world.record(...names.map((name) => custom(name, { at })))
  const { text, json } = await world.get('/stats/events')
  assert.deepEqual(
    json.data,
    names.map((name) => ({ name, count: 1, visitors: 1 })),
  )
  assert.match(text, /"name":"404"/)
})

test('ties are ordered by visitors, then by name in code point order', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...['\u{1F98A}', '\u{FF5E}', 'é', 'b', 'a', 'Z', 'Pageview'].flatMap((name) =>
      times(2, () => custom(name, { at })),
    ),
    ...['ann', 'bob'].map((visitor) => custom('two', { at, visitor })),
  )
  const rows: { name: string }[] = await world.data('/stats/events')
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['two', 'Pageview', 'Z', 'a', 'b', 'é', '\u{FF5E}', '\u{1F98A}'],
  )
})

test('limit keeps the first rows', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(...times(12, (index) => custom(String.fromCharCode(97 + index), { at })))
  assert.equal((await world.data('/stats/events')).length, 10)
  assert.deepEqual(await world.data('/stats/events', 'limit=2'), [
    { name: 'a', count: 1, visitors: 1 },
    { name: 'b', count: 1, visitors: 1 },
  ])
})
