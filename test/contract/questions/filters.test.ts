// What filters keep and what they count (D-233), on visits that a person can count by hand.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createGoal } from '../../../src/accounts/goals.ts'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon } from '../vocabulary.ts'

/** One visit: /pricing, then two events on /join. Another: one pageview of /pricing, from a search. */
async function openShop(t: TestContext) {
  const world = await openWorld(t, { now: noon })
  const { postgres } = world.stores
  await createGoal(postgres, world.siteId, { name: 'Signup', condition: { kind: 'event', event: 'Signup' } })
  await createGoal(postgres, world.siteId, { name: 'Buy', condition: { kind: 'event', event: 'Buy' } })
  await createGoal(postgres, world.siteId, { name: 'Prices', condition: { kind: 'path', pattern: '/pri*' } })
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'ada', pathname: '/pricing' }),
    custom('Signup', { at: '2026-11-14T10:01:00Z', visitor: 'ada', pathname: '/join', props: { plan: 'free' } }),
    custom('Buy', {
      at: '2026-11-14T10:02:00Z',
      visitor: 'ada',
      pathname: '/join',
      props: { plan: 'pro' },
      revenue: { amount: 990, currency: 'EUR' },
    }),
    pageview({
      at: '2026-11-14T11:00:00Z',
      visitor: 'bob',
      pathname: '/pricing',
      referrer: 'search.example',
      channel: 'Organic Search',
    }),
  )
  const ask = async (kind: string, query: string) => {
    const answer = await world.ask(kind, `range=7d&${query}`)
    assert.equal(answer.status, 200, `${query}: ${answer.text}`)
    return answer.json.data
  }
  return { ask, answer: world.ask }
}

test('a session is kept if one hit satisfies all filters on events and properties at once', async (t) => {
  const { ask } = await openShop(t)
  const visitors = async (query: string) => (await ask('totals', `metrics=visitors&${query}`)).visitors
  assert.equal(await visitors('filter=event:is:Signup&filter=prop:plan:is:pro'), 0)
  assert.equal(await visitors('filter=event:is:Buy&filter=prop:plan:is:pro'), 1)
  assert.equal(await visitors('filter=event:is_not:Signup'), 1)
  assert.equal(await visitors('filter=event:is:'), 1)
  assert.equal(await visitors('filter=event:is_not:'), 1)
  assert.equal(await visitors('filter=prop:plan:is:'), 1)
  assert.equal(await visitors('filter=goal:is:Signup'), 1)
  assert.equal(await visitors('filter=goal:is_not:Signup'), 1)
  assert.equal(await visitors('filter=goal:is:Prices'), 2)
})

test('a value may have commas and backslashes, also at its end', async (t) => {
  const world = await openWorld(t, { now: noon })
  const at = '2026-11-14T10:00:00Z'
  await world.record(
    pageview({ at, visitor: 'ada', pathname: '/a,' }),
    pageview({ at, visitor: 'bob', pathname: '/b\\' }),
    pageview({ at, visitor: 'eve', pathname: '/c', referrer: 'x,' }),
  )
  const visitors = async (filter: string) =>
    (await world.ask('totals', { range: '7d', metrics: 'visitors', filter })).json.data?.visitors
  assert.equal(await visitors('page:is:/a\\,'), 1)
  assert.equal(await visitors('page:is:/a\\,,/b\\\\'), 2)
  assert.equal(await visitors('page:contains:\\,'), 1)
  // No empty value comes after it: two visitors have no referrer.
  assert.equal(await visitors('referrer:is:x\\,'), 1)
  assert.equal(await visitors('referrer:is:x\\,,'), 3)
})

test('contains and starts_with take texts as they are, one or several', async (t) => {
  const world = await openWorld(t, { now: noon })
  const paths = ['/a.b', '/axb', '/(café)*', '/caf', '/[x]|\\d', '/A.B']
  await world.record(...paths.map((pathname) => pageview({ at: '2026-11-14T10:00:00Z', visitor: pathname, pathname })))
  const pages = async (filter: string) => {
    const query = { by: 'page', range: '7d', order: 'visitors:asc', filter }
    return (await world.ask('breakdown', query)).json.data.map(({ page }: { page: string }) => page)
  }
  assert.deepEqual(await pages('page:contains:a.b'), ['/a.b'])
  assert.deepEqual(await pages('page:contains:a.b,é)*'), ['/(café)*', '/a.b'])
  assert.deepEqual(await pages('page:contains:.,|\\\\d'), ['/A.B', '/[x]|\\d', '/a.b'])
  assert.deepEqual(await pages('page:starts_with:/a.'), ['/a.b'])
  assert.deepEqual(await pages('page:starts_with:a,/(c,/[x]'), ['/(café)*', '/[x]|\\d'])
})

