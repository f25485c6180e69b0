// `footfall backup verify` restores a backup into scratch databases and says whether they hold what its files hold.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { inherited } from '../support/inherited.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'

let installation: Installation
let folder: string
let root: string
before(async () => {
  installation = await install()
  for (const domain of ['one.example', 'two.example']) {
    await installation.json('site', 'create', domain)
    await installation.json('demo', domain, '--events', '10000')
    await installation.json('key', 'create', domain)
  }
  root = mkdtempSync(join(tmpdir(), 'footfall-verify-'))
  folder = join(root, 'scheduled-2026-11-18T03-00-04Z')
  await installation.json('backup', folder)
})
after(async () => {
  rmSync(root, { recursive: true, force: true })
  await installation.remove()
})

/** Everything in the databases that are in use, and the names of all databases. */
async function state() {
  const postgres = openPostgres(installation.addresses.postgres, 1)
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  try {
    const tables = await postgres<{ name: string }[]>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('leases', 'collectors') ORDER BY name`
    const rows: Record<string, string> = {}
    for (const { name } of tables) {
      const [found] = await postgres`
        SELECT count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0) AS rows FROM ${postgres(name)} AS t`
      rows[name] = found?.rows
    }
    const own = new URL(installation.addresses.postgres).pathname.slice(1)
    return {
      rows,
      events: await clickhouse.rowsPatiently(
        sql`SELECT count() AS rows, toString(sum(cityHash64(*))) AS sum FROM events`,
      ),
      tables: await clickhouse.rowsPatiently(
        sql`SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
      ),
      scratch: [
        ...(await postgres`SELECT datname FROM pg_database WHERE datname LIKE ${`${own}_verify_%`}`),
        ...(await clickhouse.rowsPatiently(
          sql`SELECT name FROM system.databases WHERE startsWith(name, concat(currentDatabase(), '_verify_'))`,
        )),
      ],
    }
  } finally {
    await Promise.all([postgres.end(), clickhouse.close()])
  }
}

function copy(name: string): string {
  const path = join(root, name)
  cpSync(folder, path, { recursive: true })
  return path
}

test('a good backup is equal in every table and site; the databases in use stay as they are', async () => {
  const before = await state()
  assert.deepEqual(before.scratch, [])
  // Without a folder, it takes the newest one of BACKUP_FOLDER.
  const settings = { ...installation.environment, BACKUP_FOLDER: root }
  const { code, stdout, stderr } = await runFootfall(['backup', 'verify', '--json'], settings)
  assert.equal(code, 0, stderr)
  const { folder: newest, tables, differences, takenAt } = JSON.parse(stdout)
  assert.equal(newest, folder)
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  assert.equal(takenAt, manifest.takenAt)
  assert.deepEqual(differences, [])
  assert.deepEqual(
    tables.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
    Object.keys(manifest.rows).map((table) => [table, manifest.rows[table]]),
  )
  const sites = Object.fromEntries(tables.map(({ table, sites }: { table: string; sites: number }) => [table, sites]))
  assert.deepEqual([sites.events, sites.titles, sites.sites, sites.api_keys], [2, 2, 2, 2])
  assert.deepEqual(await state(), before)
})

test('a row that is restored otherwise than it was written is named, though all counts are right', async () => {
  const path = copy('changed')
  const sites = join(path, 'sites.jsonl')
  const [first, second] = readFileSync(sites, 'utf8').split('\n')
  // The columns are those of the first row, so this one gets lost.
  writeFileSync(sites, `${first}\n${second?.replace('{', '{"lost": 1, ')}\n`)
  const before = await state()
  const { code, stdout } = await installation.footfall('backup', 'verify', path, '--json')
  const { differences } = JSON.parse(stdout)
  const { id } = JSON.parse(second as string)
  assert.equal(code, 1)
  assert.deepEqual(
    differences.map(({ table, site }: Record<string, string>) => [table, site]),
    [['sites', id]],
  )
  assert.deepEqual(await state(), before)
})

test('files that are cut off, missing or too long fail, and leave no database behind', async () => {
  const before = await state()
  const cut = copy('cut')
  truncateSync(join(cut, 'events.native.gz'), statSync(join(cut, 'events.native.gz')).size - 100)
  const missing = copy('missing')
  rmSync(join(missing, 'api_keys.jsonl'))
  const long = copy('long')
  appendFileSync(join(long, 'events.native.gz'), readFileSync(join(long, 'events.native.gz')))
  for (const path of [cut, missing, long]) {
    const { code, stderr } = await installation.footfall('backup', 'verify', path)
    assert.equal(code, 1, path)
    assert.match(stderr, /Do not rely on this backup/)
  }
  assert.match((await installation.footfall('backup', 'verify', root)).stderr, /not a finished backup/)
  assert.deepEqual(await state(), before)
})

test('a user that may not create databases learns what to grant', async (t) => {
  const postgres = openPostgres(installation.addresses.postgres, 1)
  const role = `${new URL(installation.addresses.postgres).pathname.slice(1)}_role`
  await postgres.unsafe(`CREATE ROLE ${role} LOGIN`)
  t.after(async () => {
    await postgres.unsafe(`DROP ROLE ${role}`)
    await postgres.end()
  })
  const DATABASE_URL = Object.assign(new URL(installation.addresses.postgres), { username: role }).href
  const { code, stderr } = await runFootfall(['backup', 'verify', folder], {
    ...installation.environment,
    DATABASE_URL,
  })
  assert.equal(code, 1)
  assert.match(stderr, /PostgreSQL does not allow this user to create a database.*\n.*docs\/operations\.md/)
})

test('Ctrl-C drops the scratch databases', async () => {
  const before = await state()
  const main = new URL('../../src/cli/main.ts', import.meta.url).pathname
  const env = { ...inherited, ...installation.environment }
  const child = spawn(process.execPath, [main, 'backup', 'verify', folder], { env })
  const ended = once(child, 'exit')
  await eventually(async () => assert.ok((await state()).scratch.length > 0))
  child.kill('SIGINT')
  assert.notEqual((await ended)[0], 0)
  assert.deepEqual(await state(), before)
})
