import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { commandLine } from '../../src/users/audit-log.ts'
import { addIdentity } from '../../src/users/identities.ts'
import { createSetupLink } from '../../src/users/setup.ts'
import { createUser } from '../../src/users/users.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { openConsole, type TestConsole } from './console.ts'

const chosen = { 'new-password': 'a password of the owner', 'repeated-password': 'a password of the owner' }

/** An installation that nobody owns: its account and site were made on the command line. */
async function openUnowned(t: TestContext) {
  const stores = await freshStores((end) => t.after(end))
  return openConsole(t, { stores })
}

const setupPath = async ({ stores }: TestConsole): Promise<string> =>
  `/setup/${await createSetupLink(stores.postgres, undefined)}`

test('the setup link makes the first owner, who is signed in and owns the account that is there', async (t) => {
  const console = await openUnowned(t)
  const path = await setupPath(console)
  const visitor = console.stranger()
  // Looking does not use it up: some programs open links before people do.
  for (let look = 0; look < 3; look++) assert.equal((await visitor.get(path)).status, 200)

  const done = await visitor.post(path, path, { email: ' Maria@Example.com', ...chosen })
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/'])
  assert.ok((await visitor.get('/')).text.includes(console.domain))

  const again = console.stranger()
  const { status } = await again.post('/login', '/login', {
    email: 'maria@example.com',
    password: chosen['new-password'],
  })
  assert.equal(status, 303)
  const { postgres } = console.stores
  const members = await postgres`SELECT account_id, role, email FROM members JOIN users ON users.id = user_id`
  assert.deepEqual([...members], [{ account_id: console.accountId, role: 'owner', email: 'maria@example.com' }])
  const [entry] = await postgres`SELECT account_id, actor, action FROM audit_log ORDER BY id LIMIT 1`
  assert.deepEqual(entry, { account_id: console.accountId, actor: 'maria@example.com', action: 'account.set_up' })
})

test('who takes the place of a user that is left has nobody else connected with it', async (t) => {
  const console = await openUnowned(t)
  const { postgres } = console.stores
  const userId = await createUser(postgres, 'maria@example.com', null)
  await addIdentity(postgres, userId, { issuer: 'https://id.example/', subject: 'somebody' }, undefined)
  const path = await setupPath(console)
  assert.equal((await console.stranger().post(path, path, { email: 'maria@example.com', ...chosen })).status, 303)
  const owners = await postgres`
    SELECT user_id, subject FROM members LEFT JOIN user_identities USING (user_id) WHERE role = 'owner'`
  assert.deepEqual([...owners], [{ user_id: userId, subject: null }])
})

test('without any account the setup creates one', async (t) => {
  const console = await openUnowned(t)
  const { postgres } = console.stores
  await postgres`DELETE FROM sites`
  await postgres`DELETE FROM accounts`
  const path = await setupPath(console)
  assert.equal((await postgres`SELECT FROM accounts`).count, 0)
  const visitor = console.stranger()
  assert.equal((await visitor.post(path, path, { email: 'a@example.com', ...chosen })).status, 303)
  assert.deepEqual([...(await postgres`SELECT name, plan FROM accounts`)], [{ name: 'Main', plan: 'Agency' }])
})

test('a setup link works once, also when it is used many times at once', async (t) => {
  const console = await openUnowned(t)
  const path = await setupPath(console)
  const visitors = Array.from({ length: 8 }, () => console.stranger())
  const pages = await Promise.all(
    visitors.map((visitor, index) => visitor.post(path, path, { email: `person${index}@example.com`, ...chosen })),
  )
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 404, 404, 404, 404, 404, 404, 404])
  assert.equal((await console.stores.postgres`SELECT FROM users`).count, 1)
  const [used, unknown] = [await console.stranger().get(path), await console.stranger().get(`/setup/${'x'.repeat(43)}`)]
  assert.deepEqual([used.status, used.text], [404, unknown.text])
  assert.match(used.text, /footfall user create/)
})

test('two setup links at the same time make one owner', async (t) => {
  const console = await openUnowned(t)
  const { postgres } = console.stores
  const invited = { by: commandLine, accountId: console.accountId }
  const paths = [
    `/setup/${await createSetupLink(postgres, undefined, { ...invited, email: 'a@example.com' })}`,
    `/setup/${await createSetupLink(postgres, undefined, { ...invited, email: 'b@example.com' })}`,
  ]
  const pages = await Promise.all(
    paths.map((path, index) => console.stranger().post(path, path, { email: `person${index}@example.com`, ...chosen })),
  )
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 404])
  assert.equal((await postgres`SELECT FROM members WHERE role = 'owner'`).count, 1)
})

test('each start makes a new setup link and ends the old one; with an owner there is none', async (t) => {
  const console = await openUnowned(t)
  const [old, current] = [await setupPath(console), await setupPath(console)]
  assert.equal((await console.stranger().get(old)).status, 404)
  assert.equal((await console.stranger().get(current)).status, 200)
  await console.addUser('owner')
  assert.equal(await createSetupLink(console.stores.postgres, undefined), undefined)
  // The link of a start before that is still there, but makes no second owner.
  const visitor = console.stranger()
  assert.equal((await visitor.post(current, current, { email: 'late@example.com', ...chosen })).status, 404)
})

test('a setup link expires after a day', async (t) => {
  const console = await openUnowned(t)
  const { postgres } = console.stores
  const path = await setupPath(console)
  await postgres`UPDATE one_time_links SET expires_at = expires_at - interval '23 hours 59 minutes'`
  assert.equal((await console.stranger().get(path)).status, 200)
  await postgres`UPDATE one_time_links SET expires_at = expires_at - interval '1 minute'`
  assert.equal((await console.stranger().get(path)).status, 404)
  const visitor = console.stranger()
  await visitor.get('/login')
  const late = await visitor.post('/login', path, { email: 'late@example.com', ...chosen })
  assert.equal(late.status, 404)
  assert.equal((await postgres`SELECT FROM users`).count, 0)
})

test('mistakes are explained and keep the address and the link', async (t) => {
  const console = await openUnowned(t)
  const path = await setupPath(console)
  const visitor = console.stranger()
  const short = { 'new-password': 'eleven char', 'repeated-password': 'eleven char' }
  for (const [fields, text] of [
    [{ email: 'nobody', ...chosen }, /This is not an email address/],
    [{ email: 'a\x01b@example.com', ...chosen }, /This is not an email address/],
    [{ email: 'maria@example.com', ...short }, /too short. Use at least 12/],
    [{ email: 'maria@example.com', ...chosen, 'repeated-password': 'another' }, /not the same/],
  ] as const) {
    const page = await visitor.post(path, path, fields)
    assert.equal(page.status, 422)
    assert.match(page.text, text)
  }
  const page = await visitor.post(path, path, { email: 'maria@example.com', ...short })
  assert.match(page.text, /value="maria@example\.com"/)
  assert.ok(!page.text.includes('eleven char'))
  assert.equal((await visitor.post(path, path, { email: 'maria@example.com', ...chosen })).status, 303)
})
