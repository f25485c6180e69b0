// The shipper on a spool of its own, step by step: what it sends, what it leaves, and what a repetition changes.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, deletedAmong, deleteSite } from '../../src/accounts/sites.ts'
import type { Taken } from '../../src/collector/intake.ts'
import { openBatches } from '../../src/collector/shipper/batches.ts'
import { openDeadLetters } from '../../src/collector/shipper/dead-letters.ts'
import { deliverNotes } from '../../src/collector/shipper/notes.ts'
import { keyOf, openShipped } from '../../src/collector/shipper/shipped.ts'
import { shipNext } from '../../src/collector/shipper/shipper.ts'
import { openSpoolFile, spoolFiles } from '../../src/collector/spool-file.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import { eraseSite } from '../../src/traffic/erasure.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import type { SiteDay } from '../../src/traffic/late-days.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { openStores } from '../support/stores.ts'

const today = '2026-11-15'
const now = Date.parse(`${today}T12:00:00Z`)

async function openShipper(t: TestContext) {
  const { clickhouse, postgres } = await openStores()
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const siteId = `site_${randomUUID()}`
  const deadLetters = openDeadLetters(folder)
  const noted: { day: string; isStored: boolean }[] = []
  const fault = { noteLateDays: false, deletedAmong: false, eventsKeptFrom: false, remove: false }
  const kept = { from: '1970-01-01' }
  const openFiles = () => ({ batches: openBatches(folder), shipped: openShipped(folder, () => now) })
  let open = openFiles()
  const closeFiles = () => {
    open.batches.close()
    open.shipped.close()
  }
  t.after(() => {
    closeFiles()
    deadLetters.close()
    rmSync(folder, { recursive: true })
  })
  const taken = (hit: Hit, isRepeatable = true): Taken => ({ event: eventOf(hit, siteId, 'UTC'), isRepeatable })
  const stored = () =>
    clickhouse.rows<{ event_id: string; day: string; batch_id: string; name: string }>(sql`
      SELECT event_id, toString(day) AS day, batch_id, name FROM events
      WHERE site_id = ${text(siteId)} ORDER BY day, time`)

  const batches = {
    close: () => {},
    next() {
      const batch = open.batches.next()
      if (!batch || !fault.remove) return batch
      return {
        ...batch,
        remove() {
          throw new Error('The process ends here')
        },
      }
    },
  }

  return {
    clickhouse,
    postgres,
    folder,
    stored,
    siteId,
    deadLetters,
    taken,
    /** As the collector stores it: one group in the newest file. */
    store(group: readonly Taken[], number = 1): void {
      const file = openSpoolFile(folder, number)
      const lines = group.map((one) => JSON.stringify(one)).join('\n')
      file.prepare('INSERT INTO groups (events, lines) VALUES (?, ?)').run(group.length, lines)
      file.close()
    },
    ship: (engine: ClickHouse = clickhouse, isRetry = false) =>
      shipNext(
        {
          clickhouse: engine,
          async eventsKeptFrom() {
            if (fault.eventsKeptFrom) throw new Error('PostgreSQL is away')
            return kept.from
          },
          deadLetters,
          now: () => now,
          ...open,
          batches,
        },
        isRetry,
      ),
    /** As the process does it beside the shipping. */
    deliver: (meanwhile: () => Promise<unknown> = async () => {}) =>
      deliverNotes(open.shipped, {
        async noteLateDays(days: readonly SiteDay[]) {
          if (fault.noteLateDays) throw new Error('PostgreSQL is away')
          const rows = await stored()
          for (const { day } of days) noted.push({ day, isStored: rows.some((row) => row.day === day) })
          await meanwhile()
        },
        async deletedAmong(ids) {
          if (fault.deletedAmong) throw new Error('PostgreSQL is away')
          return deletedAmong(postgres, ids)
        },
        async eraseDeleted(ids) {
          for (const id of ids) await eraseSite(clickhouse, id)
        },
      }),
    waiting: () => open.shipped.notes().map(({ day, events }) => ({ day, events })),
    noted,
    fault,
    kept,
    /** As after kill -9: nothing is left but the files. */
    restart(): void {
      closeFiles()
      open = openFiles()
    },
    titles: () =>
      clickhouse.rows<{ pathname: string; title: string }>(sql`
        SELECT pathname, max(latest).title AS title FROM titles WHERE site_id = ${text(siteId)} GROUP BY pathname`),
  }
}

