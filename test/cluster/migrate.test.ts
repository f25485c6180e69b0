import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { migrate, pendingClickHouseMigrations, pendingMigrations } from '../../src/cluster/migrate.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { connectPatiently, freshEmptyStores } from '../support/fresh-stores.ts'
import { disconnect, type Stores } from '../support/stores.ts'

const migrations = new URL('../../migrations/', import.meta.url)

const filesOf = (database: string) =>
  readdirSync(new URL(`${database}/`, migrations))
    .filter((file) => file !== 'schema.sql')
    .sort()
    .map((file) => `${database}/${file}`)
const all = [...filesOf('postgres'), ...filesOf('clickhouse')]

const open = (t: TestContext) => freshEmptyStores((end) => t.after(end))

/** A copy of the migrations that a test may change. */
function copyOfMigrations(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-migrations-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(migrations, folder, { recursive: true })
  return {
    url: pathToFileURL(`${folder}/`),
    add: (name: string, text: string) => writeFileSync(join(folder, name), text),
    append: (name: string, text: string) => appendFileSync(join(folder, name), text),
  }
}

const ledger = async ({ postgres }: Stores) =>
  (await postgres<{ name: string }[]>`SELECT name FROM migrations ORDER BY applied_at, name`).map(({ name }) => name)

test('migrations are numbered without gaps or duplicates', () => {
  for (const database of ['postgres', 'clickhouse']) {
    filesOf(database).forEach((name, index) => {
      assert.match(name, new RegExp(`^${database}/${String(index + 1).padStart(4, '0')}_[a-z_]+\\.sql$`))
    })
  }
})

test('all migrations are applied once and in order; a second run applies nothing', async (t) => {
  const stores = await open(t)
  assert.deepEqual(await pendingMigrations(stores.postgres), all)
  assert.deepEqual(await migrate(stores), all)
  assert.deepEqual(await ledger(stores), all)
  assert.deepEqual(await pendingMigrations(stores.postgres), [])
  assert.deepEqual(await migrate(stores), [])
  assert.deepEqual(await ledger(stores), all)

  // Both databases can be used.
  assert.equal((await stores.postgres`SELECT FROM accounts`).count, 0)
  assert.deepEqual(await stores.clickhouse.rows(sql`SELECT count() AS events FROM events`), [{ events: 0 }])
})

test('only a new file is applied', async (t) => {
  const stores = await open(t)
  const changed = copyOfMigrations(t)
  await migrate(stores, { folder: changed.url })
  changed.add('postgres/9001_more.sql', 'CREATE TABLE more (id int); INSERT INTO more VALUES (1);')
  changed.add('clickhouse/9001_more.sql', 'CREATE TABLE IF NOT EXISTS more (id Int8) ENGINE = MergeTree ORDER BY id')
  changed.add('postgres/9002_notes.txt', 'not a migration')
  changed.add('postgres/schema.sql', 'not a migration either')
  assert.deepEqual(await migrate(stores, { folder: changed.url }), [
    'postgres/9001_more.sql',
    'clickhouse/9001_more.sql',
  ])
  assert.deepEqual([...(await stores.postgres`SELECT id FROM more`)], [{ id: 1 }])
  assert.deepEqual(await stores.clickhouse.rows(sql`SELECT * FROM more`), [])
})

test('a file edited after it was applied is reported by name, and nothing is applied', async (t) => {
  const stores = await open(t)
  await migrate(stores)
  for (const name of all) {
    const changed = copyOfMigrations(t)
    changed.add('postgres/9001_more.sql', 'CREATE TABLE more (id int);')
    changed.append(name, '\n-- a harmless comment\n')
    await assert.rejects(migrate(stores, { folder: changed.url }), {
      code: 'OTHER_MIGRATIONS',
      message: `${name} differs from the one that was applied`,
    })
  }
  assert.deepEqual(await ledger(stores), all)
  assert.deepEqual(await migrate(stores), []) // the lock is free again
})

test('databases from before the baseline are recognised, and nothing is applied', async (t) => {
  const { postgres, clickhouse, ...others } = await open(t)
  const stores = { postgres, clickhouse, ...others }
  // Of the last commit before the baseline.
  await postgres.unsafe(`
    CREATE TABLE migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO migrations (name, checksum) VALUES ('postgres/0001_accounts.sql', 'x'), ('clickhouse/0001_events.sql', 'x');
    CREATE TABLE accounts (id text PRIMARY KEY)`)
  await assert.rejects(migrate(stores), { code: 'BEFORE_BASELINE' })
  await assert.rejects(pendingMigrations(postgres), { code: 'BEFORE_BASELINE' })
  assert.deepEqual(
    [...(await postgres`SELECT name FROM migrations ORDER BY name`)],
    [{ name: 'clickhouse/0001_events.sql' }, { name: 'postgres/0001_accounts.sql' }],
  )

  // Only ClickHouse is that old. It had no list of its own, and CREATE TABLE IF NOT EXISTS would keep its table.
  await postgres`DROP TABLE migrations, accounts`
  await clickhouse.command(`
    CREATE TABLE events (site_id String, day Date, event_id UUID, batch_id UUID, title String) ENGINE = MergeTree ORDER BY site_id`)
  await assert.rejects(migrate(stores), { code: 'BEFORE_BASELINE' })
  await assert.rejects(pendingClickHouseMigrations(clickhouse), { code: 'BEFORE_BASELINE' })
  assert.deepEqual(await clickhouse.rows(sql`SELECT name FROM migrations`), [])
})

test('processes that start at the same time migrate once', async (t) => {
  const stores = await open(t)
  const processes = [stores, ...Array.from({ length: 4 }, () => connectPatiently(stores.addresses))]
  const applied = await Promise.all(processes.map((one) => migrate(one)))
  assert.deepEqual(
    applied.filter((names) => names.length > 0),
    [all],
  )
  assert.deepEqual(await ledger(stores), all)
  await Promise.all(processes.slice(1).map(disconnect))
})

test('a failing migration is rolled back, keeps those before it, and the next attempt works', async (t) => {
  const stores = await open(t)
  const changed = copyOfMigrations(t)
  const before = filesOf('postgres')
  changed.add('postgres/9001_more.sql', 'CREATE TABLE half (id int); SELECT 1 / 0;')
  await assert.rejects(migrate(stores, { folder: changed.url }), /division by zero/)
  assert.deepEqual(await ledger(stores), before)
  await assert.rejects(stores.postgres`SELECT FROM half`, /does not exist/)

  changed.add('postgres/9001_more.sql', 'CREATE TABLE half (id int);')
  assert.deepEqual(await migrate(stores, { folder: changed.url }), ['postgres/9001_more.sql', ...filesOf('clickhouse')])
})
