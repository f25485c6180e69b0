// `footfall doctor` refuses what `footfall serve` would refuse, in the same words, and never with an empty message.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { launchServe } from '../support/serve-process.ts'

interface Finding {
  check: string
  state: string
  found: string
  advice?: string
}

let installation: Installation
const folder = mkdtempSync(join(tmpdir(), 'footfall-doctor-'))
before(async () => {
  installation = await install({ SPOOL_FOLDER: join(folder, 'spool') })
})
after(async () => {
  rmSync(folder, { recursive: true })
  await installation.remove()
})

async function doctor(change: Record<string, string>): Promise<{ code: number; findings: Finding[] }> {
  const { code, stdout } = await runFootfall(['doctor', '--json'], { ...installation.environment, ...change })
  const findings = JSON.parse(stdout) as Finding[]
  for (const { check, found } of findings) assert.match(found, /^\S[^\n]+$/, `${check} says nothing`)
  assert.doesNotMatch(stdout, /\(\)|undefined|NaN/)
  return { code, findings }
}

async function failureOf(change: Record<string, string>, check: string): Promise<Finding> {
  const { code, findings } = await doctor(change)
  const failed = findings.filter(({ state }) => state === 'failed')
  assert.deepEqual([code, failed.map((one) => one.check)], [1, [check]], JSON.stringify(findings))
  return failed[0] as Finding
}

/** What `footfall serve` prints when it refuses to start. */
async function refusalOf(change: Record<string, string>): Promise<string> {
  const { code, stderr } = await runFootfall(['serve'], { ...installation.environment, LOG_LEVEL: 'silent', ...change })
  assert.equal(code, 1, stderr)
  return stderr
}

async function listening(t: TestContext, answer: RequestListener): Promise<number> {
  const server: Server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

test('a country file that is missing or broken', async () => {
  const broken = join(folder, 'broken.mmdb')
  writeFileSync(broken, 'no country is in here')
  for (const COUNTRY_FILE of ['/nowhere/countries.mmdb', folder, broken]) {
    const { found, advice } = await failureOf({ COUNTRY_FILE }, 'Countries')
    if (COUNTRY_FILE !== folder) assert.equal(await refusalOf({ COUNTRY_FILE }), `footfall: ${found}\n  ${advice}\n`)
    assert.match(found, /^The country file \S+ cannot be used/)
  }
})

test('a port that another process uses, but not one that Footfall uses', async (t) => {
  const port = `${await listening(t, (_request, response) => response.end('another process'))}`
  for (const setting of ['PORT', 'METRICS_PORT', 'COLLECTOR_METRICS_PORT']) {
    const { found, advice } = await failureOf({ [setting]: port }, 'Ports')
    assert.equal(found, `Port ${port} on 127.0.0.1 is in use.`)
    assert.match(advice ?? '', new RegExp(`set ${setting} to another port`))
    if (setting === 'PORT') assert.equal(await refusalOf({ [setting]: port }), `footfall: ${found}\n  ${advice}\n`)
  }
  // Footfall itself would take each of these twice.
  const own = `${await freePort()}`
  for (const change of [
    { PORT: own, METRICS_PORT: own },
    { METRICS_PORT: own, COLLECTOR_METRICS_PORT: own },
  ]) {
    const { found, advice } = await failureOf(change, 'Ports')
    assert.equal(found, `Port ${own} on 127.0.0.1 is in use.`)
    assert.equal(await refusalOf(change), `footfall: ${found}\n  ${advice}\n`)
  }
  const server = await launchServe(installation.addresses)
  t.after(() => server.stop())
  await server.untilReady()
  const { PORT = '', METRICS_PORT = '', COLLECTOR_METRICS_PORT = '' } = server.environment
  const { findings } = await doctor({ PORT, METRICS_PORT, COLLECTOR_METRICS_PORT })
  const ports = findings.find(({ check }) => check === 'Ports')
  assert.deepEqual([ports?.state, ports?.found], ['ok', `Footfall runs on port ${PORT}`])
})

test('a spool folder that cannot be', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  for (const SPOOL_FOLDER of [file, join(file, 'spool')]) {
    const { found, advice } = await failureOf({ SPOOL_FOLDER }, 'Spool')
    assert.match(found, /^The spool folder \S+file\S* cannot be created: \S+ is not a folder\.$/)
    assert.ok((await refusalOf({ SPOOL_FOLDER })).endsWith(`\n  ${advice}\n`))
  }
  const { findings } = await doctor({ SPOOL_FOLDER: join(folder, 'new/spool') })
  assert.equal(findings.find(({ check }) => check === 'Spool')?.state, 'ok')
  assert.ok(!existsSync(join(folder, 'new')), 'doctor makes nothing')
})

