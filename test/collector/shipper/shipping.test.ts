// Collector and shipper as real processes: a start in a busy hour, outages while events are in the spool, and the shipping lag.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createSite, findSite } from '../../../src/accounts/sites.ts'
import { clusterOf } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import type { SpooledEvent } from '../../../src/collector/spool/spooled-event.ts'
import { rollUpSite } from '../../../src/rollups/roll-up.ts'
import { type ClickHouse, openClickHouse } from '../../../src/stores/clickhouse.ts'
import { sql, text, texts } from '../../../src/stores/clickhouse-sql.ts'
import { openPostgres, type Postgres } from '../../../src/stores/postgres.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { storedId } from '../../../src/traffic/recording.ts'
import { startCollectorProcess } from '../../support/collector-process.ts'
import { eventually } from '../../support/eventually.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { missing } from '../../support/needing.ts'
import { startOwnPostgres } from '../../support/own-servers.ts'
import { createEmptyStores, openStores } from '../../support/stores.ts'
import { at, openShipper } from './own-shipper.ts'

async function newSite(postgres: Postgres) {
  const domain = `${randomUUID()}.example`
  const accountId = await createAccount(postgres, { name: 'Shipping', plan: 'Free' })
  const id = await createSite(postgres, { accountId, domain })
  return { id, page: { n: 'pageview', u: `https://${domain}/`, d: domain } }
}

/** How often each of these events of a site is in ClickHouse. */
async function timesOf(clickhouse: ClickHouse, siteId: string, ids: readonly string[]): Promise<number[]> {
  const rows = await clickhouse.rowsPatiently<{ event_id: string; times: number }>(sql`
    SELECT toString(event_id) AS event_id, toUInt32(count()) AS times FROM events
    WHERE site_id = ${text(siteId)} AND toString(event_id) IN ${texts(ids.map(storedId))} GROUP BY event_id`)
  return ids.map((id) => rows.find(({ event_id }) => event_id === storedId(id))?.times ?? 0)
}

/** How many notes for PostgreSQL the shipper has not delivered yet. */
function notesIn(spoolFolder: string): number {
  const file = new DatabaseSync(join(spoolFolder, 'shipped.sqlite'), { readOnly: true })
  const row = file.prepare('SELECT count(*) AS notes FROM notes').get()
  file.close()
  return Number(row?.notes)
}

const busyHour = 4_000_000

test(`a start after ${busyHour} events in an hour: it ships at once, and events repeated over the restart count once`, async (t) => {
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const { postgres, clickhouse, addresses } = stores
  await migrate(stores)
  const site = await newSite(postgres)
  const [before, after] = [randomUUID(), randomUUID()]
  const first = await startCollectorProcess(addresses)
  t.after(() => first.kill())
  await eventually(async () => assert.equal((await first.post({ ...site.page, id: before })).status, 202))
  await eventually(async () => assert.deepEqual(await timesOf(clickhouse, site.id, [before]), [1]))
  await first.kill()
  await clickhouse.run(sql`
    INSERT INTO events SELECT * REPLACE (
      now64(3) - number % 3000 AS time, rand64(number) AS event_id,
      cityHash64(number % 1000000) AS visitor_id)
    EXCEPT number FROM events CROSS JOIN numbers(${text(`${busyHour}`)}::UInt64) AS numbers WHERE site_id = ${text(site.id)}`)
  const second = await startCollectorProcess(addresses, { spoolFolder: first.spoolFolder })
  t.after(() => second.stop())
  for (const id of [before, after]) assert.equal((await second.post({ ...site.page, id })).status, 202)
  const began = Date.now()
  await eventually(async () => assert.equal(await second.metric('footfall_events_shipped_total'), 1), 15_000)
  t.diagnostic(`shipped after ${Date.now() - began} ms`)
  assert.deepEqual(await timesOf(clickhouse, site.id, [before, after]), [1, 1])
  assert.equal(await second.metric('footfall_events_repeated_total'), 1)
})

test('PostgreSQL down and the collector killed meanwhile: events reach ClickHouse, and a rolled-up day is read from them again', {
  skip: missing('PostgreSQL'),
}, async (t) => {
  const server = await startOwnPostgres()
  t.after(() => server.remove())
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const { clickhouse } = stores
  const postgres = openPostgres(server.url, 2)
  t.after(() => postgres.end({ timeout: 1 }))
  await migrate({ postgres, cluster: clusterOf([clickhouse]) })
  const site = await newSite(postgres)
  const addresses = { postgres: server.url, clickhouse: stores.addresses.clickhouse }
  const today = new Date().toISOString().slice(0, 10)
  const isRolledUp = async () =>
    (await findSite(postgres, site.id))?.coverage.versions.some(({ days }) => days.some(([, last]) => last >= today))
  const first = await startCollectorProcess(addresses)
  t.after(() => first.kill())
  const ids = [randomUUID(), randomUUID()]
  await eventually(async () => assert.equal((await first.post({ ...site.page, id: ids[0] })).status, 202))
  await eventually(async () => assert.deepEqual(await timesOf(clickhouse, site.id, ids), [1, 0]))
  await eventually(async () => assert.equal(await first.metric('footfall_events_shipped_total'), 1))
  await eventually(async () => assert.equal(notesIn(first.spoolFolder), 0)) // PostgreSQL has been told
  // By the collector's clock today is not over, so the rollup uses a later clock.
  await rollUpSite({ postgres, clickhouse }, site.id, today)
  assert.equal(await isRolledUp(), true)

  // A rollup run changes the site: the collector reads the site again at the next hit, here with one that is not counted.
  assert.equal((await first.post({ ...site.page, u: 'https://elsewhere.example/' })).status, 202)
  await server.kill()
  assert.equal((await first.post({ ...site.page, id: ids[1] })).status, 202)
  await eventually(async () => assert.deepEqual(await timesOf(clickhouse, site.id, ids), [1, 1]))
  await first.kill()
  await server.start()
  await eventually(async () => assert.equal(await isRolledUp(), true)) // the connection is back, but the invalidation is not delivered yet
  const second = await startCollectorProcess(addresses, { spoolFolder: first.spoolFolder })
  t.after(() => second.stop())
  await eventually(async () => assert.equal(await isRolledUp(), false))
})

