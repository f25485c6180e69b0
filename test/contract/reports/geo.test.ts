import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CountryCode } from '../../../src/traffic/country.ts'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon } from '../vocabulary.ts'

const at = '2026-11-14T10:00:00Z'

test('the whole body: countries by their English names, most visitors first, Unknown included, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, visitor: 'ann', country: 'FR' }),
    pageview({ at, visitor: 'ann', country: 'FR' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'ann', country: 'FR' }),
    custom('signup', { at, visitor: 'bob', country: 'FR' }),
    pageview({ at, visitor: 'cem', country: 'ZZ' }),
    pageview({ at, visitor: 'dee', country: 'ZZ' }),
    pageview({ at, visitor: 'eve', country: 'US' }),
  )
  const { json } = await world.get('/stats/geo', 'range=7d&limit=100')
  assert.deepEqual(json, {
    data: [
      { name: 'France', visitors: 3 },
      { name: 'Unknown', visitors: 2 },
      { name: 'United States', visitors: 1 },
    ],
    meta: { site_id: world.siteId, range: '7d', limit: 100, generated_at: '2026-11-15T12:00:00.000Z' },
  })
  assert.equal((await world.data('/stats/overview', 'range=7d')).current.visitors, 6)
})

test('without data: an empty list', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/geo'), [])
})

test('ties are ordered by the printed name in code point order, not by the country code', async (t) => {
  const world = await openWorld(t, { now: noon })
  const tied: CountryCode[] = ['AX', 'CH', 'DE', 'GB', 'SE', 'XK', 'ZA', 'ZZ']
  await world.record(...tied.map((country) => pageview({ at, visitor: country, country })))
  const names = [
    'Germany',
    'Kosovo',
    'South Africa',
    'Sweden',
    'Switzerland',
    'United Kingdom',
    'Unknown',
    'Åland Islands',
  ]
  for (const limit of [1, 5, 8])
    assert.deepEqual(
      await world.data('/stats/geo', `limit=${limit}`),
      names.slice(0, limit).map((name) => ({ name, visitors: 1 })),
    )
})

test('the unknown country can be filtered on like any other', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(pageview({ at, visitor: 'ann', country: 'ZZ' }), pageview({ at, visitor: 'bob', country: 'DE' }))
  assert.deepEqual(await world.data('/stats/geo', 'country=zz'), [{ name: 'Unknown', visitors: 1 }])
  assert.deepEqual(await world.data('/stats/geo', 'country=de'), [{ name: 'Germany', visitors: 1 }])
})
