import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon } from '../vocabulary.ts'

test('the whole body: one element per day, zeros included, oldest first', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-15T08:00:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-14T10:01:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'bob' }),
    pageview({ at: '2026-11-09T00:00:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-08T23:59:59.999Z', visitor: 'ann' }),
  )
  const { json } = await world.get('/stats/timeseries', 'range=7d&limit=2')
  assert.deepEqual(json, {
    data: [
      { date: '2026-11-09', visitors: 1, pageviews: 1 },
      { date: '2026-11-10', visitors: 0, pageviews: 0 },
      { date: '2026-11-11', visitors: 0, pageviews: 0 },
      { date: '2026-11-12', visitors: 0, pageviews: 0 },
      { date: '2026-11-13', visitors: 0, pageviews: 0 },
      { date: '2026-11-14', visitors: 2, pageviews: 3 },
      { date: '2026-11-15', visitors: 1, pageviews: 1 },
    ],
    meta: { site_id: world.siteId, range: '7d', generated_at: '2026-11-15T12:00:00.000Z' },
  })
})

test('without data: every day with zeros', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/timeseries', 'range=custom&start=2026-10-31&end=2026-11-01'), [
    { date: '2026-10-31', visitors: 0, pageviews: 0 },
    { date: '2026-11-01', visitors: 0, pageviews: 0 },
  ])
})

test('a window entirely in the future has no days', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/timeseries', 'range=custom&start=2026-11-16&end=2026-11-20'), [])
})

test('a day with only custom events has visitors and no pageviews', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(custom('signup', { at: '2026-11-14T09:00:00Z' }), custom('signup', { at: '2026-11-14T09:01:00Z' }))
  assert.deepEqual(await world.data('/stats/timeseries', 'range=custom&start=2026-11-14&end=2026-11-14'), [
    { date: '2026-11-14', visitors: 1, pageviews: 0 },
  ])
})

test('24h lists the dates it touches and counts only the hits inside it', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T11:59:59.999Z', visitor: 'too early' }),
    pageview({ at: '2026-11-14T12:00:00Z', visitor: 'first' }),
    pageview({ at: '2026-11-15T11:59:59.999Z', visitor: 'last' }),
    pageview({ at: '2026-11-15T12:00:00Z', visitor: 'too late' }),
  )
  assert.deepEqual(await world.data('/stats/timeseries', 'range=24h'), [
    { date: '2026-11-14', visitors: 1, pageviews: 1 },
    { date: '2026-11-15', visitors: 1, pageviews: 1 },
  ])
})

test('the days add up to the totals of overview', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-12T10:00:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'bob' }),
    custom('signup', { at: '2026-11-15T10:00:00Z', visitor: 'cem' }),
  )
  for (const query of ['range=24h', 'range=7d', 'range=30d', 'range=90d', 'range=12m', 'range=7d&country=DE']) {
    const days: { visitors: number; pageviews: number }[] = await world.data('/stats/timeseries', query)
    const { current } = await world.data('/stats/overview', query)
    const sum = (metric: 'visitors' | 'pageviews') => days.reduce((total, day) => total + day[metric], 0)
    assert.deepEqual([sum('visitors'), sum('pageviews')], [current.visitors, current.pageviews], query)
  }
})
