import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon, times } from '../vocabulary.ts'

const nothing = { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 }
const unknown = { visitors: null, pageviews: null, sessions: null, bounce_rate: null, avg_duration: null }
const nov14 = 'range=custom&start=2026-11-14&end=2026-11-14'

test('the whole body: both periods, the change between them, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-14T10:01:00Z', visitor: 'ann' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'bob' }),
    pageview({ at: '2026-11-15T08:00:00Z', visitor: 'ann' }),
    custom('signup', { at: '2026-11-15T08:00:30Z', visitor: 'ann' }),
    pageview({ at: '2026-11-03T09:00:00Z', visitor: 'cem' }),
    pageview({ at: '2026-11-03T09:00:00Z', visitor: 'dee' }),
    pageview({ at: '2026-11-03T09:00:40Z', visitor: 'dee' }),
  )
  const { json } = await world.get('/stats/overview', 'range=7d')
  assert.deepEqual(json, {
    data: {
      current: { visitors: 3, pageviews: 4, sessions: 3, bounce_rate: 33, avg_duration: 30 },
      previous: { visitors: 2, pageviews: 3, sessions: 2, bounce_rate: 50, avg_duration: 20 },
      change: { visitors: 50, pageviews: 33.3, sessions: 50, bounce_rate: -34, avg_duration: 50 },
    },
    meta: { site_id: world.siteId, range: '7d', generated_at: '2026-11-15T12:00:00.000Z' },
  })
})

test('without data: zeros, and every change null', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/overview'), { current: nothing, previous: nothing, change: unknown })
})

test('100 -> 150 is a change of 50, not of 150', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...times(100, () => pageview({ at: '2026-11-13T10:00:00Z' })),
    ...times(150, () => pageview({ at: '2026-11-14T10:00:00Z' })),
  )
  const { current, previous, change } = await world.data('/stats/overview', nov14)
  assert.deepEqual([previous.pageviews, current.pageviews, change.pageviews], [100, 150, 50])
})

test('change has one decimal, rounds halves away from zero, may be negative, and is null when the previous value is 0', async (t) => {
  const world = await openWorld(t, { now: noon })
  // Pageviews of 1 to 9 November; each day is compared with the day before it.
  const daily = [16, 17, 16, 15, 15, 0, 3, 1, 3]
  await world.record(
    ...daily.flatMap((count, index) => times(count, () => pageview({ at: `2026-11-0${index + 1}T10:00:00Z` }))),
  )
  const changes: (number | null)[] = []
  for (let day = 2; day <= 9; day++) {
    const data = await world.data('/stats/overview', `range=custom&start=2026-11-0${day}&end=2026-11-0${day}`)
    changes.push(data.change.pageviews)
  }
  // 6.25, -5.88…, -6.25, 0, -100, from zero, -66.66…, 200
  assert.deepEqual(changes, [6.3, -5.9, -6.3, 0, -100, null, -66.7, 200])
})

test('change is computed from the printed numbers, not from the exact ones', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    // 1.4 s, printed 1, then 2.5 s, printed 3
    pageview({ at: '2026-11-13T10:00:00.000Z' }),
    pageview({ at: '2026-11-13T10:00:01.400Z' }),
    pageview({ at: '2026-11-14T10:00:00.000Z' }),
    pageview({ at: '2026-11-14T10:00:02.500Z' }),
  )
  const { change } = await world.data('/stats/overview', nov14)
  assert.equal(change.avg_duration, 200)
})

test('each metric has change null exactly when its printed previous value is 0', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    // 0.4 s is printed as 0; two pageviews are no bounce
    pageview({ at: '2026-11-13T10:00:00.000Z' }),
    pageview({ at: '2026-11-13T10:00:00.400Z' }),
    pageview({ at: '2026-11-14T10:00:00.000Z' }),
  )
  assert.deepEqual(await world.data('/stats/overview', nov14), {
    current: { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 100, avg_duration: 0 },
    previous: { visitors: 1, pageviews: 2, sessions: 1, bounce_rate: 0, avg_duration: 0 },
    change: { visitors: 0, pageviews: -50, sessions: 0, bounce_rate: null, avg_duration: null },
  })
})

test('a small decrease is printed as 0 and never as -0', async (t) => {
  const world = await openWorld(t, { now: noon })
  const session = (day: string, seconds: number) =>
    [0, 1500, seconds].map((after) =>
      pageview({ at: new Date(Date.parse(`${day}T10:00:00Z`) + after * 1000).toISOString() }),
    )
  await world.record(...session('2026-11-13', 3001), ...session('2026-11-14', 3000))
  const { text, json } = await world.get('/stats/overview', nov14)
  assert.equal(json.data.change.avg_duration, 0)
  assert.doesNotMatch(text, /-0/)
})

test('a bounce is a session with one pageview and no custom event', async (t) => {
  const world = await openWorld(t, { now: noon })
  const at = '2026-11-14T10:00:00Z'
  await world.record(
    pageview({ at, visitor: 'bounces' }),
    pageview({ at, visitor: 'reads on' }),
    pageview({ at, visitor: 'reads on' }),
    pageview({ at, visitor: 'acts' }),
    custom('signup', { at, visitor: 'acts' }),
    custom('signup', { at, visitor: 'acts only' }),
  )
  const { current } = await world.data('/stats/overview', nov14)
  assert.deepEqual(current, { visitors: 4, pageviews: 4, sessions: 4, bounce_rate: 25, avg_duration: 0 })
})

