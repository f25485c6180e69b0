// GET /api/v2/events/:id over real HTTP: where an event is, for a key of its site (decision D-248).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { writeDroppedEvents } from '../../src/accounts/dropped-events.ts'
import { custom, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

const now = '2026-03-15T12:00:00Z'

async function openEvents(t: TestContext) {
  const world = await openWorld(t, { now, zone: 'America/New_York' })
  const headers = { Authorization: `Bearer ${world.key.text}` }
  return {
    world,
    find: (id: string, query = '', init: RequestInit = {}) =>
      world.api.fetch(`/api/v2/events/${id}${query}`, { headers, ...init }),
  }
}

test('an event that is counted is found with its day, its page and the source of its session', async (t) => {
  const { world, find } = await openEvents(t)
  const eventId = randomUUID()
  const visit = { visitor: 'a', referrer: 'news.example', channel: 'Referral', utmSource: 'letter' } as const
  await world.record(
    pageview({ ...visit, at: '2026-03-15T02:00:00.250Z', pathname: '/' }),
    custom('Signup', {
      ...visit,
      at: '2026-03-15T02:10:00.500Z',
      pathname: '/join',
      hostname: 'shop.example',
      eventId,
    }),
    pageview({ ...visit, session: 'later', at: '2026-03-15T01:00:00Z' }),
  )
  const { status, json, headers } = await find(eventId.toUpperCase())
  assert.equal(status, 200)
  assert.deepEqual(json, {
    data: {
      id: eventId,
      state: 'counted',
      message:
        'Counted on 2026-03-14 (America/New_York), in the session that began at 2026-03-15T02:00:00.250Z with the source letter, channel Referral.',
      day: '2026-03-14',
      time: '2026-03-15T02:10:00.500Z',
      event: 'Signup',
      page: '/join',
      hostname: 'shop.example',
      reason: null,
      session: {
        began: '2026-03-15T02:00:00.250Z',
        channel: 'Referral',
        referrer: 'news.example',
        utm_source: 'letter',
      },
      looked_at: { first_day: '2026-03-12', last_day: '2026-03-16', spool: 'none' },
    },
    meta: { site_id: world.siteId, generated_at: '2026-03-15T12:00:00.000Z' },
  })
  assert.ok(headers.get('x-ratelimit-remaining'))
  const again = await find(eventId, '', {
    headers: { Authorization: `Bearer ${world.key.text}`, 'If-None-Match': headers.get('etag') ?? '' },
  })
  assert.equal(again.status, 304)
})

test('an event of an excluded country is stored, but in no number', async (t) => {
  const { world, find } = await openEvents(t)
  const eventId = randomUUID()
  await world.record(pageview({ at: '2026-03-15T02:00:00Z', country: 'FR', eventId }))
  await world.excludeCountries(['FR'])
  const { json } = await find(eventId)
  assert.equal(json.data.state, 'excluded')
  assert.match(json.data.message, /^Stored on 2026-03-14 .* leave out its country\.$/)
  assert.equal((await world.data('/stats/overview')).current.pageviews, 0)
})

test('an event that was dropped is found with the reason and a foreign host for 24 hours', async (t) => {
  const { world, find } = await openEvents(t)
  const { postgres } = world.stores
  const [foreign, bot, old] = [randomUUID(), randomUUID(), randomUUID()]
  const at = Date.now() - 1_000
  await writeDroppedEvents(postgres, [
    { siteId: world.siteId, eventId: foreign, at, reason: 'hostname_not_allowed', hostname: 'shop.example' },
    { siteId: world.siteId, eventId: bot, at, reason: 'bot', hostname: '' },
  ])
  const { data } = (await find(foreign)).json
  assert.deepEqual(
    [data.state, data.reason, data.hostname, data.time, data.day],
    ['dropped', 'hostname_not_allowed', 'shop.example', new Date(at).toISOString(), null],
  )
  assert.match(data.message, /^Not counted: the host of this page is not one of the site/)
  assert.deepEqual((await find(bot)).json.data.reason, 'bot')

  await postgres`
    INSERT INTO dropped_events VALUES (${world.siteId}, ${old}, now() - interval '25 hours', 'bot', '')`
  assert.equal((await find(old)).json.data.state, 'unknown')
  await writeDroppedEvents(postgres, [])
  const [{ rows }] = await postgres<[{ rows: number }]>`
    SELECT count(*)::int AS rows FROM dropped_events WHERE event_id = ${old}`
  assert.equal(rows, 0, 'it is deleted, too')
})

test('of a flood the newest thousand dropped events of each site are kept', async (t) => {
  const { world } = await openEvents(t)
  const { siteId, stores } = world
  const begun = Date.now() - 10_000
  for (let batch = 0; batch < 11; batch++) {
    const some = Array.from({ length: 100 }, (_, index) => ({
      ...{ siteId, eventId: randomUUID(), at: begun + 100 * batch + index, reason: 'site_limit', hostname: '' },
    }))
    await writeDroppedEvents(stores.postgres, some)
  }
  const [kept] = await stores.postgres<[{ rows: number; oldest: Date }]>`
    SELECT count(*)::int AS rows, min(dropped_at) AS oldest FROM dropped_events WHERE site_id = ${siteId}`
  assert.deepEqual([kept.rows, kept.oldest.getTime()], [1_000, begun + 100])
})

test('an event of another site is unknown, whatever its id', async (t) => {
  const { world, find } = await openEvents(t)
  const other = await openWorld(t, { now, zone: 'America/New_York', accountId: world.accountId })
  const [counted, dropped] = [randomUUID(), randomUUID()]
  await other.record(pageview({ at: '2026-03-15T02:00:00Z', eventId: counted }))
  const { siteId } = other
  await writeDroppedEvents(other.stores.postgres, [
    { siteId, eventId: dropped, at: Date.now(), reason: 'bot', hostname: '' },
  ])
  for (const id of [counted, dropped, randomUUID()]) {
    const { json } = await find(id)
    assert.equal(json.data.state, 'unknown')
    assert.match(json.data.message, /^Not found on 2026-03-12 to 2026-03-16, nor among the events that were dropped/)
  }
  assert.equal((await find(counted, `?site_id=${siteId}`)).status, 403)
})

test('an earlier event is found on the day that is named', async (t) => {
  const { world, find } = await openEvents(t)
  const eventId = randomUUID()
  await world.record(pageview({ at: '2026-01-10T12:00:00Z', eventId }))
  assert.equal((await find(eventId)).json.data.state, 'unknown')
  assert.equal((await find(eventId, '?day=2026-01-09')).json.data.state, 'unknown')
  const { data } = (await find(eventId, '?day=20260110')).json
  assert.deepEqual([data.state, data.day, data.looked_at.first_day], ['counted', '2026-01-10', '2026-01-10'])
})

test('a wrong id, a wrong day and other requests are refused, and what has no effect is named', async (t) => {
  const { world, find } = await openEvents(t)
  const id = randomUUID()
  const codeOf = async (...request: Parameters<typeof find>) => {
    const { status, json } = await find(...request)
    return [status, json.error?.code]
  }
  assert.deepEqual(await codeOf('5'), [400, 'invalid_parameter'])
  assert.deepEqual(await codeOf(`${id}0`), [400, 'invalid_parameter'])
  for (const day of ['yesterday', '2026-02-30', '', '2026-01-01&day=2026-01-02'])
    assert.deepEqual(await codeOf(id, `?day=${day}`), [400, 'invalid_date'])
  assert.deepEqual(await codeOf(id, '?Day=2026-01-01'), [400, 'invalid_parameter'])
  assert.deepEqual(await codeOf(id, '', { method: 'POST' }), [405, 'method_not_allowed'])
  assert.deepEqual(await codeOf(`${id}/`), [404, 'not_found'])
  assert.deepEqual(await codeOf(`${id}/more`), [404, 'not_found'])
  assert.deepEqual(await codeOf(id, '', { headers: {} }), [401, 'unauthorized'])
  assert.equal(
    (await find(id, '?range=7d&x=1')).headers.get('stats-warning'),
    'unknown parameter x was ignored; range has no effect on this endpoint',
  )
  assert.equal(
    (await find(id, '', { method: 'HEAD', headers: { Authorization: `Bearer ${world.key.text}` } })).status,
    200,
  )
})
