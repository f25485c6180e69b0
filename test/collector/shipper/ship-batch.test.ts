// Shipping with a separate spool, step by step: what is sent, what stays, and that a repetition changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spoolFiles } from '../../../src/collector/spool/files.ts'
import type { SpooledEvent } from '../../../src/collector/spool/spooled-event.ts'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { at, ids, openShipper, pick, today } from './own-shipper.ts'

/** ClickHouse writes the rows, but the response is lost. */
const deaf = (clickhouse: ClickHouse, table = 'events'): ClickHouse => ({
  ...clickhouse,
  async insert(...words) {
    const only = await clickhouse.insert(...words)
    if (words[0].split(' ', 1)[0] === table) throw new Error('The connection broke')
    return only
  },
})

/** A shard with two replicas, of which the second may be away, or come back without rows that it should have. */
const replicated = (clickhouse: ClickHouse, second: { isAway: boolean; isEmpty?: boolean }): ClickHouse => ({
  ...clickhouse,
  replicas: {
    all: [
      clickhouse,
      {
        ...clickhouse,
        rowsPatiently: async (...words) => {
          if (second.isAway) throw new Error('The replica is away')
          return second.isEmpty ? [] : clickhouse.rowsPatiently(...words)
        },
      },
    ],
    worker: async () => clickhouse,
    incomplete: async () => (second.isAway ? 'Replica 2 is away' : undefined),
  },
  async insert(...words) {
    await clickhouse.insert(...words)
    return second.isAway ? clickhouse : undefined
  },
})

test('events of the spool are in ClickHouse once, with their titles, and no longer in the spool', async (t) => {
  const shipper = await openShipper(t)
  const group = [
    shipper.taken({ at: at('10:00:00'), title: 'Old' }),
    shipper.taken({ at: at('10:00:01'), title: 'New' }),
  ]
  shipper.store(group)
  const { events, repeated } = (await shipper.ship()) as { events: number; repeated: number }
  assert.deepEqual([events, repeated], [2, 0])
  assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids(group))
  assert.deepEqual(await shipper.titles(), [{ pathname: '/', title: 'New' }])
  assert.equal(await shipper.ship(), undefined)
})

test('each shard gets its own events, and a file of the spool stays until all shards have theirs', async (t) => {
  const shipper = await openShipper(t)
  const second: ClickHouse = { ...shipper.clickhouse, shard: 2 }
  const [one, other] = [[shipper.taken({ at: at('10:00:00') })], [shipper.taken({ at: at('10:00:01') })]]
  shipper.store(one)
  shipper.store(other, 1, 2)
  shipper.store([], 2)
  assert.equal((await shipper.ship())?.events, 1)
  assert.deepEqual(
    (await shipper.stored()).map(({ event_id }) => event_id),
    ids(one),
  )
  assert.equal((await shipper.ship())?.events, 0)
  assert.deepEqual(spoolFiles(shipper.folder), [1, 2])
  assert.equal((await shipper.ship(second))?.events, 1)
  assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids([...one, ...other]))
  assert.equal(await shipper.ship(second), undefined)
  assert.deepEqual(spoolFiles(shipper.folder), [2])
})

test('every attempt to send a batch has the same token', async (t) => {
  const shipper = await openShipper(t)
  shipper.store([shipper.taken({ at: at('10:00:00') })])
  const tokens: string[] = []
  const refusing: ClickHouse = {
    ...shipper.clickhouse,
    async insert(_, __, token) {
      tokens.push(token)
      throw new Error('ClickHouse is down')
    },
  }
  await assert.rejects(shipper.ship(refusing), /down/)
  shipper.restart()
  await assert.rejects(shipper.ship(refusing, true), /down/)
  assert.equal(tokens.length, 2)
  assert.equal(tokens[0], tokens[1])
})

test('events that only one replica has stay in the spool until a second has them, and later ones do not wait', async (t) => {
  const shipper = await openShipper(t)
  const away = { isAway: true }
  const shard = replicated(shipper.clickhouse, away)
  const groups = ['10:00:00', '10:00:01'].map((time) => [shipper.taken({ at: at(time) })])
  for (const group of groups) {
    shipper.store(group)
    assert.equal((await shipper.ship(shard))?.events, 1)
  }
  assert.equal((await shipper.stored()).length, 2)
  assert.equal(await shipper.release(shard), false)
  shipper.restart()
  assert.equal(await shipper.ship(shard), undefined, 'they are not shipped again')
  away.isAway = false
  // The only replica with the first event has lost its disk.
  await shipper.clickhouse.run(
    sql`DELETE FROM events WHERE site_id = ${text(shipper.siteId)} AND time < '2026-11-15 10:00:01'`,
  )
  assert.equal(await shipper.release(shard), true)
  assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids(groups.flat()))
  assert.equal(await shipper.release(shard), false, 'nothing is left')
})