test('conversions are visitors of a day whose session reached the goal, wherever that happened', async (t) => {
  const { ask } = await openShop(t)
  const query = 'metrics=visitors,conversions,conversion_rate'
  assert.deepEqual(await ask('totals', `${query}&goal=Signup&filter=page:is:/pricing`), {
    visitors: 2,
    conversions: 1,
    conversion_rate: 50,
  })
  assert.deepEqual(await ask('totals', `${query}&goal=Buy&filter=event:is:Signup`), {
    visitors: 1,
    conversions: 1,
    conversion_rate: 100,
  })
  assert.deepEqual(await ask('totals', 'metrics=revenue:EUR,revenue:USD'), { 'revenue:EUR': 990, 'revenue:USD': 0 })
  assert.deepEqual(await ask('totals', 'metrics=revenue:EUR&goal=Signup'), { 'revenue:EUR': 0 })
  assert.deepEqual(await ask('breakdown', 'by=goal&metrics=visitors,events,conversion_rate'), [
    { goal: 'Prices', visitors: 2, events: 0, conversion_rate: 100 },
    { goal: 'Buy', visitors: 1, events: 1, conversion_rate: 50 },
    { goal: 'Signup', visitors: 1, events: 1, conversion_rate: 50 },
  ])
})

test('rows of pages, properties, entry pages and referrers', async (t) => {
  const { ask } = await openShop(t)
  assert.deepEqual(await ask('breakdown', 'by=page'), [{ page: '/pricing', visitors: 2, pageviews: 2 }])
  assert.deepEqual(await ask('breakdown', 'by=page&metrics=visitors,pageviews,events,sessions,bounce_rate'), [
    { page: '/pricing', visitors: 2, pageviews: 2, events: 0, sessions: 2, bounce_rate: 50 },
    { page: '/join', visitors: 0, pageviews: 0, events: 2, sessions: 0, bounce_rate: 0 },
  ])
  assert.deepEqual(await ask('breakdown', 'by=prop:plan&metrics=visitors,events,pageviews,sessions'), [
    { 'prop:plan': 'free', visitors: 1, events: 1, pageviews: 0, sessions: 1 },
    { 'prop:plan': 'pro', visitors: 1, events: 1, pageviews: 0, sessions: 1 },
  ])
  assert.deepEqual(await ask('breakdown', 'by=event'), [
    { event: 'Buy', visitors: 1, events: 1 },
    { event: 'Signup', visitors: 1, events: 1 },
  ])
  assert.deepEqual(await ask('breakdown', 'by=referrer&metrics=sessions,avg_duration'), [
    { referrer: null, sessions: 1, avg_duration: 120 },
    { referrer: 'search.example', sessions: 1, avg_duration: 0 },
  ])
  assert.deepEqual(await ask('breakdown', 'by=entry_page&filter=channel:contains:Search'), [
    { entry_page: '/pricing', visitors: 1, pageviews: 1 },
  ])
  assert.deepEqual(await ask('breakdown', 'by=exit_page&filter=device:is:desktop,mobile&filter=country:is_not:fr'), [
    { exit_page: '/pricing', visitors: 2, pageviews: 2 },
  ])
})

test('intervals, comparisons and pages of a list', async (t) => {
  const { ask, answer } = await openShop(t)
  const day = 'range=custom&start=2026-11-14&end=2026-11-14'
  const { json } = await answer('timeseries', `${day}&interval=hour&metrics=visitors,pageviews,sessions,revenue:EUR`)
  assert.equal(json.data.length, 24)
  assert.deepEqual(json.data.slice(10, 12), [
    { time: '2026-11-14T10:00:00+00:00', visitors: 1, pageviews: 1, sessions: 1, 'revenue:EUR': 990 },
    { time: '2026-11-14T11:00:00+00:00', visitors: 1, pageviews: 1, sessions: 1, 'revenue:EUR': 0 },
  ])
  const days = await ask('timeseries', 'interval=week&metrics=visitors&compare=previous&filter=page:is:/pricing')
  assert.deepEqual(days, [{ date: '2026-11-09', visitors: 2, previous: { visitors: 0 }, change: { visitors: null } }])
  const first = await answer('breakdown', 'range=7d&by=event&limit=1')
  assert.equal(first.headers.get('stats-total-rows'), '2')
  const second = await answer('breakdown', `range=7d&by=event&limit=1&cursor=${first.json.meta.next_cursor}`)
  assert.deepEqual(
    [...first.json.data, ...second.json.data].map(({ event }: { event: string }) => event),
    ['Buy', 'Signup'],
  )
})
