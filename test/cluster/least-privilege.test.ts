// The users of deploy/clickhouse/least-privilege: each process works with its own user, and each user is refused everything else.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClickHouse } from '../../dev/clickhouse/server.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, deleteSite, findSite, type Site } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { readEarlierValues } from '../../src/collector/intake/earlier-values.ts'
import { openMemorySessions } from '../../src/collector/sessions/memory-sessions.ts'
import { readRunningSessions } from '../../src/collector/sessions/restored-sessions.ts'
import { eraseDeletedSites } from '../../src/erasure/job.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { declareRetention, dropRolledUpMonths, rollUpBeforeDropping } from '../../src/rollups/retention.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { type ReportName, reports } from '../../src/stats/reports.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { type ClickHouse, createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import { missingEvents, recordBatch } from '../../src/traffic/recording.ts'
import { eventOf } from '../support/events.ts'
import { freshEmptyStores } from '../support/fresh-stores.ts'
import { runFootfall } from '../support/installation.ts'
import { needing } from '../support/needing.ts'
import { keySecretsSetting } from '../support/serve-process.ts'

const { test, before, after } = needing('ClickHouse')

const names = ['reader', 'collector', 'rollups', 'schema'] as const
type User = (typeof names)[number]

const now = Date.parse('2026-11-15T12:00:00Z')
const file = new URL('../../deploy/clickhouse/least-privilege/footfall-users.xml', import.meta.url)
const environment = Object.fromEntries(
  names.map((name) => [`CLICKHOUSE_${name.toUpperCase()}_PASSWORD`, `for ${name}`]),
)

const endings: (() => unknown)[] = []
const as = {} as Record<User, ClickHouse>
const urls = {} as Record<User, string>
let postgres: Postgres
let postgresUrl: string
let site: Site

before(async () => {
  const server = await startClickHouse({ users: { file, environment } })
  endings.push(() => server.stop())
  for (const name of names) {
    const url = Object.assign(new URL(server.url), {
      username: `footfall_${name}`,
      password: `for ${name}`,
      pathname: '/footfall',
    }).href
    urls[name] = url
    as[name] = openClickHouse(url)
    endings.push(() => as[name].close())
  }
  const stores = await freshEmptyStores((end) => void endings.push(end))
  postgres = stores.postgres
  postgresUrl = stores.addresses.postgres
  await createClickHouseDatabase(urls.schema)
  await migrate({ postgres, cluster: clusterOf([as.schema]) })
  const accountId = await createAccount(postgres, { name: 'Careful', plan: 'Agency' })
  const id = await createSite(postgres, { accountId, domain: 'careful.example' })
  site = (await findSite(postgres, id)) as Site
})

after(async () => {
  for (const end of endings.reverse()) await end()
})

const events = (...days: string[]) => days.map((day) => eventOf({ at: `${day}T10:00:00Z`, title: 'A' }, site.id, 'UTC'))

test('a collector records events, looks for missing ones, and reads earlier values and sessions', async () => {
  const old = events('2023-05-10')
  await recordBatch(as.collector, { id: randomUUID(), events: old })
  const recent = events('2026-11-13', '2026-11-14', '2026-11-15')
  await recordBatch(as.collector, { id: randomUUID(), events: recent })
  assert.deepEqual(await missingEvents(as.collector, recent), [])
  assert.equal((await readEarlierValues(as.collector, site.id, '2026-11-15', 'path', 10)).length, 1)
  await readRunningSessions(as.collector, openMemorySessions(), now)
})

test('the process that rolls up rolls up, verifies, drops old events and erases deleted sites', async () => {
  const stores = { postgres, clickhouse: as.rollups }
  await rollUpRound(stores, { now, siteId: site.id })
  await rollUpToday(stores, site.id, 'UTC', now)
  assert.deepEqual((await verifySite(stores, site.id)).wrong, [])
  const all = { postgres, cluster: clusterOf([as.rollups]) }
  await declareRetention(postgres, '2024-10-01')
  await rollUpBeforeDropping(all, {})
  assert.deepEqual(await dropRolledUpMonths(all, '0 seconds'), ['202305'])
  const id = await createSite(postgres, { accountId: site.accountId, domain: 'going.example' })
  const event = eventOf({ at: '2026-11-14T10:00:00Z' }, id, 'UTC')
  await recordBatch(as.collector, { id: randomUUID(), events: [event] })
  await deleteSite(postgres, id)
  await as.schema.command('CREATE TABLE IF NOT EXISTS backup_of_events CLONE AS events') // of a backup that was killed
  await eraseDeletedSites(stores, '0 seconds')
  const rows = await as.reader.rows<{ site_id: string }>(sql`SELECT DISTINCT site_id FROM events`)
  assert.deepEqual(rows, [{ site_id: site.id }])
})

