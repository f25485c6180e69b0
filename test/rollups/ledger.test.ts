// What is counted after PostgreSQL or ClickHouse was restored from an older backup, or after a standby without the last transactions took over.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { openDirectory } from '../../src/accounts/directory.ts'
import { createSite, findSite, type Site } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { readCoverage } from '../../src/rollups/coverage.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { compareLedger, noteInClickHouse, refuseOlder, verifyLedger } from '../../src/rollups/ledger.ts'
import { declareRetention, dropRolledUpMonths, rollUpBeforeDropping } from '../../src/rollups/retention.ts'
import { rebuildSite, rollUpSite } from '../../src/rollups/roll-up.ts'
import { sweep } from '../../src/rollups/sweep.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { freshStores, patientPostgres } from '../support/fresh-stores.ts'
import { databaseUrl } from '../support/stores.ts'

const now = Date.parse('2026-11-15T12:00:00Z')

/** An installation with one site, whose databases can be set back to what they were. */
async function openInstallation(t: TestContext) {
  const stores = await freshStores((end) => t.after(end))
  let { postgres, clickhouse } = stores
  const name = new URL(stores.addresses.postgres).pathname.slice(1)
  const server = openClickHouse(Object.assign(new URL(stores.addresses.clickhouse), { pathname: '/default' }).href)
  const admin = openPostgres(databaseUrl, 1)
  t.after(async () => {
    await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])
    const copies = await server.rows<{ name: string }>(
      sql`SELECT name FROM system.databases WHERE startsWith(name, 'copy_of_')`,
    )
    for (const copy of copies) if (copy.name.includes(name)) await server.command(`DROP DATABASE ${copy.name}`)
    await server.close()
    await admin.end()
  })
  const id = await createSite(postgres, {
    accountId: await createAccount(postgres, { name: 'A test', plan: 'Agency' }),
    domain: 'a.example',
  })

  /** PostgreSQL copies only a database that nobody uses. */
  async function copyPostgres(from: string, to: string): Promise<void> {
    await postgres.end({ timeout: 1 })
    await admin.unsafe(`DROP DATABASE IF EXISTS ${to} WITH (FORCE)`)
    await admin.unsafe(`CREATE DATABASE ${to} TEMPLATE ${from}`)
    postgres = patientPostgres(stores.addresses.postgres)
  }

  return {
    id,
    stores: () => ({ postgres, clickhouse }),
    all: () => ({ postgres, cluster: clusterOf([clickhouse]) }),
    dumpPostgres: () => copyPostgres(name, `${name}_dump`),
    restorePostgres: () => copyPostgres(`${name}_dump`, name),
    async dumpClickHouse() {
      const tables = await clickhouse.rows<{ name: string }>(sql`SHOW TABLES`)
      await server.command(`CREATE DATABASE copy_of_${name}`)
      for (const table of tables)
        await server.command(`CREATE TABLE copy_of_${name}.${table.name} CLONE AS ${name}.${table.name}`)
    },
    /** From now on, the copy is read and written. */
    async restoreClickHouse() {
      await clickhouse.close()
      const url = Object.assign(new URL(stores.addresses.clickhouse), { pathname: `/copy_of_${name}` })
      clickhouse = openClickHouse(url.href)
    },
    /** Three views on each day, of which PostgreSQL learns. */
    async record(...days: string[]) {
      const events = days.flatMap((day) =>
        [1, 2, 3].map(() => eventOf({ at: `${day}T10:00:00Z`, visitor: randomUUID() }, id, 'UTC')),
      )
      await recordBatch(clickhouse, { id: randomUUID(), events })
      const written = days.map((day) => ({ siteId: id, day }))
      if (await invalidateDays(postgres, written)) await noteInClickHouse({ postgres, clickhouse })
    },
    rollUp: (last: string) => rollUpSite({ postgres, clickhouse }, id, last),
    verify: () => verifyLedger({ postgres, cluster: clusterOf([clickhouse]) }),
    async views(first = '2026-11-01'): Promise<number> {
      const stats = createStatsService({ cluster: clusterOf([clickhouse]), now: () => now, cacheBytes: 0 })
      const [firstDay, lastDay] = [Temporal.PlainDate.from(first), Temporal.PlainDate.from('2026-11-14')]
      const parameters = { range: { name: 'custom', firstDay, lastDay }, filters: {}, limit: 10 } as const
      const site = (await findSite(postgres, id)) as Site
      const { data } = await stats.read(
        { report: 'overview', site, parameters, queueKey: 't' },
        AbortSignal.timeout(60_000),
      )
      return (data as { current: { pageviews: number } }).current.pageviews
    },
    /** Nothing is wrong, also after everything was rolled up again. */
    async isRight(expected: number) {
      assert.equal(await this.views(), expected, 'read from events')
      await this.rollUp('2026-11-14')
      assert.ok(((await readCoverage(postgres, id))?.versions.length ?? 0) > 0)
      assert.equal(await this.views(), expected, 'rolled up again')
    },
    /** The same after all that may be done with rollups. */
    async staysRight(expected: number) {
      assert.deepEqual((await verifySite({ postgres, clickhouse }, id)).wrong, [])
      await rebuildSite({ postgres, clickhouse }, id, '2026-11-14')
      await sweep({ postgres, clickhouse }, '0 seconds')
      assert.equal(await this.views(), expected, 'rebuilt and swept')
      assert.equal(await this.verify(), undefined)
      const [rows] = await clickhouse.rows<{ old: number }>(sql`
        SELECT countIf(startsWith(rollup_key, 'day ') AND toUInt32(splitByChar(' ', rollup_key)[2]) < 1024) AS old
        FROM short_rollups WHERE day >= '2026-01-01'`)
      assert.deepEqual(rows, { old: 0 }, 'rows of the earlier epoch are gone')
    },
  }
}

