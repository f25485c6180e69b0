// A site moves to another time zone, where other days are over. Whatever was rolled up, counted or cached before the move, each event
// counts once (decisions D-1, D-74, D-78 and D-81).
import assert from 'node:assert/strict'
import test from 'node:test'
import { findSite } from '../../src/accounts/sites.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openWorld, startApi, type World } from '../support/world.ts'

// 01:00 of the 16th in Auckland, where the 15th is closed; 05:00 of the 15th in Los Angeles.
const now = '2026-03-15T12:00:00Z'
const settledThrough = async ({ stores, siteId }: World) =>
  (await findSite(stores.postgres, siteId))?.coverage.settledThrough
/** Tests share the stores, and only one process rolls up at a time. */
const round = ({ stores, siteId }: World, at: string) =>
  eventually(async () => assert.ok(await rollUpRound(stores, { now: Date.parse(at), siteId })), 60_000)
const views = (world: World, parameters: Record<string, string>) =>
  world.data('/stats/overview', parameters).then(({ current }) => current.pageviews)
const visits = (at: string, count: number) =>
  Array.from({ length: count }, (_, i) => pageview({ at, visitor: `${at}${i}` }))
const march = { range: 'custom', start: '2026-03-01', end: '2026-03-15' }

test('Auckland to Los Angeles: events for days rolled up before the move count, today and later', async (t) => {
  const world = await openWorld(t, { now, zone: 'Pacific/Auckland' })
  await world.record(...visits('2026-03-14T20:00:00Z', 10)) // on the 15th
  await round(world, now)
  assert.equal(await settledThrough(world), '2026-03-15')
  await world.moveTo('America/Los_Angeles')
  assert.equal(await views(world, march), 10)

  world.setNow('2026-03-15T13:00:00Z')
  await world.record(...visits('2026-03-15T12:30:00Z', 100)) // also on the 15th
  assert.equal(await views(world, march), 110)
  await round(world, '2026-03-15T13:00:00Z')
  assert.equal(await settledThrough(world), '2026-03-14')
  world.setNow('2026-03-16T07:00:00Z')
  await world.record(...visits('2026-03-16T06:59:00Z', 20))
  world.setNow('2026-03-16T07:30:00Z') // half an hour after midnight
  await round(world, '2026-03-16T07:30:00Z')
  assert.equal(await settledThrough(world), '2026-03-15')
  assert.equal(await views(world, march), 130)
  assert.deepEqual((await verifySite(world.stores, world.siteId)).wrong, [])
})

test('an event for a today that was rolled up before the move counts when that day is over', async (t) => {
  const world = await openWorld(t, { now, zone: 'Pacific/Auckland' })
  await world.record(...visits('2026-03-14T20:00:00Z', 10)) // on the 15th
  await round(world, now)
  await world.moveTo('America/Los_Angeles')
  world.setNow('2026-03-15T13:00:00Z')
  await world.record(...visits('2026-03-15T12:30:00Z', 100)) // also on the 15th
  world.setNow('2026-03-16T07:30:00Z')
  await round(world, '2026-03-16T07:30:00Z')
  assert.equal(await views(world, march), 110)
})

test('Los Angeles to Auckland: an open day closes at once, and an event still in transit counts', async (t) => {
  const world = await openWorld(t, { now, zone: 'America/Los_Angeles' })
  await world.record(...visits('2026-03-15T10:00:00Z', 10))
  await round(world, now)
  assert.equal(await settledThrough(world), '2026-03-14')
  await world.moveTo('Pacific/Auckland')
  await round(world, now)
  assert.equal(await settledThrough(world), '2026-03-15')
  await world.record({ ...pageview({ at: '2026-03-15T11:59:00Z' }), day: '2026-03-15' })
  assert.equal(await views(world, march), 11)
  await round(world, now)
  assert.equal(await views(world, march), 11)
  assert.deepEqual((await verifySite(world.stores, world.siteId)).wrong, [])
})

test('a count of today is read only in the time zone it was made for', async (t) => {
  const world = await openWorld(t, { now, zone: 'Pacific/Auckland' })
  await world.record(...visits('2026-03-13T20:00:00Z', 1), ...visits('2026-03-15T11:30:00Z', 10)) // on the 14th and the 16th
  await world.rollUp('2026-03-14')
  await world.rollUpToday()
  // Doubled, so that reading the count shows.
  await world.stores.clickhouse.run(sql`
    INSERT INTO today_rollups SELECT * FROM today_rollups WHERE site_id = ${text(world.siteId)}`)
  assert.equal(await views(world, { range: '7d' }), 1 + 2 * 10)
  await world.moveTo('Pacific/Apia') // the same day and hour as in Auckland
  assert.equal(await views(world, { range: '7d' }), 1 + 10)
  await world.moveTo('America/Los_Angeles') // where the 16th has not begun
  assert.equal(await views(world, { range: '7d' }), 1)
  await world.moveTo('Pacific/Auckland')
  assert.equal(await views(world, { range: '7d' }), 1 + 2 * 10)
})

test('a window that ends now is not settled, even if today was closed in the previous time zone', async (t) => {
  const world = await openWorld(t, { now, zone: 'Pacific/Auckland' })
  await world.record(...visits('2026-03-14T20:00:00Z', 10)) // on the 15th
  await round(world, now)
  await world.moveTo('America/Los_Angeles')
  const clock = { at: Date.parse(now) }
  const api = await startApi(world.stores, { now: () => clock.at, responseCacheBytes: 10_000_000 })
  t.after(() => api.close())
  const ask = async (at: string) => {
    clock.at = Date.parse(at)
    const headers = { Authorization: `Bearer ${world.key.text}` }
    return (await api.fetch('/api/v1/stats/overview?range=24h', { headers })).json.data.current.pageviews
  }
  assert.equal(await ask(now), 10)
  assert.equal(await ask('2026-03-16T11:00:00Z'), 0, 'a day later the events are outside the window')
})

test('cached responses become invalid when one of their days is no longer settled', async (t) => {
  const world = await openWorld(t, { now, zone: 'Pacific/Auckland' })
  const late = async () => (await findSite(world.stores.postgres, world.siteId))?.coverage.invalidations
  await round(world, now)
  const before = await late()
  await round(world, '2026-03-15T13:00:00Z')
  assert.equal(await late(), before)
  await world.moveTo('America/Los_Angeles')
  await round(world, now)
  assert.equal(await settledThrough(world), '2026-03-14')
  assert.equal(await late(), (before ?? 0) + 1)
})
