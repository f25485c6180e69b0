import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon } from '../vocabulary.ts'

const at = '2026-11-14T10:00:00Z'

test('the whole body: most visitors first, Unknown included, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, visitor: 'ann', device: 'Mobile' }),
    pageview({ at, visitor: 'ann', device: 'Mobile' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'ann', device: 'Mobile' }),
    custom('signup', { at, visitor: 'bob', device: 'Mobile' }),
    pageview({ at, visitor: 'cem', device: 'Desktop' }),
    pageview({ at, visitor: 'dee', device: 'Unknown' }),
    pageview({ at, visitor: 'eve', device: 'Unknown' }),
  )
  const { json } = await world.get('/stats/devices', 'range=7d')
  assert.deepEqual(json, {
    data: [
      { name: 'Mobile', visitors: 3 },
      { name: 'Unknown', visitors: 2 },
      { name: 'Desktop', visitors: 1 },
    ],
    meta: { site_id: world.siteId, range: '7d', limit: 10, generated_at: '2026-11-15T12:00:00.000Z' },
  })
  assert.equal((await world.data('/stats/overview', 'range=7d')).current.visitors, 6)
})

test('without data: an empty list', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/devices'), [])
})

test('ties are ordered by name, with every limit', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...(['Unknown', 'Tablet', 'Mobile', 'Desktop'] as const).map((device) => pageview({ at, visitor: device, device })),
  )
  const all = ['Desktop', 'Mobile', 'Tablet', 'Unknown'].map((name) => ({ name, visitors: 1 }))
  for (const limit of [1, 2, 3, 4, 5])
    assert.deepEqual(await world.data('/stats/devices', `limit=${limit}`), all.slice(0, limit))
})

test('a device label works as a filter', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(pageview({ at, visitor: 'ann', device: 'Tablet' }), pageview({ at, visitor: 'bob' }))
  for (const device of ['Tablet', 'tablet', 'TABLET'])
    assert.deepEqual(await world.data('/stats/devices', { device }), [{ name: 'Tablet', visitors: 1 }])
  assert.deepEqual(await world.data('/stats/devices', 'device=mobile'), [])
})