test('an older PostgreSQL does not know a day that was rolled up: it counts once', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2026-11-10', '2026-11-11', '2026-11-12')
  await installation.rollUp('2026-11-12')
  await installation.dumpPostgres()
  await installation.record('2026-11-13')
  await installation.rollUp('2026-11-13')
  await installation.restorePostgres()
  assert.equal(await installation.verify(), 'PostgreSQL')
  await installation.isRight(12)
  await installation.staysRight(12)
})

test('an older PostgreSQL names rows that were swept: the events count', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2026-11-10', '2026-11-11', '2026-11-12')
  await installation.rollUp('2026-11-12')
  await installation.dumpPostgres()
  await installation.record('2026-11-12')
  await installation.rollUp('2026-11-12')
  await sweep(installation.stores(), '0 seconds')
  await installation.restorePostgres()
  assert.equal(await installation.verify(), 'PostgreSQL')
  await installation.isRight(12)
})

test('an older PostgreSQL does not know of late events: they count', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2026-11-10', '2026-11-11')
  await installation.rollUp('2026-11-12')
  await installation.dumpPostgres()
  await installation.record('2026-11-10')
  await installation.restorePostgres()
  assert.equal(await installation.verify(), 'PostgreSQL')
  await installation.isRight(9)
})

test('changes of an older PostgreSQL do not hide that it is older', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2026-11-10', '2026-11-11')
  await installation.rollUp('2026-11-12')
  await installation.dumpPostgres()
  await installation.record('2026-11-10')
  await installation.restorePostgres()
  const late = (day: string) => invalidateDays(installation.stores().postgres, [{ siteId: installation.id, day }])
  assert.equal(await late('2026-11-11'), true)
  await assert.rejects(noteInClickHouse(installation.stores()), /PostgreSQL is an older copy/)
  assert.equal(await late('2026-11-12'), true)
  assert.equal(await installation.verify(), 'PostgreSQL')
  await installation.isRight(9)
})

test('an older ClickHouse does not have the rows that PostgreSQL names: its events count', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2026-11-10', '2026-11-11', '2026-11-12')
  await installation.dumpClickHouse()
  await installation.rollUp('2026-11-12')
  await installation.restoreClickHouse()
  assert.equal(await installation.verify(), 'ClickHouse')
  await installation.isRight(9)
})

test('days whose events are gone stay readable in a new epoch', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2024-03-10', '2024-03-11', '2026-11-10')
  await installation.rollUp('2026-11-12')
  await installation.dumpPostgres()
  await installation.record('2024-03-10')
  await declareRetention(installation.all().postgres, '2024-10-01')
  await rollUpBeforeDropping(installation.all(), {})
  assert.deepEqual(await dropRolledUpMonths(installation.all(), '0 seconds'), ['202403'])
  assert.equal(await installation.views('2024-01-01'), 12)
  await installation.restorePostgres()
  assert.equal(await installation.verify(), 'PostgreSQL')
  assert.equal(await installation.views('2024-01-01'), 12)
  await installation.isRight(3)
  assert.equal(await installation.views('2024-01-01'), 12)
})

test('a ClickHouse from before retention has the events of dropped days again: they count, also after the next retention', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2024-03-10', '2024-03-11', '2026-11-10')
  await installation.dumpClickHouse()
  const applyRetention = async (): Promise<string[]> => {
    await declareRetention(installation.all().postgres, '2024-10-01')
    await rollUpBeforeDropping(installation.all(), {})
    return dropRolledUpMonths(installation.all(), '0 seconds')
  }
  assert.deepEqual(await applyRetention(), ['202403'])
  await installation.restoreClickHouse()
  assert.equal(await installation.verify(), 'ClickHouse')
  assert.equal(await installation.views('2024-01-01'), 9)
  assert.deepEqual(await applyRetention(), ['202403'])
  assert.equal(await installation.views('2024-01-01'), 9)
})

test('the same databases, also a standby that has every change, begin no epoch', async (t) => {
  const installation = await openInstallation(t)
  assert.equal(await installation.verify(), undefined)
  await installation.record('2026-11-10')
  await installation.rollUp('2026-11-12')
  await installation.dumpPostgres()
  await installation.restorePostgres()
  assert.equal(await installation.verify(), undefined)
  assert.equal((await readCoverage(installation.stores().postgres, installation.id))?.versions.length, 1)
})

test('a process that only reads refuses an older copy until an epoch has begun', async (t) => {
  const installation = await openInstallation(t)
  await installation.record('2026-11-10')
  await installation.rollUp('2026-11-12')
  await installation.dumpPostgres()
  await installation.record('2026-11-10')
  await installation.restorePostgres()
  const { postgres } = installation.stores()
  const directory = openDirectory(postgres, { refuseOlder: () => refuseOlder(installation.all()) })
  t.after(() => directory.close())
  await assert.rejects(directory.site(installation.id), /PostgreSQL is an older copy/)
  await installation.verify()
  await eventually(async () => assert.ok(await directory.site(installation.id)))
  assert.equal(await compareLedger(installation.stores()), undefined)
})
