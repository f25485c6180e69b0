import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon, times } from '../vocabulary.ts'

const at = '2026-11-14T10:00:00Z'

test('the whole body: each channel with its share, most visitors first, without a limit, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...times(4, (index) => pageview({ at, visitor: `direct ${index}` })),
    ...times(3, (index) => pageview({ at, visitor: `search ${index}`, channel: 'Organic Search' })),
    custom('signup', { at, visitor: 'social', channel: 'Organic Social' }),
  )
  const { json } = await world.get('/stats/channels', 'range=7d&limit=1')
  assert.deepEqual(json, {
    data: [
      { channel: 'Direct', visitors: 4, percentage: 50 },
      { channel: 'Organic Search', visitors: 3, percentage: 38 }, // 37.5
      { channel: 'Organic Social', visitors: 1, percentage: 13 }, // 12.5
    ],
    meta: { site_id: world.siteId, range: '7d', generated_at: '2026-11-15T12:00:00.000Z' },
  })
})

test('without data: an empty list', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/channels'), [])
})

test('percentage is rounded half up: 1 of 200 is 1, and 199 of 200 are 100', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...times(199, (index) => pageview({ at, visitor: `${index}` })),
    pageview({ at, visitor: 'one', channel: 'Email' }),
  )
  assert.deepEqual(await world.data('/stats/channels'), [
    { channel: 'Direct', visitors: 199, percentage: 100 },
    { channel: 'Email', visitors: 1, percentage: 1 },
  ])
})

test('a share below half a percent is 0 and its row stays', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...times(200, (index) => pageview({ at, visitor: `${index}` })),
    pageview({ at, visitor: 'one', channel: 'Email' }),
  )
  assert.deepEqual(await world.data('/stats/channels'), [
    { channel: 'Direct', visitors: 200, percentage: 100 }, // 99.502…
    { channel: 'Email', visitors: 1, percentage: 0 }, // 0.497…
  ])
})

test('a visitor who arrived through two channels in a day is in both, so shares may add up to more than 100', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T08:00:00Z', session: 'one', channel: 'Email' }),
    pageview({ at: '2026-11-14T18:00:00Z', session: 'two', channel: 'Direct' }),
  )
  assert.deepEqual(await world.data('/stats/channels'), [
    { channel: 'Direct', visitors: 1, percentage: 100 },
    { channel: 'Email', visitors: 1, percentage: 100 },
  ])
})

test('every channel of the closed list is shown by its label, ties in code point order, without a limit of ten', async (t) => {
  const world = await openWorld(t, { now: noon })
  const labels = [
    'AI Assistants',
    'Affiliates',
    'Audio',
    'Cross-network',
    'Direct',
    'Display',
    'Email',
    'Mobile Push Notifications',
    'Organic Search',
    'Organic Shopping',
    'Organic Social',
    'Organic Video',
    'Paid Other',
    'Paid Search',
    'Paid Shopping',
    'Paid Social',
    'Paid Video',
    'Referral',
    'SMS',
  ] as const
  await world.record(...labels.toReversed().map((channel) => pageview({ at, visitor: channel, channel })))
  assert.deepEqual(
    await world.data('/stats/channels'),
    labels.map((channel) => ({ channel, visitors: 1, percentage: 5 })), // 1/19 = 5.26…
  )
})

test('percentage is the share of the visitors that overview shows with the same filters', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, visitor: 'ann', channel: 'Email', country: 'FR' }),
    pageview({ at, visitor: 'bob', channel: 'Direct', country: 'FR' }),
    ...times(8, (index) => pageview({ at, visitor: `${index}`, country: 'DE' })),
  )
  assert.deepEqual(await world.data('/stats/channels', 'country=FR'), [
    { channel: 'Direct', visitors: 1, percentage: 50 },
    { channel: 'Email', visitors: 1, percentage: 50 },
  ])
  assert.equal((await world.data('/stats/overview', 'country=FR')).current.visitors, 2)
})