test('a replica that has nothing left to copy and still misses events does not count as their second disk', async (t) => {
  const shipper = await openShipper(t)
  const second = { isAway: true, isEmpty: true }
  const shard = replicated(shipper.clickhouse, second)
  shipper.store([shipper.taken({ at: at('10:00:00') })])
  await shipper.ship(shard)
  second.isAway = false
  assert.equal(await shipper.release(shard), false)
  second.isEmpty = false
  assert.equal(await shipper.release(shard), true)
  assert.equal((await shipper.stored()).length, 1)
})

test('events that are sent again after a lost disk make their day be rolled up again', async (t) => {
  const shipper = await openShipper(t)
  const away = { isAway: true }
  const shard = replicated(shipper.clickhouse, away)
  shipper.store([shipper.taken({ at: at('10:00:00') })])
  await shipper.ship(shard)
  await shipper.deliver()
  assert.deepEqual(shipper.waiting(), [])
  away.isAway = false
  await shipper.clickhouse.run(sql`DELETE FROM events WHERE site_id = ${text(shipper.siteId)}`)
  assert.equal(await shipper.release(shard), true)
  assert.deepEqual(shipper.waiting(), [{ day: today, events: 1 }])
})

test('a batch that may have reached one replica only stays in the spool', async (t) => {
  const shipper = await openShipper(t)
  const away = { isAway: true }
  const shard = replicated(shipper.clickhouse, away)
  shipper.store([shipper.taken({ at: at('10:00:00') })])
  await assert.rejects(shipper.ship(deaf(shard)), /broke/)
  assert.equal((await shipper.ship(shard, true))?.events, 1)
  away.isAway = false
  assert.equal(await shipper.release(shard), true)
  assert.equal((await shipper.stored()).length, 1)
})

test('after a lost response and a restart, the shipper looks in ClickHouse first, and no event is there twice', async (t) => {
  const shipper = await openShipper(t)
  const group = [shipper.taken({ at: at('10:00:00'), title: 'A' }), shipper.taken({ at: at('10:00:01') }, false)]
  shipper.store(group)
  await assert.rejects(shipper.ship(deaf(shipper.clickhouse)), /broke/)
  shipper.restart()
  shipper.store([shipper.taken({ at: at('10:00:02') })]) // arrives later, and does not join the current batch
  const shipment = await shipper.ship()
  assert.equal(shipment?.events, 2)
  const rows = await shipper.stored()
  assert.deepEqual(rows.map(({ event_id }) => event_id).sort(), ids(group))
  assert.deepEqual(await shipper.titles(), [{ pathname: '/', title: 'A' }])
  assert.equal((await shipper.ship())?.events, 1)
})

test('after a stop between events and titles, the next process writes the titles', async (t) => {
  const shipper = await openShipper(t)
  shipper.store([shipper.taken({ at: at('11:59:00'), title: 'A' })])
  const halfway: ClickHouse = {
    ...shipper.clickhouse,
    async insert(...words) {
      if (words[0] === 'titles') throw new Error('The connection broke')
      await shipper.clickhouse.insert(...words)
    },
  }
  await assert.rejects(shipper.ship(halfway), /broke/)
  shipper.restart()
  await shipper.ship()
  assert.deepEqual(await shipper.titles(), [{ pathname: '/', title: 'A' }])
  assert.equal((await shipper.stored()).length, 1)
})