test('the API reads every report', async () => {
  const stats = createStatsService({ cluster: { of: () => as.reader }, now: () => now, cacheBytes: 0 })
  const found = (await findSite(postgres, site.id)) as Site
  const parameters = { range: { name: '7d' }, filters: {}, limit: 10 } as const
  for (const report of Object.keys(reports) as ReportName[]) {
    const { data } = await stats.read(
      { report, site: found, parameters, queueKey: 'test' },
      AbortSignal.timeout(60_000),
    )
    if (report === 'overview') assert.equal((data as { current: { pageviews: number } }).current.pageviews, 3)
  }
})

test('an operator migrates, takes and verifies a backup, and looks at the servers', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const settings = { DATABASE_URL: postgresUrl, CLICKHOUSE_URL: urls.schema, KEY_SECRETS: keySecretsSetting }
  const backup = join(folder, 'backup')
  const commands = [['migrate'], ['backup', backup], ['backup', 'verify', backup], ['shard', 'status'], ['doctor']]
  for (const words of commands) {
    const { code, stderr } = await runFootfall(words, { PATH: process.env.PATH ?? '', ...settings })
    assert.equal(code, 0, `${words[0]}: ${stderr}`)
  }
})

/** Who may run it; everybody else must be refused by ClickHouse. */
const statements: readonly (readonly [statement: string, allowed: readonly User[]])[] = [
  ['SELECT count() FROM events', ['reader', 'collector', 'rollups', 'schema']],
  ['SELECT count() FROM titles', ['reader', 'rollups', 'schema']],
  ['SELECT count() FROM short_rollups', ['reader', 'rollups', 'schema']],
  // To see whether a replica has all rows. Each sees its own tables only.
  ['SELECT count() FROM system.parts', ['reader', 'collector', 'rollups', 'schema']],
  ['SELECT count() FROM system.replicas', ['reader', 'collector', 'rollups', 'schema']],
  ["INSERT INTO events (site_id, day) VALUES ('x', '2026-11-15')", ['collector', 'schema']],
  ["INSERT INTO titles (site_id, pathname) VALUES ('x', '/')", ['collector', 'schema']],
  ['INSERT INTO short_rollups SELECT * FROM short_rollups WHERE 0', ['rollups', 'schema']],
  ['INSERT INTO long_rollups SELECT * FROM long_rollups WHERE 0', ['rollups', 'schema']],
  ["DELETE FROM events WHERE site_id = 'x'", ['rollups', 'schema']],
  ["DELETE FROM titles WHERE site_id = 'x'", ['rollups', 'schema']],
  ["ALTER TABLE events DROP PARTITION ID '197001'", ['rollups', 'schema']],
  ["ALTER TABLE events UPDATE name = 'x' WHERE site_id = 'x'", ['schema']],
  ['ALTER TABLE events ADD COLUMN more String', ['schema']],
  ['ALTER TABLE events DROP COLUMN more', ['schema']],
  ['CREATE TABLE other (one Int8) ENGINE = MergeTree ORDER BY one', ['schema']],
  ['TRUNCATE TABLE other', ['schema']],
  ['DROP TABLE other', ['schema']],
  ['DROP DATABASE footfall', []],
  ['CREATE USER somebody', []],
  ['GRANT SELECT ON *.* TO footfall_reader', []],
  ['SYSTEM SHUTDOWN', []],
  ["SELECT * FROM url('http://127.0.0.1:1/', CSV, 'one String')", []],
  ["SELECT * FROM file('server.log', LineAsString)", []],
  ["SELECT * FROM remote('127.0.0.1', footfall, events)", []],
  ["INSERT INTO FUNCTION file('out.csv') SELECT 1", []],
]

for (const [statement, allowed] of statements) {
  test(`${allowed.join(', ') || 'nobody'} may: ${statement}`, async () => {
    for (const name of names) {
      const done = await as[name].command(statement).then(
        () => 'done',
        (error: Error & { code?: string }) =>
          error.code === '497' || error.code === '164' ? 'refused' : error.message,
      )
      assert.equal(done, allowed.includes(name) ? 'done' : 'refused', name)
    }
  })
}

test('a reader cannot ask for more time or memory than its limits', async () => {
  for (const setting of ['max_execution_time = 60', 'max_memory_usage = 4000000000', 'readonly = 0'])
    await assert.rejects(as.reader.command(`SELECT 1 SETTINGS ${setting}`), setting)
})
