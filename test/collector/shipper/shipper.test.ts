// The shipper inside this process: what it sends to the collector, how it begins and how it ends.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { clusterOf } from '../../../src/cluster/cluster.ts'
import { openBatches } from '../../../src/collector/shipper/batches.ts'
import { openPlacements } from '../../../src/collector/shipper/placements.ts'
import { createShipper, type ShipperMessage } from '../../../src/collector/shipper/shipper.ts'
import { openSpoolFile } from '../../../src/collector/spool/files.ts'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import { eventOf } from '../../support/events.ts'
import { eventually } from '../../support/eventually.ts'
import { connect, createStores, disconnect, openStores, type Stores } from '../../support/stores.ts'

const nowhere = 'postgres://nobody@127.0.0.1:1/nothing'

function newSpool(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Its stores work, unless `down` says otherwise. */
function open(
  t: TestContext,
  { postgres, clickhouse, addresses }: Stores,
  { folder = newSpool(t), siteId = `site_${randomUUID()}`, isWithoutPostgres = false } = {},
) {
  const down = { postgres: isWithoutPostgres, clickhouse: false }
  let connections = 0
  const exits: string[] = []
  const messages: ShipperMessage[] = []
  const faulty: ClickHouse = {
    ...clickhouse,
    async insert(...parameters) {
      if (down.clickhouse) throw new Error('ClickHouse is down')
      return clickhouse.insert(...parameters)
    },
  }
  const shipper = createShipper({
    cluster: clusterOf([faulty]),
    connectPostgres() {
      connections++
      return openPostgres(down.postgres ? nowhere : addresses.postgres, 2)
    },
    spoolFolder: folder,
    send: (message) => void messages.push(message),
    exit() {
      exits.push('exit')
      throw new Error('The process ends here')
    },
  })
  let number = 0
  return {
    ...shipper,
    folder,
    siteId,
    connections: () => connections,
    down,
    exits,
    messages,
    states: (of: 'shipping' | 'noting') =>
      messages.flatMap((message) => (message.is === 'state' && message.of === of ? [message.cause] : [])),
    /** Puts an event into the spool, as the collector does. */
    store(): void {
      const file = openSpoolFile(folder, 1)
      const at = new Date(Date.parse('2026-11-15T10:00:00Z') + 1_000 * number++).toISOString()
      const line = JSON.stringify({ shard: 1, event: eventOf({ at }, siteId, 'UTC'), isRepeatable: true })
      file.prepare('INSERT INTO groups (shard, events, lines) VALUES (1, 1, ?)').run(line)
      file.close()
    },
    async stored(): Promise<number> {
      const [row] = await clickhouse.rows<{ events: number }>(
        sql`SELECT count() AS events FROM events WHERE site_id = ${text(siteId)}`,
      )
      return row?.events ?? 0
    },
    /** How often PostgreSQL has the collector of this spool in its list. */
    async listed(): Promise<number> {
      const placements = openPlacements(folder)
      const { id } = placements
      placements.close()
      return (await postgres`SELECT 1 FROM collectors WHERE id = ${id}`).length
    },
    isSpoolEmpty(): boolean {
      const placements = openPlacements(folder)
      const batches = openBatches(folder, placements)
      const isEmpty = batches.isEmpty()
      batches.close()
      placements.close()
      return isEmpty
    },
  }
}

test('it ships what is in the spool, says so, and leaves the list of collectors when nothing is left', async (t) => {
  const stores = await openStores()
  const shipper = open(t, stores)
  shipper.store()
  const running = shipper.run()
  await eventually(async () => assert.equal(await shipper.stored(), 1))
  await eventually(async () =>
    assert.deepEqual([shipper.states('shipping'), shipper.states('noting')], [[undefined], [undefined]]),
  )
  assert.equal(await shipper.listed(), 1)
  shipper.store()
  shipper.end()
  await running
  assert.equal(await shipper.stored(), 2, 'an orderly end ships the rest')
  assert.equal(shipper.isSpoolEmpty(), true)
  assert.equal(await shipper.listed(), 0)
  const shipped = shipper.messages.flatMap((message) => (message.is === 'shipped' ? [message.events] : []))
  assert.deepEqual(shipped, [1, 1])
})

test('two of them share nothing', async (t) => {
  const stores = await openStores()
  const [one, other] = [open(t, stores), open(t, stores)]
  one.store()
  other.store()
  const running = [one.run(), other.run()]
  await eventually(async () => assert.deepEqual([await one.stored(), await other.stored()], [1, 1]))
  one.end()
  await running[0]
  other.store()
  await eventually(async () => assert.equal(await other.stored(), 2))
  other.end()
  await running[1]
})

test('while ClickHouse is down it says why, once, and ships each event once afterwards', async (t) => {
  const shipper = open(t, await openStores())
  shipper.down.clickhouse = true
  shipper.store()
  const running = shipper.run()
  await eventually(async () => assert.deepEqual(shipper.states('shipping'), ['ClickHouse is down']))
  shipper.down.clickhouse = false
  await eventually(async () => assert.deepEqual(shipper.states('shipping'), ['ClickHouse is down', undefined]))
  shipper.end()
  await running
  assert.equal(await shipper.stored(), 1)
})

test('an end while ClickHouse is down leaves the spool, and the collector in the list', async (t) => {
  const shipper = open(t, await openStores())
  shipper.down.clickhouse = true
  shipper.store()
  const running = shipper.run()
  await eventually(async () => assert.equal(shipper.states('shipping').length, 1))
  shipper.end()
  await running
  assert.deepEqual([await shipper.stored(), shipper.isSpoolEmpty(), await shipper.listed()], [0, false, 1])
})

test('a collector that PostgreSQL does not know ships nothing, and one that it knows ships without it', async (t) => {
  const stores = await openStores()
  const first = open(t, stores, { isWithoutPostgres: true })
  first.store()
  const unknown = first.run()
  await eventually(async () => assert.ok(first.connections() > 2))
  assert.deepEqual([await first.stored(), first.messages], [0, []])
  first.down.clickhouse = true // so that something is left for the next one
  first.down.postgres = false
  await eventually(async () => assert.deepEqual(first.states('shipping'), ['ClickHouse is down']))
  first.end()
  await unknown

  const next = open(t, stores, { folder: first.folder, siteId: first.siteId, isWithoutPostgres: true })
  const known = next.run()
  await eventually(async () => assert.equal(await next.stored(), 1))
  await eventually(async () => assert.equal(typeof next.states('noting')[0], 'string', 'it says that notes wait'))
  next.down.postgres = false
  await eventually(async () => assert.equal(next.states('noting').at(-1), undefined))
  next.end()
  await known
  assert.equal(await next.stored(), 1)
})

test('the process ends when PostgreSQL is in another epoch than before', async (t) => {
  const { addresses, remove } = await createStores()
  t.after(remove)
  const stores = connect(addresses)
  t.after(() => disconnect(stores))
  const shipper = open(t, stores)
  const running = shipper.run()
  await eventually(async () => assert.equal(shipper.states('shipping').length, 1))
  assert.deepEqual(shipper.exits, [])
  await stores.postgres`UPDATE ledger SET epoch = epoch + 1`
  await eventually(async () => assert.ok(shipper.exits.length > 0))
  shipper.end()
  await running
})
