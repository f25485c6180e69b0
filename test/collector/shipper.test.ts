// The shipper on a spool of its own, step by step: what it sends, what it leaves, and what a repetition changes.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, deletedAmong, deleteSite } from '../../src/accounts/sites.ts'
import type { Taken } from '../../src/collector/intake.ts'
import { openBatches } from '../../src/collector/shipper/batches.ts'
import { openDeadLetters } from '../../src/collector/shipper/dead-letters.ts'
import { createRecentIds } from '../../src/collector/shipper/recent-ids.ts'
import { shipNext } from '../../src/collector/shipper/shipper.ts'
import { openSpoolFile, spoolFiles } from '../../src/collector/spool-file.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
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
  const fault = { noteLateDays: false, deletedAmong: false }
  const kept = { from: '1970-01-01' }
  const open = { batches: openBatches(folder), recentIds: createRecentIds(now), unasked: new Set<string>() }
  const gone = async (ids: readonly string[]) => (fault.deletedAmong ? undefined : deletedAmong(postgres, ids))
  t.after(() => {
    open.batches.close()
    deadLetters.close()
    rmSync(folder, { recursive: true })
  })
  const taken = (hit: Hit, isRepeatable = true, zone = 'UTC'): Taken => ({
    event: eventOf(hit, siteId, zone),
    zone,
    isRepeatable,
  })
  const stored = () =>
    clickhouse.rows<{ event_id: string; day: string; batch_id: string; name: string }>(sql`
      SELECT event_id, toString(day) AS day, batch_id, name FROM events
      WHERE site_id = ${text(siteId)} ORDER BY day, time`)

  async function noteLateDays(days: readonly { siteId: string; day: string }[]): Promise<void> {
    const rows = await stored()
    for (const { day } of days) noted.push({ day, isStored: rows.some((row) => row.day === day) })
    if (fault.noteLateDays) throw new Error('PostgreSQL is away')
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
          noteLateDays,
          deletedAmong: gone,
          eventsKeptFrom: async () => kept.from,
          deadLetters,
          now: () => now,
          ...open,
        },
        isRetry,
      ),
    noted,
    fault,
    kept,
    /** As after kill -9: nothing is left but the files. */
    restart(): void {
      open.batches.close()
      open.batches = openBatches(folder)
      open.recentIds = createRecentIds(now)
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
  const { postgres, clickhouse, store, ship, taken, fault } = await openShipper(t)
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
  assert.equal((await ship())?.orphaned, 0)
  fault.deletedAmong = false
  store([deleted, deleted, restored].map(hitOf))
  store([hit])
  const { events, orphaned } = (await ship()) ?? {}
  assert.deepEqual({ events, orphaned }, { events: 4, orphaned: 2 })
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

test('days that are over in their zone are noted, after their events are in the engine and before the spool forgets them', async (t) => {
  const shipper = await openShipper(t)
  // At 12:00 UTC it is still the 14th nowhere, the 16th already on Kiritimati.
  shipper.store([
    shipper.taken({ at: at('10:00:00') }),
    shipper.taken({ at: at('09:00:00') }, true, 'Pacific/Kiritimati'),
    shipper.taken({ at: at('10:00:00', '2026-11-13') }),
  ])
  shipper.fault.noteLateDays = true
  await assert.rejects(shipper.ship(), /away/)
  assert.deepEqual(shipper.noted, [
    { day: '2026-11-15', isStored: true },
    { day: '2026-11-13', isStored: true },
  ])
  shipper.fault.noteLateDays = false
  await shipper.ship(shipper.clickhouse, true)
  assert.equal(shipper.noted.length, 4)
  assert.equal((await shipper.stored()).length, 3)
  assert.equal(await shipper.ship(), undefined)
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
