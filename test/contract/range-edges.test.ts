// Which hits a range contains, to the millisecond: at its edges, on long and short days, in the future and in other zones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeZone } from '../../src/accounts/sites.ts'
import { custom, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { codeOf, noon, reportNames } from './vocabulary.ts'

test('a window entirely in the future is empty, even one far ahead', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', referrer: 'a.example', utmSource: 'a' }),
    custom('signup', { at: '2026-11-14T10:00:00Z' }),
  )
  // 2149-06-06 is the last day a ClickHouse Date can hold.
  for (const day of ['2026-11-16', '2149-06-06', '2149-06-07', '2149-06-08', '2200-01-01', '9999-12-31']) {
    const query = `range=custom&start=${day}&end=9999-12-31`
    for (const name of reportNames.filter((report) => report !== 'overview'))
      assert.deepEqual(await world.data(`/stats/${name}`, query), [], `${name} ${day}`)
    const { current, change } = await world.data('/stats/overview', query)
    assert.deepEqual(current, { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 })
    assert.equal(change.visitors, null)
  }
})

test('a window that begins now is empty', async (t) => {
  const world = await openWorld(t, { now: '2026-11-15T00:00:00Z' })
  assert.deepEqual(await world.data('/stats/timeseries', 'range=custom&start=2026-11-15&end=2026-11-15'), [])
})

test('the longest custom window, once cut at now, is 100 years', async (t) => {
  const world = await openWorld(t, { now: noon })
  const codes: Record<string, string> = {
    'start=1926-11-16&end=2026-11-15': 'ok',
    'start=1926-11-16&end=9999-12-31': 'ok',
    'start=1926-11-15&end=2026-11-14': 'ok',
    'start=1926-11-15&end=2026-11-15': 'invalid_date',
    'start=1926-11-15&end=9999-12-31': 'invalid_date',
    'start=0001-01-01&end=0100-12-31': 'ok',
    'start=0001-01-01&end=0101-01-01': 'invalid_date',
    'start=0001-01-01&end=9999-12-31': 'invalid_date',
  }
  for (const [query, code] of Object.entries(codes))
    assert.equal(codeOf(await world.get('/stats/overview', `range=custom&${query}`)), code, query)
})

test('no instant is in both windows, and none between them is lost', async (t) => {
  const custom2 = 'range=custom&start=2026-11-11&end=2026-11-12'
  const edges: [query: string, at: string, counted: [previous: number, current: number]][] = [
    ['range=24h', '2026-11-13T11:59:59.999Z', [0, 0]],
    ['range=24h', '2026-11-13T12:00:00.000Z', [1, 0]],
    ['range=24h', '2026-11-14T11:59:59.999Z', [1, 0]],
    ['range=24h', '2026-11-14T12:00:00.000Z', [0, 1]],
    ['range=24h', '2026-11-15T11:59:59.999Z', [0, 1]],
    ['range=24h', '2026-11-15T12:00:00.000Z', [0, 0]],
    ['range=7d', '2026-11-01T23:59:59.999Z', [0, 0]],
    ['range=7d', '2026-11-02T00:00:00.000Z', [1, 0]],
    ['range=7d', '2026-11-08T11:59:59.999Z', [1, 0]],
    ['range=7d', '2026-11-08T12:00:00.000Z', [0, 0]], // the part of the afternoon that today has not reached yet
    ['range=7d', '2026-11-08T23:59:59.999Z', [0, 0]],
    ['range=7d', '2026-11-09T00:00:00.000Z', [0, 1]],
    ['range=7d', '2026-11-15T11:59:59.999Z', [0, 1]],
    ['range=7d', '2026-11-15T12:00:00.000Z', [0, 0]],
    [custom2, '2026-11-08T23:59:59.999Z', [0, 0]],
    [custom2, '2026-11-09T00:00:00.000Z', [1, 0]],
    [custom2, '2026-11-10T23:59:59.999Z', [1, 0]],
    [custom2, '2026-11-11T00:00:00.000Z', [0, 1]],
    [custom2, '2026-11-12T23:59:59.999Z', [0, 1]],
    [custom2, '2026-11-13T00:00:00.000Z', [0, 0]],
  ]
  const world = await openWorld(t, { now: noon })
  await world.record(...edges.map(([, at], index) => pageview({ at, hostname: `edge-${index}`, visitor: `${index}` })))
  for (const [index, [query, at, counted]] of edges.entries()) {
    const { current, previous } = await world.data('/stats/overview', `${query}&hostname=edge-${index}`)
    for (const metric of ['visitors', 'pageviews', 'sessions'])
      assert.deepEqual([previous[metric], current[metric]], counted, `${query} ${at} ${metric}`)
  }
})

