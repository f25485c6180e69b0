// A backup taken while events arrive is as good as any other.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { install } from '../support/installation.ts'

test('a backup taken while events are written restores equal numbers and equal responses', async (t) => {
  const old = await install()
  t.after(() => old.remove())
  const { id: siteId } = await old.json('site', 'create', 'busy.example')
  await old.json('demo', 'busy.example', '--events', '20000')
  const clickhouse = openClickHouse(old.addresses.clickhouse)
  t.after(() => clickhouse.close())
  // The same two pages with a new title each time: rows that ClickHouse merges at any time.
  const write = async (number: number) => {
    const hits = ['/a', '/b'].map((pathname) =>
      pageview({ at: '2026-11-14T10:00:00Z', visitor: `${number}`, pathname, title: `Title ${number}` }),
    )
    await recordBatch(clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  }
  for (let number = 0; number < 5; number++) await write(number)
  const quiet = sql`
    SELECT count() AS events, sum(cityHash64(toString(event_id))) AS ids FROM events WHERE pathname NOT IN ('/a', '/b')`
  const before = await clickhouse.rowsPatiently(quiet)

  let [written, isOver] = [5, false]
  const writing = (async () => {
    while (!isOver) await write(written++)
  })()
  const folder = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'backup')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const from = written
  const backup = await old.json('backup', folder)
  const until = written
  isOver = true
  await writing
  assert.ok(until - from > 5, `${until - from} batches were written meanwhile`)

  const fresh = await install()
  t.after(() => fresh.remove())
  const restored = await fresh.json('restore', folder)
  assert.deepEqual(restored.rows, backup.rows)
  const copy = openClickHouse(fresh.addresses.clickhouse)
  t.after(() => copy.close())
  assert.deepEqual(await copy.rowsPatiently(quiet), before)
  const [seen] = await copy.rowsPatiently<{ busy: number; all: number; titles: number; latest: string }>(sql`
    SELECT countIf(pathname IN ('/a', '/b')) AS busy, count() AS all,
      (SELECT count() FROM (SELECT DISTINCT site_id, pathname, country FROM titles)) AS titles,
      (SELECT max(latest).title FROM titles WHERE pathname = '/a') AS latest
    FROM events`)
  assert.deepEqual([seen?.all, seen?.titles], [backup.rows.events, backup.rows.titles])
  // The backup has whole batches only: all that were written before it began, and perhaps some that were written before it ended.
  assert.ok(Number(seen?.busy) % 2 === 0 && Number(seen?.busy) >= 2 * from && Number(seen?.busy) <= 2 * until)
  assert.match(seen?.latest ?? '', /^Title /)
  assert.deepEqual(await clickhouse.rows(sql`SELECT name FROM system.tables WHERE name LIKE 'backup_of%'`), [])
})

test('a backup that loses its connection to PostgreSQL half-way fails and leaves nothing behind', async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  const postgres = openPostgres(installation.addresses.postgres, 2)
  t.after(() => postgres.end({ timeout: 1 }))
  await postgres`INSERT INTO deleted_sites (id) SELECT 'site_' || number FROM generate_series(1, 300000) AS number`
  const folder = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'backup')
  let isOver = false
  const backup = installation.footfall('backup', folder).finally(() => {
    isOver = true
  })
  let broken = 0
  while (!isOver && broken === 0) {
    const rows = await postgres`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%to_jsonb%' AND query LIKE '%deleted_sites%'`
    broken = rows.length
  }
  assert.equal(broken, 1, 'the backup ended before its connection broke')
  assert.equal((await backup).code, 1)
  assert.ok(!existsSync(folder))
})

test('no backup contains the salt of a running import', async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  const { id: siteId } = await installation.json('site', 'create', 'importing.example')
  const postgres = openPostgres(installation.addresses.postgres, 1)
  t.after(() => postgres.end({ timeout: 1 }))
  const salt = randomBytes(32)
  await postgres`
    INSERT INTO imports (id, site_id, content, time_zone, salt)
    VALUES (${randomUUID()}, ${siteId}, ${randomBytes(32)}, 'UTC', ${salt})`
  const folder = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'backup')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  assert.equal((await installation.json('backup', folder)).rows.imports, 1)
  const text = readFileSync(join(folder, 'imports.jsonl'), 'utf8')
  assert.ok(text.includes(siteId) && !text.includes(salt.toString('hex')), text)
})