test('a server that answers and is not ClickHouse', async (t) => {
  const { pathname } = new URL(installation.environment.CLICKHOUSE_URL)
  const postgres = openPostgres(installation.addresses.postgres, 1)
  t.after(() => postgres.end())
  // As in an installation that was migrated by nobody: a foreign server that says 200 to everything must not count as migrated.
  await postgres`DELETE FROM migrations WHERE name LIKE 'clickhouse/%'`
  for (const [status, body] of [
    [200, ''],
    [200, '<html>hello</html>'],
    [200, '{"status":"alive"}\n'],
    [404, '<html>not found</html>'],
    [302, ''],
    [500, ''],
  ] as const) {
    const port = await listening(t, (request, response) => {
      request.resume()
      response.writeHead(status, status === 302 ? { Location: '/login' } : {}).end(body)
    })
    const CLICKHOUSE_URL = `http://footfall:footfall@127.0.0.1:${port}${pathname}`
    const { found, advice } = await failureOf({ CLICKHOUSE_URL }, 'ClickHouse')
    assert.match(found, new RegExp(`is not ClickHouse.*${status}`), `${status} ${body}`)
    assert.match(advice ?? '', /CLICKHOUSE_URL/)
    if (body) assert.equal(await refusalOf({ CLICKHOUSE_URL }), `footfall: ${found}\n  ${advice}\n`)
  }
  const [{ recorded }] = await postgres<[{ recorded: number }]>`
    SELECT count(*)::int AS recorded FROM migrations WHERE name LIKE 'clickhouse/%'`
  assert.equal(recorded, 0)
  assert.equal((await runFootfall(['migrate'], installation.environment)).code, 0)

  const proxy = await listening(t, (_request, response) => response.writeHead(502).end())
  const away = await failureOf({ CLICKHOUSE_URL: `http://127.0.0.1:${proxy}/x` }, 'ClickHouse')
  assert.match(away.found, /does not answer.*502/, 'a proxy whose ClickHouse is away')
})

test('a PostgreSQL of an old version: 9.6 is older than 14', async (t) => {
  const postgres = openPostgres(installation.addresses.postgres, 1)
  const database = new URL(installation.addresses.postgres).pathname.slice(1)
  // The real server, which says that it is older than it is.
  await postgres.unsafe(`
    CREATE SCHEMA older;
    CREATE FUNCTION older.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '9.6.24' $$;
    ALTER DATABASE ${database} SET search_path = older, pg_catalog, public`)
  t.after(async () => {
    await postgres.unsafe(`ALTER DATABASE ${database} RESET search_path; DROP SCHEMA older CASCADE`)
    await postgres.end()
  })
  const { found, advice } = await failureOf({}, 'PostgreSQL')
  assert.deepEqual([found, advice], ['version 9.6.24', 'Footfall needs PostgreSQL 14 or newer.'])
})

test('a name with two addresses, on which nothing listens, is named with the reason', async () => {
  const { findings } = await doctor({
    DATABASE_URL: 'postgres://postgres@localhost:1/x',
    CLICKHOUSE_URL: 'http://localhost:1/x',
    REDIS_URL: 'redis://localhost:1',
  })
  for (const name of ['PostgreSQL', 'ClickHouse', 'Redis'])
    assert.match(findings.find(({ check }) => check === name)?.found ?? '', /^does not answer \(.*ECONNREFUSED/, name)
})