test('a day of 25 hours and a day of 23 hours are one row each', async (t) => {
  const world = await openWorld(t, { zone: 'Europe/Berlin', now: noon })
  await world.record(
    ...['2026-10-24T21:59:59.999Z', '2026-10-24T22:00:00Z', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map(
      (at, index) => pageview({ at, visitor: `autumn ${index}` }),
    ),
    ...['2026-10-25T22:59:59.999Z', '2026-10-25T23:00:00Z'].map((at) => pageview({ at, visitor: at })),
    ...['2026-03-28T23:00:00Z', '2026-03-29T21:59:59.999Z', '2026-03-29T22:00:00Z'].map((at) => pageview({ at })),
  )
  assert.deepEqual(await world.data('/stats/timeseries', 'range=custom&start=2026-10-24&end=2026-10-26'), [
    { date: '2026-10-24', visitors: 1, pageviews: 1 },
    { date: '2026-10-25', visitors: 4, pageviews: 4 },
    { date: '2026-10-26', visitors: 1, pageviews: 1 },
  ])
  assert.deepEqual(await world.data('/stats/timeseries', 'range=custom&start=2026-03-29&end=2026-03-30'), [
    { date: '2026-03-29', visitors: 1, pageviews: 2 },
    { date: '2026-03-30', visitors: 1, pageviews: 1 },
  ])
})

test('days follow the time zone of the site, also at +5:45', async (t) => {
  const world = await openWorld(t, { zone: 'Asia/Kathmandu', now: noon })
  await world.record(pageview({ at: '2026-11-13T18:14:59.999Z' }), pageview({ at: '2026-11-13T18:15:00Z' }))
  assert.deepEqual(await world.data('/stats/timeseries', 'range=custom&start=2026-11-13&end=2026-11-14'), [
    { date: '2026-11-13', visitors: 1, pageviews: 1 },
    { date: '2026-11-14', visitors: 1, pageviews: 1 },
  ])
})

test('a change of time zone moves no event recorded before it', async (t) => {
  const world = await openWorld(t, { zone: 'UTC', now: '2026-11-20T12:00:00Z' })
  await world.record(pageview({ at: '2026-11-14T20:00:00Z' }))
  await setTimeZone(world.stores.postgres, world.siteId, 'Asia/Tokyo')
  world.api.directory.forget(world.siteId)
  await world.record(pageview({ at: '2026-11-16T20:00:00Z', day: '2026-11-17' })) // recorded with the date of Tokyo
  const { json, headers } = await world.get('/stats/timeseries', 'range=custom&start=2026-11-14&end=2026-11-17')
  assert.deepEqual(json.data, [
    { date: '2026-11-14', visitors: 1, pageviews: 1 },
    { date: '2026-11-15', visitors: 0, pageviews: 0 },
    { date: '2026-11-16', visitors: 0, pageviews: 0 },
    { date: '2026-11-17', visitors: 1, pageviews: 1 },
  ])
  assert.equal(headers.get('stats-period'), '2026-11-14T00:00:00+09:00/2026-11-18T00:00:00+09:00')
})