test('ClickHouse ignores a repeated batch even without that look', async (t) => {
  const shipper = await openShipper(t)
  shipper.store([shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:01') })])
  await assert.rejects(shipper.ship(deaf(shipper.clickhouse)), /broke/)
  shipper.restart()
  const blind: ClickHouse = { ...shipper.clickhouse, rows: async () => [] }
  await shipper.ship(blind)
  assert.equal((await shipper.stored()).length, 2)
})

test('a part that is already there is not sent again', async (t) => {
  const shipper = await openShipper(t)
  const group = [shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:01', '2026-10-31') })]
  shipper.store(group)
  // Two months are two inserts; the second is never sent.
  let inserts = 0
  const half: ClickHouse = {
    ...shipper.clickhouse,
    async insert(...words) {
      if (inserts++ > 0) throw new Error('The connection broke')
      await shipper.clickhouse.insert(...words)
    },
  }
  await assert.rejects(shipper.ship(half), /broke/)
  assert.equal((await shipper.stored()).length, 1)
  await shipper.ship(shipper.clickhouse, true)
  assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids(group))
})

test('a repeated id is one event: in a group, in a later batch, and after a restart', async (t) => {
  const shipper = await openShipper(t)
  const first = shipper.taken({ at: at('11:59:00'), name: 'first' })
  const again: SpooledEvent = { ...first, event: { ...first.event, name: 'again', time: first.event.time + 1000 } }
  shipper.store([first, again])
  assert.deepEqual(pick(await shipper.ship()), { events: 1, repeated: 1 })
  shipper.store([again])
  assert.deepEqual(pick(await shipper.ship()), { events: 0, repeated: 1 })
  shipper.restart()
  shipper.store([again])
  assert.deepEqual(pick(await shipper.ship()), { events: 0, repeated: 1 })
  assert.deepEqual(
    (await shipper.stored()).map(({ name }) => name),
    ['first'],
  )
})

test('the same id on two sites is two events', async (t) => {
  const shipper = await openShipper(t)
  const one = shipper.taken({ at: at('10:00:00') })
  const other: SpooledEvent = { ...one, event: { ...one.event, siteId: `${shipper.siteId}b` } }
  shipper.store([one, other])
  assert.deepEqual(pick(await shipper.ship()), { events: 2, repeated: 0 })
})

test('events of earlier days, out of order and across the end of a month, keep their day', async (t) => {
  const shipper = await openShipper(t)
  const days = ['2026-11-14', '2026-10-31', '2026-11-15', '2026-11-01']
  for (const day of days) shipper.store([shipper.taken({ at: at('23:59:59', day) })])
  await shipper.ship()
  assert.deepEqual(
    (await shipper.stored()).map(({ day }) => day),
    days.toSorted(),
  )
})

test('an event outside the retention is dropped and counted, even after a long time in the spool', async (t) => {
  const shipper = await openShipper(t)
  shipper.kept.from = '2024-10-01'
  const days = ['2024-09-30', '2024-10-01', today]
  shipper.store(days.map((day) => shipper.taken({ at: at('10:00:00', day) })))
  const shipment = await shipper.ship()
  assert.deepEqual([shipment?.events, shipment?.repeated, shipment?.tooOld], [2, 0, 1])
  assert.deepEqual(
    (await shipper.stored()).map(({ day }) => day),
    days.slice(1),
  )
  assert.equal(await shipper.ship(), undefined)
})

test('a row that ClickHouse never accepts is set aside, and all others are written', async (t) => {
  const shipper = await openShipper(t)
  const good = Array.from({ length: 7 }, (_, index) => shipper.taken({ at: at(`10:00:0${index}`) }))
  const bad = shipper.taken({ at: at('10:00:09') })
  const poison: SpooledEvent = { ...bad, event: { ...bad.event, visitorId: 'not a number' } as TrafficEvent }
  shipper.store([...good.slice(0, 3), poison, ...good.slice(3)])
  await shipper.ship()
  assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids(good))
  assert.equal(shipper.deadLetters.count(), 1)
  assert.equal(await shipper.ship(), undefined)
})

test('a ClickHouse that is down loses nothing: the batch stays as it is', async (t) => {
  const shipper = await openShipper(t)
  shipper.store([shipper.taken({ at: at('10:00:00') })])
  const away: ClickHouse = {
    ...shipper.clickhouse,
    insert: async () => {
      throw new Error('away')
    },
  }
  await assert.rejects(shipper.ship(away), /away/)
  await assert.rejects(shipper.ship(away, true), /away/)
  assert.equal(shipper.deadLetters.count(), 0)
  assert.equal((await shipper.ship(shipper.clickhouse, true))?.events, 1)
})

test('older files of the spool are shipped first and then removed; the newest stays', async (t) => {
  const shipper = await openShipper(t)
  shipper.store([shipper.taken({ at: at('10:00:00'), name: 'older' })], 1)
  shipper.store([shipper.taken({ at: at('10:00:01'), name: 'newer' })], 2)
  await shipper.ship()
  assert.deepEqual(
    (await shipper.stored()).map(({ name }) => name),
    ['older'],
  )
  await shipper.ship()
  assert.deepEqual(spoolFiles(shipper.folder), [2])
  assert.equal(await shipper.ship(), undefined)
  assert.deepEqual(spoolFiles(shipper.folder), [2])
})