/** The engine takes what it is sent, but the answer is lost. */
const deaf = (clickhouse: ClickHouse, table = 'events'): ClickHouse => ({
  ...clickhouse,
  async insert(...words) {
    await clickhouse.insert(...words)
    if (words[0] === table) throw new Error('The connection broke')
  },
})

const at = (time: string, day = today) => `${day}T${time}Z`
const ids = (taken: readonly Taken[]) => taken.map(({ event }) => event.eventId).sort()

test('what is in the spool is in the engine once, with its titles, and no longer in the spool', async (t) => {
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

test('an answer that got lost: after a restart the engine is asked first, and nothing is there twice', async (t) => {
  const shipper = await openShipper(t)
  const group = [shipper.taken({ at: at('10:00:00'), title: 'A' }), shipper.taken({ at: at('10:00:01') }, false)]
  shipper.store(group)
  await assert.rejects(shipper.ship(deaf(shipper.clickhouse)), /broke/)
  const [first] = await shipper.stored()
  shipper.restart()
  shipper.store([shipper.taken({ at: at('10:00:02') })]) // comes later, and does not join the batch under way
  const shipment = await shipper.ship()
  assert.equal(shipment?.events, 2)
  const rows = await shipper.stored()
  assert.deepEqual(rows.map(({ event_id }) => event_id).sort(), ids(group))
  assert.equal(new Set(rows.map(({ batch_id }) => batch_id)).size, 1)
  assert.equal(rows[0]?.batch_id, first?.batch_id)
  assert.deepEqual(await shipper.titles(), [{ pathname: '/', title: 'A' }])
  assert.equal((await shipper.ship())?.events, 1)
})

test('an end between events and titles: the titles are written by the next process', async (t) => {
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

test('also without the look the engine leaves out the same batch', async (t) => {
  const shipper = await openShipper(t)
  shipper.store([shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:01') })])
  await assert.rejects(shipper.ship(deaf(shipper.clickhouse)), /broke/)
  shipper.restart()
  const blind: ClickHouse = { ...shipper.clickhouse, rows: async () => [] }
  await shipper.ship(blind)
  assert.equal((await shipper.stored()).length, 2)
})

test('a part that is there already is not sent again', async (t) => {
  const shipper = await openShipper(t)
  const group = [shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:01', '2026-10-31') })]
  shipper.store(group)
  // Two months are two inserts: the second never leaves.
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

test('the same id twice is one event: in a group, in a later batch, and after a restart', async (t) => {
  const shipper = await openShipper(t)
  const first = shipper.taken({ at: at('11:59:00'), name: 'first' })
  const again: Taken = { ...first, event: { ...first.event, name: 'again', time: first.event.time + 1000 } }
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
  const other: Taken = { ...one, event: { ...one.event, siteId: `${shipper.siteId}b` } }
  shipper.store([one, other])
  assert.deepEqual(pick(await shipper.ship()), { events: 2, repeated: 0 })
})

test('events of a site that was deleted on their way are erased again, not those of one that was restored', async (t) => {
  const { postgres, clickhouse, store, ship, taken, fault, deliver, restart } = await openShipper(t)
  const accountId = await createAccount(postgres, { name: 'Orphans', plan: 'Free' })
  const newSite = () => createSite(postgres, { accountId, domain: `${randomUUID()}.example` })
  const [deleted, restored, unanswered] = [await newSite(), await newSite(), await newSite()]
  const [row] = await postgres`SELECT * FROM sites WHERE id = ${restored}`
  await Promise.all([deleted, restored, unanswered].map((id) => deleteSite(postgres, id)))
  await postgres`INSERT INTO sites ${postgres(row as object)}`
  const hit = taken({ at: at('10:00:00') })
  const hitOf = (siteId: string) => ({ ...hit, event: { ...hit.event, siteId, eventId: randomUUID() } })
  fault.deletedAmong = true
  store([hitOf(unanswered)])
  assert.equal((await ship())?.events, 1)
  await assert.rejects(deliver(), /away/)
  restart()
  fault.deletedAmong = false
  assert.equal(await deliver(), 1)
  store([deleted, deleted, restored].map(hitOf))
  store([hit])
  assert.equal((await ship())?.events, 4)
  assert.equal(await deliver(), 2)
  assert.equal(await deliver(), 0)
  const counts = await clickhouse.rows(sql`
    SELECT site_id, toUInt32(count()) AS count FROM events
    WHERE site_id IN ${texts([deleted, restored, unanswered, hit.event.siteId])} GROUP BY site_id ORDER BY site_id`)
  assert.deepEqual(
    counts,
    [restored, hit.event.siteId].sort().map((site_id) => ({ site_id, count: 1 })),
  )
})

test('events of earlier days, out of order and over the end of a month, keep the day they were given', async (t) => {
  const shipper = await openShipper(t)
  const days = ['2026-11-14', '2026-10-31', '2026-11-15', '2026-11-01']
  for (const day of days) shipper.store([shipper.taken({ at: at('23:59:59', day) })])
  await shipper.ship()
  assert.deepEqual(
    (await shipper.stored()).map(({ day }) => day),
    days.toSorted(),
  )
})

test('every day that was shipped is noted once its events are in the engine, whatever the clock says of it', async (t) => {
  const shipper = await openShipper(t)
  const days = ['2026-11-13', '2026-11-14', today, '2026-11-16', '2026-11-17']
  for (const day of days) shipper.store([shipper.taken({ at: at('10:00:00', day) })])
  await shipper.ship()
  await shipper.deliver()
  assert.deepEqual(
    shipper.noted,
    days.map((day) => ({ day, isStored: true })),
  )
  assert.deepEqual(shipper.waiting(), [])
  await shipper.deliver()
  assert.equal(shipper.noted.length, days.length)
})

test('without PostgreSQL shipping goes on, and what it has to be told outlives the process', async (t) => {
  const shipper = await openShipper(t)
  Object.assign(shipper.fault, { noteLateDays: true, deletedAmong: true, eventsKeptFrom: true })
  shipper.store([shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:00', '2025-01-31') })])
  assert.equal((await shipper.ship())?.events, 2)
  await assert.rejects(shipper.deliver(), /away/)
  shipper.store([shipper.taken({ at: at('10:00:01') })])
  assert.equal((await shipper.ship())?.events, 1)
  await assert.rejects(shipper.deliver(), /away/)
  shipper.restart()
  assert.equal((await shipper.stored()).length, 3)
  Object.assign(shipper.fault, { noteLateDays: false, deletedAmong: false })
  assert.deepEqual(shipper.waiting(), [
    { day: '2025-01-31', events: 1 },
    { day: today, events: 2 },
  ])
  await shipper.deliver()
  assert.deepEqual(shipper.noted.map(({ day }) => day).sort(), ['2025-01-31', today])
  shipper.restart()
  assert.deepEqual(shipper.waiting(), [])
})

test('what is shipped for a day while that day is being noted is noted again', async (t) => {
  const shipper = await openShipper(t)
  shipper.store([shipper.taken({ at: at('10:00:00') })])
  await shipper.ship()
  await shipper.deliver(async () => {
    shipper.store([shipper.taken({ at: at('10:00:01') })])
    await shipper.ship()
  })
  assert.equal(shipper.noted.length, 1)
  assert.equal(shipper.waiting().length, 1)
  await shipper.deliver()
  assert.equal(shipper.noted.length, 2)
  assert.deepEqual(shipper.waiting(), [])
})

test('more notes than are delivered at once are delivered all the same', async (t) => {
  const shipper = await openShipper(t)
  const hit = shipper.taken({ at: at('10:00:00') }, false)
  const sites = Array.from({ length: 2_001 }, (_, index) => `${shipper.siteId}-${index}`)
  shipper.store(sites.map((siteId) => ({ ...hit, event: { ...hit.event, siteId, eventId: randomUUID() } })))
  await shipper.ship()
  await shipper.deliver()
  assert.equal(shipper.noted.length, 2_001)
  assert.deepEqual(shipper.waiting(), [])
})

test('an end between the record of a batch and its removal: it is removed, and nothing is there twice or left out', async (t) => {
  const shipper = await openShipper(t)
  const group = [shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:01') }, false)]
  shipper.store(group)
  shipper.fault.remove = true
  await assert.rejects(shipper.ship(), /ends here/)
  shipper.fault.remove = false
  shipper.restart()
  assert.deepEqual(pick(await shipper.ship()), { events: 2, repeated: 0 })
  assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids(group))
  assert.equal(await shipper.ship(), undefined)
  await shipper.deliver()
  assert.equal(shipper.noted.length, 1)
})

test('of ids that were shipped the last hour is kept, and of many the last', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  let time = now
  const most = 10
  const open = () => openShipped(folder, () => time, most)
  let shipped = open()
  const restart = () => {
    shipped.close()
    shipped = open()
  }
  const keys = Array.from({ length: 60 }, (_, index) => keyOf({ siteId: `site_${index}`, eventId: randomUUID() }))
  for (let from = 0; from < keys.length; from += 3) shipped.keep(randomUUID(), keys.slice(from, from + 3), [])
  const known = () => keys.filter(shipped.hasKey)
  for (const then of ['before', 'after'] as const) {
    if (then === 'after') restart()
    assert.deepEqual(known().slice(-most), keys.slice(-most), then)
    assert.ok(known().length <= 2 * most + 3, `${then}: ${known().length}`)
  }
  const rows = () => {
    const file = new DatabaseSync(join(folder, 'shipped.sqlite'))
    const found = file.prepare('SELECT count(*) AS count FROM batches').get() as { count: number }
    file.close()
    return found.count
  }
  assert.ok(rows() <= 2 * Math.ceil(most / 3) + 2, `${rows()} rows`)
  time += 3_600_001
  restart()
  assert.deepEqual(known(), [])
  shipped.keep(randomUUID(), [], [])
  assert.equal(rows(), 1)
  shipped.close()
})

test('an event of a day whose events are no longer kept is left out and counted, however long it lay in the spool', async (t) => {
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

test('a row that the engine will never take is put aside, and all others go in', async (t) => {
  const shipper = await openShipper(t)
  const good = Array.from({ length: 7 }, (_, index) => shipper.taken({ at: at(`10:00:0${index}`) }))
  const bad = shipper.taken({ at: at('10:00:09') })
  const poison: Taken = { ...bad, event: { ...bad.event, visitorId: 'not a number' } as TrafficEvent }
  shipper.store([...good.slice(0, 3), poison, ...good.slice(3)])
  await shipper.ship()
  assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids(good))
  assert.equal(shipper.deadLetters.count(), 1)
  assert.equal(await shipper.ship(), undefined)
})

test('an engine that is away costs nothing: the batch stays as it is', async (t) => {
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

const pick = (shipment: { events: number; repeated: number } | undefined) => ({
  events: shipment?.events,
  repeated: shipment?.repeated,
})
