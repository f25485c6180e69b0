import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { openStores } from '../support/stores.ts'
import { faultsOf } from './site-facts.ts'

const { clickhouse } = await openStores()
const zone = 'Europe/Berlin'
const until = Date.parse('2026-03-30T12:00:00Z')

async function faultsIn(...hits: Hit[]): Promise<string[]> {
  const siteId = `site_${randomUUID()}`
  await recordBatch(clickhouse, {
    id: randomUUID(),
    events: hits.map((hit) => eventOf({ title: 'A page', ...hit }, siteId, zone)),
  })
  return found(siteId)
}

async function found(siteId: string): Promise<string[]> {
  return Object.entries(await faultsOf(clickhouse, { siteId, zone, until }))
    .filter(([, count]) => count > 0)
    .map(([name]) => name)
    .sort()
}

test('valid traffic has no fault: a gap of half an hour, two sessions further apart', async () => {
  const faults = await faultsIn(
    { at: '2026-03-29T10:00:00Z', title: 'One' },
    { at: '2026-03-29T10:30:00Z', title: 'Two' },
    { at: '2026-03-29T11:00:00.001Z', session: 'second', referrer: 'other.example' },
  )
  assert.deepEqual(faults, [])
})

test('each fault is found', async () => {
  const at = '2026-03-29T10:00:00Z'
  const eventId = randomUUID()
  assert.deepEqual(await faultsIn({ at, day: '2026-03-28' }), ['on_another_day'])
  assert.deepEqual(await faultsIn({ at: '2026-03-30T12:00:00Z' }), ['in_the_future'])
  assert.deepEqual(await faultsIn({ at, pathname: '' }), ['without_a_place'])
  assert.deepEqual(await faultsIn({ at, eventId }, { at, eventId }), ['repeated_ids'])
  assert.deepEqual(await faultsIn({ at }, { at, country: 'FR' }), ['visitors_of_two_places'])
  assert.deepEqual(await faultsIn({ at }, { at, device: 'Mobile' }), ['visitors_of_two_places'])
  assert.deepEqual(await faultsIn({ at, os: 'iOS' }, { at, os: 'Android' }), ['visitors_of_two_places'])
  assert.deepEqual(await faultsIn({ at, browser: 'Chrome' }, { at }), ['visitors_of_two_places'])
  assert.deepEqual(await faultsIn({ at, revenue: { amount: 1, currency: '' } }), ['revenue_without_currency'])
  assert.deepEqual(await faultsIn({ at }, { at, referrer: 'other.example' }), ['sessions_of_two_origins'])
  const campaign = { medium: 'email', campaign: 'may', content: '', term: '' }
  for (const tag of ['medium', 'campaign', 'content', 'term'])
    assert.deepEqual(await faultsIn({ at, campaign }, { at, campaign: { ...campaign, [tag]: 'other' } }), [
      'sessions_of_two_origins',
    ])
  assert.deepEqual(await faultsIn({ at }, { at: '2026-03-29T10:30:00.001Z' }), ['sessions_with_a_gap'])
  assert.deepEqual(await faultsIn({ at, name: 'signup' }), ['sessions_without_a_page'])
  assert.deepEqual(await faultsIn({ at }, { at: '2026-03-29T10:30:00Z', session: 'second' }), [
    'visitors_with_sessions_too_close',
  ])
})

test('ids that are shared between visitors or days are found', async () => {
  const siteId = `site_${randomUUID()}`
  const one = eventOf({ at: '2026-03-28T22:59:00Z', title: 'A page' }, siteId, zone)
  const two = eventOf({ at: '2026-03-28T23:01:00Z', title: 'A page' }, siteId, zone)
  await recordBatch(clickhouse, { id: randomUUID(), events: [one, { ...two, sessionId: one.sessionId }] })
  assert.deepEqual(await found(siteId), ['sessions_of_two_visitors', 'sessions_over_midnight'])
})

test('a title that is missing, or not the latest, is found', async () => {
  const siteId = `site_${randomUUID()}`
  const event = eventOf({ at: '2026-03-29T10:00:00Z', title: 'Right' }, siteId, zone)
  await recordBatch(clickhouse, { id: randomUUID(), events: [event] })
  await clickhouse.run(sql`DELETE FROM titles WHERE site_id = ${text(siteId)}`)
  assert.deepEqual(await found(siteId), ['wrong_titles'])
  const latest = { time: new Date(event.time + 1).toISOString(), event_id: event.eventId, title: 'Wrong' }
  const { pathname, country } = event
  await clickhouse.insert('titles', [{ site_id: siteId, pathname, country, latest }], randomUUID())
  assert.deepEqual(await found(siteId), ['wrong_titles'])
})
