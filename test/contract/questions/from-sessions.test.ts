// A question has the same answer whether its days are read from events or from sessions (D-237).
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createGoal } from '../../../src/accounts/goals.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import { custom, type Hit, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'

const now = '2026-03-15T12:00:00Z'
const whole = 'range=custom&start=2026-03-01&end=2026-03-14'

const news = { referrer: 'news.example', channel: 'Referral', country: 'FR', browser: 'Firefox', os: 'Linux' } as const
const letter = {
  utmSource: 'letter',
  channel: 'Email',
  device: 'Mobile',
  browser: 'Safari',
  os: 'iOS',
  campaign: { medium: 'email', campaign: 'may', content: 'hero', term: 'shoes' },
} as const

/** One visitor with two sessions, pages on two hosts, a page that is seen twice, an event on another page, and visits without pageviews. */
const hits: Hit[] = [
  pageview({ at: '2026-03-03T10:00:00Z', visitor: 'a', session: '1', pathname: '/a', ...news }),
  pageview({ at: '2026-03-03T10:01:00Z', visitor: 'a', session: '1', pathname: '/b', ...news }),
  pageview({ at: '2026-03-03T10:02:00Z', visitor: 'a', session: '1', pathname: '/a', ...news }),
  pageview({
    at: '2026-03-03T10:03:00Z',
    visitor: 'a',
    session: '1',
    pathname: '/a',
    hostname: 'shop.example',
    ...news,
  }),
  custom('Signup', { at: '2026-03-03T10:04:00Z', visitor: 'a', session: '1', pathname: '/join', ...news }),
  custom('Signup', { at: '2026-03-03T10:05:00Z', visitor: 'a', session: '1', pathname: '/b', ...news }),
  pageview({
    at: '2026-03-03T18:00:00Z',
    visitor: 'a',
    session: '2',
    pathname: '/a',
    ...news,
    referrer: '',
    channel: 'Direct',
  }),
  pageview({ at: '2026-03-03T11:00:00Z', visitor: 'b', pathname: '/a', ...letter }),
  pageview({ at: '2026-03-03T11:10:00Z', visitor: 'c', pathname: '/c' }),
  custom('Buy', {
    at: '2026-03-04T10:00:00Z',
    visitor: 'd',
    pathname: '/only-event',
    ...letter,
    props: { plan: 'pro' },
  }),
  pageview({ at: '2026-03-05T10:00:00Z', visitor: 'a', pathname: '/c', ...news }),
  custom('Signup', { at: '2026-03-05T10:30:00Z', visitor: 'a', pathname: '/c', ...news }),
  pageview({ at: '2026-03-15T09:00:00Z', visitor: 'e', pathname: '/a', ...news }),
]

const everything = 'metrics=visitors,pageviews,sessions,bounce_rate,avg_duration,views_per_session,events'
const filters = [
  '',
  ...[
    'page:is:/a',
    'page:is_not:/a',
    'page:contains:b',
    'page:starts_with:/o',
    'hostname:is:shop.example',
    'page:is:/a,/b',
  ],
  ...[
    'event:is:Signup',
    'event:is_not:Signup',
    'event:is:',
    'event:is_not:',
    'goal:is:Blog',
    'goal:is_not:Signed%20up',
  ],
  ...[
    'referrer:is:news.example',
    'referrer:is:',
    'channel:is_not:Direct',
    'utm_campaign:is:may',
    'utm_term:contains:sho',
  ],
  ...[
    'entry_page:is:/a',
    'exit_page:is_not:/b',
    'country:is:FR',
    'device:is:mobile',
    'browser:is:Safari',
    'os:is_not:iOS',
  ],
  'page:is:/a&filter=event:is:Signup',
  'page:is:/b&filter=hostname:is:example.com&filter=goal:is:Signed%20up',
]
const lists = [
  'page',
  'hostname',
  'event',
  'goal',
  'entry_page',
  'exit_page',
  'referrer',
  'channel',
  'utm_source',
  'utm_medium',
]
const moreLists = ['utm_campaign', 'utm_content', 'utm_term', 'country', 'device', 'browser', 'os']

/** Filters of every kind: none, of hits, of what happened, and of sessions. */
const someFilters = [
  '',
  'page:is:/a',
  'page:contains:b',
  'hostname:is:shop.example',
  'event:is:Signup',
  'referrer:is:',
  'country:is:FR',
]

const and = (filter: string) => filter && `&filter=${filter}`

const questions = [
  ...filters.flatMap((filter) => [
    `totals?${whole}&${everything},conversions,conversion_rate&goal=Signed%20up${and(filter)}`,
    `timeseries?${whole}&${everything}${and(filter)}`,
    `timeseries?range=30d&interval=week&metrics=visitors,sessions&compare=previous${and(filter)}`,
  ]),
  ...someFilters.flatMap((filter) => [
    ...[...lists, ...moreLists].map((by) => `breakdown?${whole}&by=${by}&${everything}${and(filter)}`),
    `breakdown?${whole}&by=page&metrics=visitors,conversions&goal=Blog${and(filter)}`,
    `breakdown?${whole}&by=goal&metrics=visitors,conversions,conversion_rate,events${and(filter)}`,
    `breakdown?range=30d&by=page${and(filter)}`,
  ]),
]

