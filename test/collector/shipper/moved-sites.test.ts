// Events in the spool whose site moves to another shard before they are shipped.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { openPlacements } from '../../../src/collector/shipper/placements.ts'
import { openSpoolFile } from '../../../src/collector/spool/files.ts'
import { eventOf } from '../../support/events.ts'
import { at, ids, openShipper } from './own-shipper.ts'

async function open(t: TestContext) {
  const shipper = await openShipper(t)
  const { siteId, clickhouse } = shipper
  const other = `site_${randomUUID()}`
  const otherEvent = () => ({ shard: 1, event: eventOf({ at: at('10:00:00') }, other, 'UTC'), isRepeatable: true })
  return {
    ...shipper,
    otherEvent,
    /** PostgreSQL reports where the site is. */
    place: (shard: number, hold: string | null = null) => shipper.take([{ siteId, shard, hold }]),
    /** The other shard is the same server under another number: what counts is which loop ships. */
    shipTo: (shard: number) => shipper.ship({ ...clickhouse, shard }),
    groups(): { shard: number; events: number; kept: number }[] {
      const file = openSpoolFile(shipper.folder, 1)
      const rows = file.prepare('SELECT shard, events, kept FROM groups ORDER BY number').all()
      file.close()
      return rows.map((row) => ({ ...row })) as { shard: number; events: number; kept: number }[]
    },
  }
}

test('events of a site that moves wait in the spool, and others of the same group are shipped', async (t) => {
  const { taken, otherEvent, store, shipTo, place, stored, groups, restart } = await open(t)
  const group = [taken({ at: at('10:00:00') }), otherEvent(), taken({ at: at('10:00:01') })]
  store(group)
  place(1, '7')
  assert.equal((await shipTo(1))?.events, 1)
  assert.deepEqual(await stored(), [])
  assert.deepEqual(groups(), [{ shard: 0, events: 2, kept: 0 }])
  assert.equal(await shipTo(1), undefined)
  assert.equal(await shipTo(2), undefined)

  restart() // PostgreSQL need not be there
  assert.equal(await shipTo(1), undefined)
  place(2)
  assert.equal(await shipTo(1), undefined)
  assert.equal((await shipTo(2))?.events, 2)
  assert.deepEqual((await stored()).map(({ event_id }) => event_id).sort(), ids([group[0], group[2]] as typeof group))
  assert.deepEqual(groups(), [])
})

test('if the site stays, its events are shipped where they would have gone', async (t) => {
  const { taken, store, shipTo, place, stored } = await open(t)
  store([taken({ at: at('10:00:00') })])
  place(1, '7')
  assert.equal(await shipTo(1), undefined)
  place(1)
  assert.equal((await shipTo(1))?.events, 1)
  assert.equal((await stored()).length, 1)
})

test('events that a collector gave the old shard go to the new one', async (t) => {
  const { taken, store, shipTo, place } = await open(t)
  place(2)
  store([taken({ at: at('10:00:00') })])
  assert.equal(await shipTo(1), undefined)
  assert.equal((await shipTo(2))?.events, 1)
})

test('a batch that was planned before the hold keeps its events, and the hold is not confirmed until it is shipped', async (t) => {
  const { taken, store, ship, shipTo, place, isIdle, clickhouse, stored } = await open(t)
  const down = { ...clickhouse, insert: () => Promise.reject(new Error('ClickHouse is down')) }
  store([taken({ at: at('10:00:00') })])
  await assert.rejects(ship(down), /is down/)
  place(1, '7')
  assert.equal(isIdle(), false)
  store([taken({ at: at('10:00:01') })])
  assert.equal((await ship(clickhouse, true))?.events, 1)
  assert.equal(isIdle(), true)
  assert.equal(await shipTo(1), undefined)
  assert.equal((await stored()).length, 1)
})

test('a hold is not confirmed while only one replica has events of the shard', async (t) => {
  const { taken, store, ship, place, isIdle, clickhouse, release } = await open(t)
  store([taken({ at: at('10:00:00') })])
  const replicas = { all: [clickhouse, clickhouse], incomplete: async () => undefined }
  const alone = {
    ...clickhouse,
    replicas: replicas as never,
    insert: async (...given: Parameters<typeof clickhouse.insert>) => {
      await clickhouse.insert(...given)
      return clickhouse
    },
  }
  await ship(alone)
  place(1, '7')
  assert.equal(isIdle(), false)
  while (await release({ ...clickhouse, replicas: replicas as never }));
  assert.equal(isIdle(), true)
})

test('what is known about moved sites, and the name of the collector, are on disk', async (t) => {
  const { folder, place, restart, siteId } = await open(t)
  place(2, '7')
  place(2, '8')
  restart()
  const placements = openPlacements(folder)
  t.after(() => placements.close())
  assert.equal(placements.of(siteId), null)
  assert.deepEqual([placements.held(2).map(({ hold }) => hold), placements.held(1)], [['8'], []])
  assert.equal(placements.isKnown, true)
  placements.leave()
  const again = openPlacements(folder)
  t.after(() => again.close())
  assert.deepEqual([again.id, again.isKnown, again.of('another')], [placements.id, false, undefined])
})