test('the age of waiting events grows while the shipper is stopped, and is 0 when everything is shipped', async (t) => {
  const { postgres, addresses } = await openStores()
  const site = await newSite(postgres)
  const collector = await startCollectorProcess(addresses)
  t.after(() => collector.stop())
  const lag = () => collector.metric('footfall_shipping_lag_seconds')
  await eventually(async () => assert.equal((await collector.post(site.page)).status, 202))
  await eventually(async () => assert.equal(await collector.metric('footfall_events_shipped_total'), 1))
  await eventually(async () => assert.equal(await lag(), 0))
  const shipper = collector.shipperPid() as number
  process.kill(shipper, 'SIGSTOP')
  const began = Date.now()
  assert.equal((await collector.post(site.page)).status, 202)
  for (const seconds of [1, 2, 3]) {
    await pause(Math.max(0, began + 1000 * seconds - Date.now()))
    const asked = Date.now()
    const said = await lag()
    assert.ok(
      said > seconds - 0.5 && said <= (Date.now() - began) / 1000,
      `${said} s, ${asked - began} ms after the event`,
    )
  }
  process.kill(shipper, 'SIGCONT')
  await eventually(async () => assert.equal(await lag(), 0))
})

test('the same id on two sites, one recorded while the network breaks: each is there once', async (t) => {
  const shipper = await openShipper(t)
  const { addresses } = await openStores()
  const url = new URL(addresses.clickhouse)
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) })
  t.after(() => proxy.close())
  const behind = openClickHouse(Object.assign(new URL(url), { port: proxy.port }).href)
  t.after(() => behind.close())
  const one = shipper.taken({ at: at('10:00:00'), title: 'One' })
  const onOther: TrafficEvent = { ...one.event, siteId: `${shipper.siteId}b`, title: 'Other' }
  const refused = shipper.taken({ at: at('10:00:01') })
  // Halving finds the refused row, so the other events are written one by one.
  const poison: SpooledEvent = { ...refused, event: { ...refused.event, visitorId: 'not a number' } as TrafficEvent }
  shipper.store([one, poison, { ...one, event: onOther }])
  let taken = 0
  const breaking: ClickHouse = {
    ...behind,
    async insert(...words) {
      if (taken > 0) proxy.setFault({ reset: true })
      await behind.insert(...words)
      if (words[0] === 'titles') taken++
    },
  }
  await assert.rejects(shipper.ship(breaking))
  assert.deepEqual(await timesOf(shipper.clickhouse, shipper.siteId, [one.event.eventId]), [1])
  assert.deepEqual(await timesOf(shipper.clickhouse, onOther.siteId, [one.event.eventId]), [0])
  proxy.setFault({})
  await eventually(() => shipper.ship(behind, true))
  for (const siteId of [shipper.siteId, onOther.siteId]) {
    assert.deepEqual(await timesOf(shipper.clickhouse, siteId, [one.event.eventId]), [1])
  }
  assert.equal(shipper.deadLetters.count(), 1)
})

test('the same id on two sites next to a refused row: both are there, with their titles', async (t) => {
  const shipper = await openShipper(t)
  const one = shipper.taken({ at: at('10:00:00'), title: 'One' })
  const other: SpooledEvent = { ...one, event: { ...one.event, siteId: `${shipper.siteId}b`, title: 'Other' } }
  const poison: SpooledEvent = {
    ...one,
    event: { ...one.event, eventId: randomUUID(), visitorId: 'none' } as TrafficEvent,
  }
  shipper.store([one, poison, other])
  await shipper.ship()
  const siteIds = [one.event.siteId, other.event.siteId]
  for (const table of ['events', 'titles']) {
    const rows = await shipper.clickhouse.rowsPatiently(
      table === 'events'
        ? sql`SELECT site_id FROM events WHERE site_id IN ${texts(siteIds)} ORDER BY site_id`
        : sql`SELECT site_id FROM titles WHERE site_id IN ${texts(siteIds)} ORDER BY site_id`,
    )
    assert.deepEqual(
      rows,
      siteIds.map((site_id) => ({ site_id })),
      table,
    )
  }
})
