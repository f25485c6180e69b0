// Every byte of a deleted site is erased, even when a store is down meanwhile: the tests search the files of ClickHouse (decision D-145).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { deleteSite } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { siteTables } from '../../src/cluster/tables.ts'
import { eraseAgain, listDeletedSites } from '../../src/erasure/deleted-sites.ts'
import { eraseDeletedSites, eraseRows } from '../../src/erasure/job.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import { type ClickHouse, openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { cloneOf, withSnapshot } from '../../src/traffic/snapshot.ts'
import { pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { needing } from '../support/needing.ts'
import { connect, createStores, disconnect, type Stores } from '../support/stores.ts'
import { makeWorld, type World } from '../support/world.ts'
import { filesWith } from './part-files.ts'

const now = '2026-03-15T12:00:00Z'
const days = ['2026-03-14', '2026-03-15', '2026-02-10']

const { test, before, after } = needing('ClickHouse')

const folder = mkdtempSync(join(tmpdir(), 'footfall-erasure-'))
let created: Awaited<ReturnType<typeof createStores>>
let stores: Stores

/** A server of its own: it removes old files within seconds instead of half a minute, and all files below the folder are these tests'. */
before(async () => {
  created = await createStores({ folder })
  stores = connect(created.addresses)
  for (const table of Object.keys(siteTables)) {
    await stores.clickhouse.command(
      `ALTER TABLE ${table} MODIFY SETTING cleanup_delay_period = 1, max_cleanup_delay_period = 1, cleanup_delay_period_random_add = 0`,
    )
    await stores.clickhouse.command(`DETACH TABLE ${table} SYNC`)
    await stores.clickhouse.command(`ATTACH TABLE ${table}`)
  }
})

after(async () => {
  await disconnect(stores)
  await created.remove()
  rmSync(folder, { recursive: true })
})

/** Two sites with pages, titles, and rollups of closed days and today. */
async function openTwoSites(t: TestContext) {
  await stores.postgres`DELETE FROM deleted_sites` // those of the previous test
  const [going, staying] = [await makeWorld(stores, { now }), await makeWorld(stores, { now })]
  t.after(() => Promise.all([going.close(), staying.close()]))
  const secrets: string[] = []
  for (const [world, name] of [
    [going, 'going'],
    [staying, 'staying'],
  ] as const) {
    const [path, title] = [`/${name}-${randomUUID()}`, `Title ${randomUUID()}`]
    secrets.push(path, title)
    // Repeated, so that ClickHouse compresses them.
    for (const day of days) {
      await world.record(
        ...Array.from({ length: 40 }, (_, index) =>
          pageview({ at: `${day}T10:00:00Z`, visitor: `${index}`, pathname: path, title, referrer: 'a.example' }),
        ),
      )
      if (day === '2026-03-15') await world.rollUp('2026-03-14')
    }
    await rollUpToday(stores, world.siteId, 'UTC', Date.parse(now))
  }
  const [path, title, otherPath, otherTitle] = secrets as [string, string, string, string]
  const search = (wanted: string) => filesWith(folder, wanted).length > 0
  return {
    going,
    staying,
    /**
     * Whether the files contain the path and title of the deleted site, and of the other one. (The random id stays in ClickHouse's list of
     * deletions and in PostgreSQL.)
     */
    found: () => ({
      going: [path, title].map(search),
      staying: [otherPath, otherTitle].every(search),
    }),
  }
}

const everything = { going: [true, true], staying: true }
const nothing = { going: [false, false], staying: true }

async function answers(world: World) {
  world.api.directory.forget(world.siteId)
  const all = 'range=custom&start=2026-01-01&end=2026-03-15'
  return [await world.data('/stats/pages', all), await world.data('/stats/overview', all)]
}

const rowsOf = async ({ clickhouse }: Stores, siteId: string) =>
  (await clickhouse.rows<{ rows: number }>(sql`SELECT count() AS rows FROM events WHERE site_id = ${text(siteId)}`))[0]
    ?.rows

async function stateOf({ postgres }: Stores, siteId: string) {
  const job = (await listDeletedSites(postgres)).find(({ id }) => id === siteId)
  return [job?.erasedAt, job?.rewrittenAt, job?.purgedAt].map((date) => date instanceof Date)
}

/** The inodes of the files in the active parts of a month. */
async function filesOf({ clickhouse }: Stores, month: string): Promise<number[]> {
  const parts = await clickhouse.rows<{ path: string }>(sql`
    SELECT path FROM system.parts
    WHERE database = currentDatabase() AND table = 'events' AND active AND rows > 0 AND partition = ${text(month)}`)
  return parts.map(({ path }) => statSync(`${path}data.bin`).ino).sort()
}

const untilPurged = (stores: Stores, siteId: string) =>
  eventually(async () => {
    await eraseDeletedSites(stores)
    assert.deepEqual(await stateOf(stores, siteId), [true, true, true])
  }, 60_000)

test('no file contains the path or title of a site 7 days after its deletion, and other sites keep theirs', async (t) => {
  const { going, staying, found } = await openTwoSites(t)
  const { postgres } = stores
  const before = await answers(staying)
  assert.deepEqual(found(), everything, 'the search finds existing text')

  await deleteSite(postgres, going.siteId)
  await eraseDeletedSites(stores)
  assert.equal(await rowsOf(stores, going.siteId), 0)
  assert.deepEqual(await stateOf(stores, going.siteId), [true, false, false])
  assert.deepEqual(found(), everything, 'DELETE only masks')

  await postgres`UPDATE deleted_sites SET deleted_at = now() - interval '7 days' + interval '1 minute'`
  await eraseDeletedSites(stores)
  assert.deepEqual(
    await stateOf(stores, going.siteId),
    [true, false, false],
    'it waits, so that several sites share one rewrite',
  )
  await postgres`UPDATE deleted_sites SET deleted_at = now() - interval '7 days'`
  await untilPurged(stores, going.siteId)
  assert.deepEqual(found(), nothing)
  assert.deepEqual(await answers(staying), before)
  const [{ late }] = await postgres<[{ late: boolean }]>`
    SELECT rewritten_at > purged_at OR erased_at > rewritten_at AS late FROM deleted_sites`
  assert.equal(late, false)
})

test('one rewrite serves all waiting sites and leaves months without erased rows alone', async (t) => {
  const { going, staying, found } = await openTwoSites(t)
  const { postgres } = stores
  const other = await makeWorld(stores, { now })
  t.after(() => other.close())
  await other.record(pageview({ at: '2026-02-20T10:00:00Z', pathname: '/other' }))
  await staying.record(pageview({ at: '2025-12-10T10:00:00Z', pathname: '/december' }))
  for (const { siteId } of [going, other]) await deleteSite(postgres, siteId)
  await postgres`UPDATE deleted_sites SET deleted_at = now() - interval '7 days' WHERE id = ${going.siteId}`
  await eraseRows(stores)
  const [december, february] = [await filesOf(stores, '202512'), await filesOf(stores, '202602')]
  await untilPurged(stores, other.siteId)
  assert.deepEqual(await stateOf(stores, going.siteId), [true, true, true])
  assert.deepEqual(found(), nothing)
  assert.deepEqual(await filesOf(stores, '202512'), december, 'the files are the same')
  assert.notDeepEqual(await filesOf(stores, '202602'), february)
})

test('a deletion while ClickHouse is down is recorded and completed when it is back', async (t) => {
  const { going } = await openTwoSites(t)
  const down = openClickHouse('http://footfall:footfall@127.0.0.1:9/none')
  t.after(() => down.close())
  await deleteSite(stores.postgres, going.siteId)
  await assert.rejects(eraseDeletedSites({ ...stores, clickhouse: down }))
  assert.deepEqual(await stateOf(stores, going.siteId), [false, false, false])
  assert.equal((await rowsOf(stores, going.siteId)) ?? 0, 120)
  await eraseDeletedSites(stores)
  assert.deepEqual([await stateOf(stores, going.siteId), await rowsOf(stores, going.siteId)], [[true, false, false], 0])
})

test('after a failure of any statement the next round continues', async (t) => {
  const { going, staying, found } = await openTwoSites(t)
  const before = await answers(staying)
  await deleteSite(stores.postgres, going.siteId)
  // Each statement that changes something fails once, in turn, until all the work is done.
  for (let good = 0; ; good++) {
    let done = 0
    const broken = new Error('ClickHouse is down')
    const failing: ClickHouse = {
      ...stores.clickhouse,
      run: (...given) => (done++ < good ? stores.clickhouse.run(...given) : Promise.reject(broken)),
    }
    const ended = await eraseDeletedSites({ ...stores, clickhouse: failing }, '0 seconds').then(
      () => true,
      (error) => assert.equal(error, broken),
    )
    if (ended) break
    assert.equal((await stateOf(stores, going.siteId))[1], false)
  }
  await untilPurged(stores, going.siteId)
  assert.deepEqual(found(), nothing)
  assert.deepEqual(await answers(staying), before)
})

test('events that arrive any time after the deletion are erased too', async (t) => {
  const { going, found } = await openTwoSites(t)
  const { postgres } = stores
  await deleteSite(postgres, going.siteId)
  const late = () => going.record(pageview({ at: '2026-03-14T11:00:00Z', pathname: '/late' }))

  // While rows are being erased: the statement does not cover events that arrive after it.
  const meanwhile: ClickHouse = {
    ...stores.clickhouse,
    async run(...given) {
      await stores.clickhouse.run(...given)
      await late()
      await eraseAgain(postgres, [going.siteId])
    },
  }
  await eraseRows({ postgres, clickhouse: meanwhile })
  assert.deepEqual(await stateOf(stores, going.siteId), [false, false, false])

  // After the erasure is complete: it starts again and waits 7 days from now.
  await eraseDeletedSites(stores, '0 seconds')
  await untilPurged(stores, going.siteId)
  await postgres`UPDATE deleted_sites SET deleted_at = now() - interval '1 year'`
  await late()
  assert.deepEqual(await eraseAgain(postgres, [going.siteId, 'site_never']), [going.siteId])
  await eraseDeletedSites(stores)
  assert.deepEqual([await stateOf(stores, going.siteId), await rowsOf(stores, going.siteId)], [[true, false, false], 0])

  // From a writer that could not report it: erased with the next rewrite.
  await late()
  await eraseDeletedSites(stores, '0 seconds')
  assert.equal(await rowsOf(stores, going.siteId), 0)
  await untilPurged(stores, going.siteId)
  assert.deepEqual(found(), nothing)
})

test('a site restored with its id is not erased', async (t) => {
  const { going, found } = await openTwoSites(t)
  const { postgres } = stores
  const [row] = await postgres`SELECT * FROM sites WHERE id = ${going.siteId}`
  await deleteSite(postgres, going.siteId)
  await postgres`INSERT INTO sites ${postgres(row as object)}`
  await eraseDeletedSites(stores, '0 seconds')
  assert.deepEqual([await rowsOf(stores, going.siteId), [...(await listDeletedSites(postgres))]], [120, []])
  assert.deepEqual(found(), everything)
})

test('a running backup keeps the files of a deleted site; a killed backup does not', async (t) => {
  const { going, found } = await openTwoSites(t)
  const { postgres, clickhouse } = stores
  await withSnapshot(stores, ['events', 'titles'], async () => {
    assert.equal(await withSnapshot(stores, ['events', 'titles'], async () => true), undefined, 'one backup at a time')
    await deleteSite(postgres, going.siteId)
    await eraseDeletedSites(stores, '0 seconds')
    for (let round = 0; round < 5; round++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await eraseDeletedSites(stores)
    }
    assert.deepEqual(await stateOf(stores, going.siteId), [true, true, false])
    assert.deepEqual(found().going, [true, true])
  })
  // A killed backup leaves clones, and nobody holds the lock.
  await clickhouse.command(`CREATE TABLE ${cloneOf('titles')} CLONE AS titles`)
  await untilPurged(stores, going.siteId)
  assert.deepEqual(found(), nothing)
  assert.deepEqual(await clickhouse.rows(sql`SELECT name FROM system.tables WHERE name LIKE 'backup_of%'`), [])
})

test('a ClickHouse that was restored from its own backup ignores deletions: they stay open until migrate has repaired it', async (t) => {
  const { going, staying } = await openTwoSites(t)
  const { postgres, clickhouse } = stores
  // Deletions number the parts of a table higher than its blocks. RESTORE counts the blocks anew.
  for (let time = 0; time < 3; time++) await clickhouse.command("DELETE FROM titles WHERE pathname = '/nothing'")
  await clickhouse.command('OPTIMIZE TABLE titles FINAL')
  const [{ name }] = (await clickhouse.rows<{ name: string }>(sql`SELECT currentDatabase() AS name`)) as [
    { name: string },
  ]
  await clickhouse.command(`BACKUP TABLE ${name}.titles TO File('${name}')`)
  await clickhouse.command('DROP TABLE titles SYNC')
  await clickhouse.command(`RESTORE TABLE ${name}.titles FROM File('${name}')`)

  await deleteSite(postgres, going.siteId)
  await assert.rejects(
    eraseRows(stores),
    /deletes no rows of titles, because it was restored from a backup\. Run `footfall migrate`/,
  )
  assert.deepEqual(await stateOf(stores, going.siteId), [false, false, false])
  const before = await answers(staying)
  await migrate({ postgres, cluster: clusterOf([clickhouse]) })
  await eraseRows(stores)
  assert.deepEqual(await stateOf(stores, going.siteId), [true, false, false])
  assert.deepEqual(await answers(staying), before)
  assert.deepEqual(await migrate({ postgres, cluster: clusterOf([clickhouse]) }), [])
})