async function openVisitedWorld(t: TestContext) {
  const world = await openWorld(t, { now, excludedCountries: ['IS'] })
  await createGoal(world.stores.postgres, world.siteId, {
    name: 'Signed up',
    condition: { kind: 'event', event: 'Signup' },
  })
  await createGoal(world.stores.postgres, world.siteId, { name: 'Blog', condition: { kind: 'path', pattern: '/b**' } })
  await world.record(
    ...hits,
    pageview({ at: '2026-03-03T10:00:00Z', visitor: 'excluded', country: 'IS', ...{ pathname: '/a' } }),
  )
  const ask = async (question: string) => {
    const [kind, parameters] = question.split('?') as [string, string]
    const { status, json, headers, text: body } = await world.ask(kind, parameters)
    assert.equal(status, 200, `${question}: ${body}`)
    return { data: json.data, source: headers.get('stats-source') }
  }
  return { ...world, answer: ask }
}

test('every question has the same answer from events, from sessions, and from both', async (t) => {
  const world = await openVisitedWorld(t)
  const fromEvents: Awaited<ReturnType<typeof world.answer>>[] = []
  for (const question of questions) fromEvents.push(await world.answer(question))
  await world.rollUp('2026-03-14')
  const sources = new Map<string | null, number>()
  for (const [index, question] of questions.entries()) {
    const { data, source } = await world.answer(question)
    sources.set(source, (sources.get(source) ?? 0) + 1)
    assert.deepEqual(data, fromEvents[index]?.data, question)
  }
  assert.deepEqual([...sources.keys()].sort(), ['rollups', 'sessions'])
  assert.ok((sources.get('sessions') ?? 0) > 150)
  await world.invalidate('2026-03-03')
  for (const [index, question] of questions.entries())
    if (index % 3 === 0) assert.deepEqual((await world.answer(question)).data, fromEvents[index]?.data, question)
})

test('numbers of sessions, worked out by hand', async (t) => {
  const world = await openVisitedWorld(t)
  await world.rollUp('2026-03-14')
  const pages = `breakdown?${whole}&by=page&${everything}&filter=country:is:FR`
  assert.deepEqual((await world.answer(pages)).data, [
    // Two sessions of one visitor on one day; the page is there on two hosts, and three times in the first session. The first lasts 300 s.
    {
      page: '/a',
      visitors: 1,
      pageviews: 4,
      sessions: 2,
      bounce_rate: 50,
      avg_duration: 150,
      views_per_session: 2,
      events: 0,
    },
    {
      page: '/c',
      visitors: 1,
      pageviews: 1,
      sessions: 1,
      bounce_rate: 0,
      avg_duration: 1800,
      views_per_session: 1,
      events: 1,
    },
    {
      page: '/b',
      visitors: 1,
      pageviews: 1,
      sessions: 1,
      bounce_rate: 0,
      avg_duration: 300,
      views_per_session: 1,
      events: 1,
    },
    // Nobody has seen it, but an event occurred there.
    {
      page: '/join',
      visitors: 0,
      pageviews: 0,
      sessions: 0,
      bounce_rate: 0,
      avg_duration: 0,
      views_per_session: 0,
      events: 1,
    },
  ])
})

test('questions about properties and revenue are read from events, all others of closed days from sessions', async (t) => {
  const world = await openVisitedWorld(t)
  await createGoal(world.stores.postgres, world.siteId, {
    name: 'Pro',
    condition: { kind: 'event', event: 'Buy', property: { key: 'plan', value: 'pro' } },
  })
  await world.rollUp('2026-03-14')
  world.api.directory.forget(world.siteId)
  const sourceOf = async (question: string) => (await world.answer(question)).source
  for (const about of [
    'filter=prop:plan:is:pro',
    'metrics=revenue:EUR',
    'metrics=conversions&goal=Pro',
    'filter=goal:is:Pro',
  ])
    assert.equal(await sourceOf(`totals?${whole}&${about}`), 'events', about)
  assert.equal(await sourceOf(`breakdown?${whole}&by=prop:plan`), 'events')
  assert.equal(await sourceOf(`breakdown?${whole}&by=goal`), 'events')
  assert.equal(await sourceOf(`timeseries?${whole}&interval=hour&filter=page:is:/a`), 'events')
  assert.equal(await sourceOf(`totals?${whole}&metrics=conversions&goal=Blog`), 'sessions')
  const { data } = await world.answer(`totals?${whole}&metrics=visitors,conversions&goal=Pro`)
  assert.deepEqual(data, { visitors: 5, conversions: 1 })
})

test('sessions name no visitor: rows have a number only if the visitor has several sessions on the day', async (t) => {
  const world = await openVisitedWorld(t)
  await world.rollUp('2026-03-14')
  const rows = await world.stores.clickhouse.rows(sql`
    SELECT day, toUInt8(visitor > 0) AS numbered, count() AS sessions, uniqExact(visitor) AS visitors FROM sessions
    WHERE site_id = ${text(world.siteId)} GROUP BY day, numbered ORDER BY day, numbered`)
  assert.deepEqual(rows, [
    { day: '2026-03-03', numbered: 0, sessions: 3, visitors: 1 },
    { day: '2026-03-03', numbered: 1, sessions: 2, visitors: 1 },
    { day: '2026-03-04', numbered: 0, sessions: 1, visitors: 1 },
    { day: '2026-03-05', numbered: 0, sessions: 1, visitors: 1 },
  ])
})
