// What the shipper keeps about shipped batches, and the invalidations for PostgreSQL, through outages and restarts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createSite, deleteSite } from '../../../src/accounts/sites.ts'
import { keyOf, openShipped } from '../../../src/collector/shipper/shipped.ts'
import { eraseRows } from '../../../src/erasure/job.ts'
import { sql, texts } from '../../../src/stores/clickhouse-sql.ts'
import { at, ids, now, openShipper, pick, today } from './own-shipper.ts'

test('events of a site deleted while they were in transit are erased again, but not those of a restored site', async (t) => {
  const { postgres, clickhouse, store, ship, taken, fault, deliver, restart } = await openShipper(t)
  const accountId = await createAccount(postgres, { name: 'Orphans', plan: 'Free' })
  const newSite = () => createSite(postgres, { accountId, domain: `${randomUUID()}.example` })
  const [deleted, restored, unanswered] = [await newSite(), await newSite(), await newSite()]
  const [row] = await postgres`SELECT * FROM sites WHERE id = ${restored}`
  await Promise.all([deleted, restored, unanswered].map((id) => deleteSite(postgres, id)))
  await postgres`INSERT INTO sites ${postgres(row as object)}`
  await eraseRows({ postgres, clickhouse }) // erases what is there; the next events arrive after the erasure
  const hit = taken({ at: at('10:00:00') })
  const hitOf = (siteId: string) => ({ ...hit, event: { ...hit.event, siteId, eventId: randomUUID() } })
  fault.eraseDeleted = true
  store([hitOf(unanswered)])
  assert.equal((await ship())?.events, 1)
  await assert.rejects(deliver(), /down/)
  restart()
  fault.eraseDeleted = false
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

test('every shipped day is invalidated once its events are in ClickHouse, whatever the clock says', async (t) => {
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

test('without PostgreSQL shipping continues, and pending invalidations survive the process', async (t) => {
  const shipper = await openShipper(t)
  Object.assign(shipper.fault, { invalidateDays: true, eraseDeleted: true, retainedFrom: true })
  shipper.store([shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:00', '2025-01-31') })])
  assert.equal((await shipper.ship())?.events, 2)
  await assert.rejects(shipper.deliver(), /down/)
  shipper.store([shipper.taken({ at: at('10:00:01') })])
  assert.equal((await shipper.ship())?.events, 1)
  await assert.rejects(shipper.deliver(), /down/)
  shipper.restart()
  assert.equal((await shipper.stored()).length, 3)
  Object.assign(shipper.fault, { invalidateDays: false, eraseDeleted: false })
  assert.deepEqual(shipper.waiting(), [
    { day: '2025-01-31', events: 1 },
    { day: today, events: 2 },
  ])
  await shipper.deliver()
  assert.deepEqual(shipper.noted.map(({ day }) => day).sort(), ['2025-01-31', today])
  shipper.restart()
  assert.deepEqual(shipper.waiting(), [])
})

test('a day shipped while its invalidation is being delivered is invalidated again', async (t) => {
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

test('more invalidations than fit into one delivery are all delivered', async (t) => {
  const shipper = await openShipper(t)
  const hit = shipper.taken({ at: at('10:00:00') }, false)
  const sites = Array.from({ length: 2_001 }, (_, index) => `${shipper.siteId}-${index}`)
  shipper.store(sites.map((siteId) => ({ ...hit, event: { ...hit.event, siteId, eventId: randomUUID() } })))
  await shipper.ship()
  await shipper.deliver()
  assert.equal(shipper.noted.length, 2_001)
  assert.deepEqual(shipper.waiting(), [])
})

for (const moment of ['keep', 'remove'] as const)
  test(`a stop before ${moment}: the next process removes the batch, and no event is duplicated, lost or without its invalidation`, async (t) => {
    const shipper = await openShipper(t)
    const group = [shipper.taken({ at: at('10:00:00') }), shipper.taken({ at: at('10:00:01') }, false)]
    shipper.store(group)
    shipper.fault[moment] = true
    await assert.rejects(shipper.ship(), /ends here/)
    shipper.fault[moment] = false
    shipper.restart()
    assert.deepEqual(pick(await shipper.ship()), { events: 2, repeated: 0 })
    assert.deepEqual((await shipper.stored()).map(({ event_id }) => event_id).sort(), ids(group))
    assert.equal(await shipper.ship(), undefined)
    await shipper.deliver()
    assert.equal(shipper.noted.length, 1)
  })

test('shipped ids are kept for an hour, and only the latest of very many', (t) => {
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
