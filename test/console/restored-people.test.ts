// Who has an account on a restored installation, has what they had before: password, second factor, links, widgets and the audit log.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { controlTables, notInBackup } from '../../src/cli/backup-control.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { addIdentity } from '../../src/users/identities.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { turnOnSecondFactor } from '../../src/users/second-factor.ts'
import { codeAt, newTotpSecret, stepAt } from '../../src/users/totp.ts'
import { install } from '../support/installation.ts'
import { connect, disconnect, keySecrets, openStores, type Stores } from '../support/stores.ts'
import { cheapPasswords, openConsole, password, type Visitor } from './console.ts'
import { dumpTables } from './table-dump.ts'
import { makeThings } from './things.ts'

test('every table of PostgreSQL is in a backup, or a reason says why not', async () => {
  const { postgres } = await openStores()
  const tables = Object.keys(await dumpTables(postgres))
  assert.deepEqual([...controlTables, ...Object.keys(notInBackup)].sort(), tables.sort())
})

async function installed(t: TestContext) {
  const installation = await install()
  const stores = connect(installation.addresses)
  t.after(async () => {
    await disconnect(stores)
    await installation.remove()
  })
  return { ...installation, stores }
}

/** Rows that these people do not bring along. */
async function addOtherRows({ postgres }: Stores, siteId: string, keyId: string): Promise<void> {
  await postgres`UPDATE retention SET events_from = '2020-02-01', rolled_up_before = '2020-02-01'`
  await postgres`
    INSERT INTO rollup_coverage (site_id, version, days, written_days)
    VALUES (${siteId}, 7, '{[2020-01-01,2020-02-01)}', '{[2020-01-01,2020-02-01)}')`
  await postgres`
    INSERT INTO imports (id, site_id, content, time_zone, finished_at)
    VALUES (gen_random_uuid(), ${siteId}, ${Buffer.alloc(32, 1)}, 'UTC', now())`
  await postgres`
    INSERT INTO imported_days (site_id, import_id, list, metrics, days, version)
    SELECT site_id, id, 'page', '{visitors,pageviews}', '{[2019-01-01,2019-02-01)}', '18446744073709551615' FROM imports WHERE site_id = ${siteId}`
  await postgres`INSERT INTO deleted_sites (id, shard, erase_after) VALUES ('site_aaaaaaaaaaaaaaaa', 1, now() + interval '1 hour')`
  await postgres`INSERT INTO key_usage VALUES (${keyId}, date_trunc('hour', now()), 12)`
}

const signIn = async (visitor: Visitor, email: string, code: string) => {
  await visitor.post('/login', '/login', { email, password, next: '/account' })
  const { status } = await visitor.post('/login', '/login', { code, next: '/account' })
  return status
}

test('after a restore people sign in, and links, widgets and the audit log are there', async (t) => {
  const old = await installed(t)
  const passwordHash = await createPasswords(cheapPasswords).hash(password)
  const things = await makeThings(old.stores, passwordHash)
  const { owner, siteId } = things
  const secret = newTotpSecret()
  const [user, made] = [
    { id: owner.userId, email: owner.email },
    { secret, step: 0 },
  ]
  const codes = await turnOnSecondFactor(old.stores.postgres, undefined, keySecrets, commandLine, user, made)
  const [recoveryCode = ''] = codes ?? []
  const identity = { issuer: 'https://id.example', subject: 'maria' }
  await addIdentity(old.stores.postgres, owner.userId, identity, 'maria@id.example')
  await addOtherRows(old.stores, siteId, things.keyId)
  const before = await dumpTables(old.stores.postgres)

  const folder = mkdtempSync(join(tmpdir(), 'footfall-backup-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await old.json('backup', join(folder, 'backup'))
  const fresh = await installed(t)
  await fresh.json('restore', join(folder, 'backup'))
  const after = await dumpTables(fresh.stores.postgres)
  for (const table of controlTables) {
    assert.ok((before[table] as string[]).length > 0, `${table} has no rows to compare`)
    assert.deepEqual(after[table], before[table], table)
  }

  const console = await openConsole(t, { stores: fresh.stores })
  const visitor = console.stranger()
  assert.equal(await signIn(visitor, owner.email, codeAt(secret, stepAt(Date.now()))), 303)
  assert.equal(await signIn(console.stranger(), owner.email, recoveryCode), 303)
  const log = await visitor.get('/account/audit')
  assert.equal(log.status, 200)
  assert.match(log.text, /The board/, 'that a link was shared')

  const stranger = console.stranger()
  assert.equal((await stranger.get(`/share/${things.sharedToken}`)).status, 200)
  const closed = await stranger.get(`/share/${things.passwordToken}`)
  assert.match((await stranger.get(closed.headers.get('location') as string)).text, /type="password"/)
  const widget = await stranger.get(`/share/${things.embeddableToken}/widget.json`)
  assert.equal(JSON.parse(widget.text).visitors, 0)

  // What happened next is recorded after what was restored.
  const ids = (await fresh.stores.postgres<{ id: number }[]>`SELECT id::int FROM audit_log ORDER BY id`).map(
    ({ id }) => id,
  )
  assert.ok(ids.length > (before.audit_log as string[]).length)
  assert.equal(new Set(ids).size, ids.length)

  // A browser that was signed in, and links that work once, do not come back.
  const browser = console.stranger()
  browser.cookies.set('footfall-session', owner.cookie)
  assert.equal((await browser.get('/account')).status, 303)
  assert.deepEqual([after.user_sessions, after.one_time_links], [[], []])
})