test('bounce_rate is rounded half up: 1 of 8 is 13, and 7 of 8 are 88', async (t) => {
  const world = await openWorld(t, { now: noon })
  const sessions = (day: string, bounced: number) =>
    times(8, (index) => {
      const hit = { at: `${day}T10:00:00Z`, visitor: `${index}` }
      return index < bounced ? [pageview(hit)] : [pageview(hit), pageview(hit)]
    }).flat()
  await world.record(...sessions('2026-11-13', 1), ...sessions('2026-11-14', 7))
  const { current, previous, change } = await world.data('/stats/overview', nov14)
  // (88 - 13) / 13 = 576.92… %
  assert.deepEqual([previous.bounce_rate, current.bounce_rate, change.bounce_rate], [13, 88, 576.9])
})

test('avg_duration is whole seconds, rounded half up, over all sessions; a session of one event counts as 0', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    // 0.999 s over two sessions: 0.4995
    pageview({ at: '2026-11-13T10:00:00.000Z', visitor: 'ann' }),
    pageview({ at: '2026-11-13T10:00:00.999Z', visitor: 'ann' }),
    pageview({ at: '2026-11-13T10:00:00.000Z', visitor: 'bob' }),
    // 1 s over two sessions: 0.5
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'ann' }),
    custom('scroll', { at: '2026-11-14T10:00:01Z', visitor: 'ann' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'bob' }),
  )
  const { current, previous } = await world.data('/stats/overview', nov14)
  assert.deepEqual([previous.avg_duration, current.avg_duration], [0, 1])
})

test('a visitor is counted once per day in any number of sessions; a range is the sum of its days', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-13T09:00:00Z', session: 'morning' }),
    pageview({ at: '2026-11-13T19:00:00Z', session: 'evening' }),
    pageview({ at: '2026-11-14T09:00:00Z' }),
  )
  const { current } = await world.data('/stats/overview', 'range=7d')
  assert.deepEqual(current, { visitors: 2, pageviews: 3, sessions: 3, bounce_rate: 100, avg_duration: 0 })
})

test('a visitor with only custom events is a visitor', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(custom('signup', { at: '2026-11-14T09:00:00Z' }))
  const { current } = await world.data('/stats/overview', 'range=7d')
  assert.deepEqual(current, { visitors: 1, pageviews: 0, sessions: 1, bounce_rate: 0, avg_duration: 0 })
})

test('a hostname filter does not turn a session with hits on other hosts into a bounce', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', hostname: 'www.example' }),
    pageview({ at: '2026-11-14T10:01:30Z', hostname: 'shop.example' }),
    pageview({ at: '2026-11-14T10:00:00Z', hostname: 'www.example', visitor: 'bounces' }),
  )
  const { current } = await world.data('/stats/overview', 'range=7d&hostname=shop.example')
  assert.deepEqual(current, { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 0, avg_duration: 90 })
})

test('a session belongs entirely to the window it started in, even when it crosses the edge', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T11:50:00Z' }),
    pageview({ at: '2026-11-14T12:05:00Z' }), // the 24h windows meet at 12:00
    pageview({ at: '2026-11-14T12:30:00Z', visitor: 'later' }),
  )
  const { current, previous } = await world.data('/stats/overview', 'range=24h')
  assert.deepEqual(previous, { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 0, avg_duration: 900 })
  assert.deepEqual(current, { visitors: 2, pageviews: 2, sessions: 1, bounce_rate: 100, avg_duration: 0 })
})

test('hits without a session in the window give a bounce rate of 0 (not 4294967271), and every rate is 0 to 100', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-11-14T11:59:00Z', hostname: 'www.example' }),
    pageview({ at: '2026-11-14T12:01:00Z', hostname: 'shop.example' }),
    custom('signup', { at: '2026-11-14T12:02:00Z', hostname: 'shop.example' }),
  )
  const inside = { visitors: 1, pageviews: 1, sessions: 0, bounce_rate: 0, avg_duration: 0 }
  const all = await world.data('/stats/overview', 'range=24h')
  assert.deepEqual(all.current, inside)
  const shop = await world.data('/stats/overview', 'range=24h&hostname=shop.example')
  // Before the edge the session had no hit on that host, so it is in neither window.
  assert.deepEqual([shop.current, shop.previous], [inside, nothing])
})

test('filters and exclusions apply to the previous period too', async (t) => {
  const world = await openWorld(t, { now: noon, excludedCountries: ['FR'] })
  await world.record(
    ...(['DE', 'FR', 'US'] as const).flatMap((country) => [
      pageview({ at: '2026-11-13T10:00:00Z', visitor: country, country }),
      pageview({ at: '2026-11-14T10:00:00Z', visitor: country, country }),
    ]),
  )
  const one = { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 100, avg_duration: 0 }
  const two = { ...one, visitors: 2, pageviews: 2, sessions: 2 }
  const all = await world.data('/stats/overview', nov14)
  assert.deepEqual([all.current, all.previous], [two, two])
  const germans = await world.data('/stats/overview', `${nov14}&country=DE`)
  assert.deepEqual([germans.current, germans.previous], [one, one])
})
