import assert from 'node:assert/strict'
import test from 'node:test'
import { findSite } from '../../src/accounts/sites.ts'
import { lastClosedDay } from '../../src/calendar/days.ts'
import { withLease } from '../../src/cluster/lease.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { pageview } from '../support/events.ts'
import { withReplicaAway } from '../support/second-replica.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'
import { makeWorld, openWorld } from '../support/world.ts'

test('a day closes half an hour after midnight in its time zone', () => {
  const closed = (zone: string, iso: string) => lastClosedDay(zone, Date.parse(iso))
  assert.equal(closed('UTC', '2026-03-15T00:29:59.999Z'), '2026-03-13')
  assert.equal(closed('UTC', '2026-03-15T00:30:00Z'), '2026-03-14')
  assert.equal(closed('Asia/Kathmandu', '2026-03-14T18:44:59Z'), '2026-03-13')
  assert.equal(closed('Asia/Kathmandu', '2026-03-14T18:45:00Z'), '2026-03-14')
  assert.equal(closed('Pacific/Kiritimati', '2026-03-14T10:30:00Z'), '2026-03-14')
})

test('a round rolls up the closed days of large sites once and skips small sites', async (t) => {
  const created = await createStores()
  const stores = connect(created.addresses)
  t.after(async () => {
    await disconnect(stores)
    await created.remove()
  })
  const now = '2026-03-15T12:00:00Z'
  const small = await makeWorld(stores, { now })
  const large = await makeWorld(stores, { now })
  t.after(() => Promise.all([small.close(), large.close()]))
  const coverageOf = async (id: string) => (await findSite(stores.postgres, id))?.coverage.versions
  await small.record(pageview({ at: '2026-03-10T10:00:00Z' }))
  await large.record(
    ...['a', 'b', 'c'].map((visitor) => pageview({ at: '2026-03-10T10:00:00Z', visitor })),
    pageview({ at: '2026-03-15T10:00:00Z' }),
  )
  const round = (at: string) => rollUpRound(stores, { now: Date.parse(at), minYearEvents: 3 })
  /** Acts as if five minutes had passed. */
  const wait = () => stores.postgres`UPDATE rollup_state SET considered_at = now() - interval '5 minutes'`

  assert.deepEqual(await round(now), { sites: 1, days: 14, failed: 0 })
  assert.deepEqual(await coverageOf(small.siteId), [])
  assert.deepEqual(await coverageOf(large.siteId), [
    { version: 1, layout: 2, days: [['2026-03-01', '2026-03-14']], months: [] },
  ])
  await wait()
  assert.deepEqual(await round(now), { sites: 0, days: 0, failed: 0 })

  await large.record(pageview({ at: '2026-03-10T11:00:00Z', visitor: 'late' }))
  assert.deepEqual(await round(now), { sites: 1, days: 1, failed: 0 })
  await large.record(pageview({ at: '2026-03-10T11:00:00Z', visitor: 'later' }))
  assert.deepEqual(await round(now), { sites: 0, days: 0, failed: 0 }, 'no second time within five minutes')
  await wait()
  assert.deepEqual(await round('2026-03-16T00:30:00Z'), { sites: 1, days: 2, failed: 0 })

  // While one process holds the lease, no other rolls up.
  await withLease(stores.postgres, 'roll up closed days of shard 1', async () =>
    assert.equal(await round(now), undefined),
  )
  assert.deepEqual(await round(now), { sites: 0, days: 0, failed: 0 })
  // A process that died holds the others up only until its lease expires.
  const held = (expires: string) => stores.postgres`
    INSERT INTO leases VALUES ('roll up closed days of shard 1', gen_random_uuid(), now() + ${expires}::text::interval)
    ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at`
  await held('1 minute')
  assert.equal(await round(now), undefined)
  await held('-1 second')
  assert.deepEqual(await round(now), { sites: 0, days: 0, failed: 0 })
})

test('while a replica is away a round rolls up nothing, says so once, and goes on when it is back', async (t) => {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z' })
  await world.record(pageview({ at: '2026-03-10T10:00:00Z' }))
  const { postgres, clickhouse } = world.stores
  const reported: string[] = []
  const round = (shard: ClickHouse) =>
    rollUpRound(
      { postgres, clickhouse: shard },
      {
        now: Date.parse('2026-03-15T12:00:00Z'),
        siteId: world.siteId,
        onError: ({ message }, whose) => reported.push(`${whose}: ${message}`),
      },
    )
  assert.deepEqual(await round(withReplicaAway(clickhouse)), { sites: 0, days: 0, failed: 1 })
  assert.deepEqual(reported, ['every site of shard 1: Replica 2 is away.'])
  assert.deepEqual((await findSite(postgres, world.siteId))?.coverage.versions, [])
  assert.deepEqual(await round(clickhouse), { sites: 1, days: 14, failed: 0 })
})
