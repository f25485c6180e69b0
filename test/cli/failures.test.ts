// Every command failure prints one sentence and what to do next, exits with 1, and prints nothing on standard output and no stack trace.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openPostgres } from '../../src/stores/postgres.ts'
import { inherited } from '../support/inherited.ts'
import { type Installation, install, type Outcome, runFootfall } from '../support/installation.ts'
import { createEmptyStores } from '../support/stores.ts'

let installation: Installation
let empty: Awaited<ReturnType<typeof createEmptyStores>>
const folder = mkdtempSync(join(tmpdir(), 'footfall-failures-'))
const at = (name: string) => join(folder, name)

before(async () => {
  installation = await install()
  empty = await createEmptyStores()
  await installation.json('site', 'create', 'known.example')
  writeFileSync(at('visits.csv'), 'time,url,visitor\n2025-03-01T10:00:00Z,https://known.example/,v1\n')
  writeFileSync(at('words.csv'), 'one,two\n1,2\n')
  mkdirSync(at('unfinished'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await Promise.all([installation.remove(), empty.remove()])
})

function refused({ code, stdout, stderr }: Outcome, expected: RegExp, what: string): void {
  const progress = /^[A-Z][\w .-]*: \d+ % .*\n/gm
  assert.deepEqual([code, stdout], [1, ''], `${what}: ${stderr}`)
  assert.match(stderr.replace(progress, ''), /^footfall: \S[^\n]+\n(?: {2}\S[^\n]*\n)+$/, what)
  assert.match(stderr, expected, what)
}

const change = (address: string, parts: Partial<URL>) => Object.assign(new URL(address), parts).href

test('a database that is down, refuses the login or is another server gives one sentence and what to do next', {
  timeout: 300_000,
}, async () => {
  const { CLICKHOUSE_URL, DATABASE_URL } = installation.environment
  // Answers every request and never speaks the PostgreSQL protocol.
  const web = createServer((_request, response) => response.writeHead(400).end()).listen(0, '127.0.0.1')
  await once(web, 'listening')
  const { port } = web.address() as { port: number }
  // Closes every connection before it has sent anything.
  const mute = createSocketServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const { port: mutePort } = mute.address() as { port: number }
  const cases: [words: string[], environment: Record<string, string>, expected: RegExp][] = [
    [['migrate'], { DATABASE_URL: 'postgres://postgres@localhost:1/x' }, /database does not answer.*\n.*DATABASE_URL/],
    [['migrate'], { CLICKHOUSE_URL: 'http://127.0.0.1:1/x' }, /database does not answer.*\n.*CLICKHOUSE_URL/],
    [['migrate'], { CLICKHOUSE_URL: change(CLICKHOUSE_URL, { password: 'wrong' }) }, /password.*\n.*CLICKHOUSE_URL/],
    [['migrate'], { DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/x` }, /PostgreSQL .*\n.*DATABASE_URL/],
    [['site', 'list'], { DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/x` }, /PostgreSQL .*\n.*DATABASE_URL/],
    [
      ['site', 'list'],
      { DATABASE_URL: `postgres://postgres@127.0.0.1:${mutePort}/x` },
      /broke the connection.*\n.*DATABASE_URL/,
    ],
    [['site', 'list'], { DATABASE_URL: 'mysql://x' }, /DATABASE_URL must be.*postgres:\/\//],
    [['site', 'list'], { DATABASE_URL: change(DATABASE_URL, { username: 'nobody' }) }, /refuses the user/],
    [
      ['site', 'list'],
      { DATABASE_URL: change(DATABASE_URL, { pathname: '/nowhere' }) },
      /not exist.*\n.*footfall migrate/,
    ],
    [['key', 'list'], { DATABASE_URL: empty.stores.addresses.postgres }, /tables are missing.*\n.*footfall migrate/],
    [['backup', at('new')], { CLICKHOUSE_URL: 'http://127.0.0.1:1/x' }, /database does not answer.*\n.*CLICKHOUSE_URL/],
    [['backup', at('new')], { CLICKHOUSE_URL: empty.stores.addresses.clickhouse }, /ClickHouse tables are missing/],
    [
      ['demo', 'demo.example'],
      { CLICKHOUSE_URL: change(CLICKHOUSE_URL, { username: 'footfall_reader' }) },
      /ClickHouse user may .*\n.*CLICKHOUSE_URL/,
    ],
    [
      ['import', 'known.example', at('visits.csv')],
      { CLICKHOUSE_URL: change(CLICKHOUSE_URL, { pathname: '/nowhere' }) },
      /ClickHouse database does not exist.*\n.*footfall migrate/,
    ],
  ]
  for (const [words, environment, expected] of cases) {
    const outcome = await runFootfall(words, { ...installation.environment, ...environment })
    refused(outcome, expected, `${words.join(' ')} with ${JSON.stringify(environment)}`)
  }
  mute.close()
  web.close()
  web.closeAllConnections()
})

test('an unknown name or an unusable file or folder gives one sentence and what to do next', {
  timeout: 300_000,
}, async () => {
  await installation.json('backup', at('whole'))
  const fresh = { ...installation.environment, DATABASE_URL: '', CLICKHOUSE_URL: '' }
  fresh.DATABASE_URL = empty.stores.addresses.postgres
  fresh.CLICKHOUSE_URL = empty.stores.addresses.clickhouse
  assert.equal((await runFootfall(['migrate'], fresh)).code, 0)
  for (const name of ['cut', 'missing', 'garbled', 'older', 'newer']) cpSync(at('whole'), at(name), { recursive: true })
  writeFileSync(at('cut/events.native.gz'), 'no gzip')
  rmSync(at('missing/titles.native.gz'))
  writeFileSync(at('garbled/manifest.json'), '{')
  const manifest = JSON.parse(readFileSync(at('whole/manifest.json'), 'utf8')) as { migrations: string[] }
  const withMigrations = (name: string, migrations: string[]) =>
    writeFileSync(at(`${name}/manifest.json`), JSON.stringify({ ...manifest, migrations }))
  withMigrations('older', ['clickhouse/0001_events.sql', 'postgres/0001_accounts.sql'])
  withMigrations('newer', [...manifest.migrations, 'postgres/9001_more.sql'])
  const own = installation.environment
  const cases: [words: string[], expected: RegExp, environment?: Record<string, string>][] = [
    [['constructor'], /no command constructor.*\n.*footfall help/],
    [['site', 'toString'], /no command site toString/],
    [['site', 'create'], /takes <domain>/],
    [['site', 'create', 'x.example', '--timezone'], /--timezone/],
    [['key', 'create', '--account', 'acct_none'], /does not exist.*\n.*footfall account list/],
    [['key', 'disable', 'key_none'], /no key key_none.*\n.*footfall key list/],
    [['key', 'rotate', 'key_none', '--overlap', 'x'], /overlap/],
    [['account', 'delete', 'acct_none'], /no account acct_none/],
    [['import', 'unknown.example', at('visits.csv')], /no site unknown.example/],
    [['import', 'known.example', at('nowhere.csv')], /no file/],
    [['import', 'known.example', folder, '--from', 'csv'], /is not a file/],
    [['import', 'known.example', at('words.csv')], /Line 1: the header has an unknown field, one/],
    [['backup', folder], /already exists/],
    [['backup', '/etc/passwd/backup'], /not in a folder/],
    [['restore', at('nowhere')], /is not a finished backup/],
    [['restore', at('unfinished')], /is not a finished backup/],
    [['restore', at('garbled')], /is not the manifest of a backup/],
    [['restore', at('whole')], /not empty/],
    [['restore', at('older')], /backup is from before 0\.1\.0.*\n.*the version that made it/, fresh],
    [['restore', at('newer')], /newer version \(postgres\/9001_more\.sql\).*\n.*Upgrade/, fresh],
    [['restore', at('cut')], /backup is damaged: .*events\.native\.gz/, fresh],
    [['restore', at('missing')], /backup is damaged: .*titles\.native\.gz is missing/, fresh],
    [['secret', 'create', '--to', '/etc/passwd/env'], /not in a folder/],
    [['secret', 'status'], /KEY_SECRETS/, { ...own, KEY_SECRETS: 'short' }],
  ]
  for (const [words, expected, environment = own] of cases) {
    refused(await runFootfall(words, environment), expected, words.join(' '))
  }
})

test('databases of an earlier, unreleased version get one sentence that leads out, not in a circle', async () => {
  const { stores, remove } = await createEmptyStores()
  const environment = {
    ...installation.environment,
    DATABASE_URL: stores.addresses.postgres,
    CLICKHOUSE_URL: stores.addresses.clickhouse,
  }
  const outcomes = async () =>
    Object.fromEntries(
      await Promise.all(
        ['migrate', 'serve', 'doctor'].map(async (word) => {
          const { stdout, stderr } = await runFootfall([word], environment)
          return [
            word,
            (stderr || stdout).split('\n').find((line) => /footfall restore|version that made them/.test(line)),
          ]
        }),
      ),
    )
  try {
    await stores.postgres`CREATE TABLE migrations (name text, checksum text)`
    await stores.postgres`INSERT INTO migrations VALUES ('postgres/0001_baseline.sql', 'of another text')`
    const restoring =
      'Run footfall backup with the version that made them, then footfall migrate and footfall restore with this one and new databases in DATABASE_URL and CLICKHOUSE_URL.'
    assert.deepEqual(await outcomes(), {
      migrate: `  ${restoring}`,
      serve: `  ${restoring}`,
      doctor: `    ${restoring}`,
    })
    await stores.postgres`UPDATE migrations SET name = 'postgres/0001_accounts.sql'`
    const beginning =
      'Name new databases in DATABASE_URL and CLICKHOUSE_URL and run footfall migrate; only the version that made them can read the old ones.'
    assert.deepEqual(await outcomes(), {
      migrate: `  ${beginning}`,
      serve: `  ${beginning}`,
      doctor: `    ${beginning}`,
    })
  } finally {
    await remove()
  }
})

test('a backup that fails leaves no folder behind', async () => {
  const postgres = openPostgres(empty.stores.addresses.postgres, 1)
  const { postgres: DATABASE_URL, clickhouse: CLICKHOUSE_URL } = empty.stores.addresses
  await postgres`ALTER TABLE deleted_sites RENAME TO renamed`
  try {
    const outcome = await runFootfall(['backup', at('half')], {
      ...installation.environment,
      DATABASE_URL,
      CLICKHOUSE_URL,
    })
    refused(outcome, /tables are missing/, 'backup')
    assert.equal(existsSync(at('half')), false)
  } finally {
    await postgres`ALTER TABLE renamed RENAME TO deleted_sites`
    await postgres.end()
  }
})

test('output that cannot be printed is reported; a reader that closes early is no failure', async () => {
  const main = new URL('../../src/cli/start.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [main, 'help'], {
    env: inherited,
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  })
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = await once(child, 'close')
  refused({ code, stdout: '', stderr }, /cannot be printed/, 'help on a full disk')
  const piped = spawn('bash', ['-c', `set -o pipefail; '${process.execPath}' ${main} help | true`], {
    env: { ...process.env, ...inherited },
    stdio: 'pipe',
  })
  let said = ''
  piped.stderr.on('data', (chunk) => {
    said += chunk
  })
  assert.deepEqual([(await once(piped, 'close'))[0], said], [0, ''])
})
