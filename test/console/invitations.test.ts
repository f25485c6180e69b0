import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { acceptInvitation } from '../../src/users/invitations.ts'
import type { Role } from '../../src/users/members.ts'
import { createLink } from '../../src/users/one-time-links.ts'
import { openConsole, type Page, password, type TestConsole } from './console.ts'
import { openSignOn } from './single-sign-on.ts'
import { dumpTables } from './table-dump.ts'

const chosen = { 'new-password': 'a password of my own', 'repeated-password': 'a password of my own' }

async function invited(console: TestConsole, email = `${randomUUID()}@example.com`, role: Role = 'viewer') {
  const token = await console.invite(email, role)
  return { email, token, path: `/invitation/${token}` }
}

const rolesOf = async ({ stores, accountId }: TestConsole, email: string) =>
  (
    await stores.postgres<{ role: Role }[]>`
      SELECT role FROM members JOIN users ON users.id = user_id WHERE account_id = ${accountId} AND email = ${email}`
  ).map(({ role }) => role)

test('an invitation makes a viewer, who is signed in', async (t) => {
  const console = await openConsole(t)
  const { email, path } = await invited(console)
  const visitor = console.stranger()
  assert.match((await visitor.get(path)).text, /Join A test/)
  const done = await visitor.post(path, path, chosen)
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/'])
  assert.ok((await visitor.get('/')).text.includes(console.domain))
  assert.deepEqual(await rolesOf(console, email), ['viewer'])
})

test('an invitation works once, also when it is used many times at once', async (t) => {
  const console = await openConsole(t)
  const { email, path } = await invited(console)
  const visitors = Array.from({ length: 6 }, () => console.stranger())
  const pages = await Promise.all(visitors.map((visitor) => visitor.post(path, path, chosen)))
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 404, 404, 404, 404, 404])
  assert.deepEqual(await rolesOf(console, email), ['viewer'])
})

test('used, expired, replaced, unknown and other links get the same page', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const [used, expired, replaced] = [await invited(console), await invited(console), await invited(console)]
  await console.stranger().post(used.path, used.path, chosen)
  await postgres`UPDATE one_time_links SET expires_at = now() WHERE email = ${expired.email}`
  await invited(console, replaced.email)
  const user = await console.addUser('viewer')
  const reset = await createLink(postgres, { purpose: 'reset', userId: user.id })
  const unknown = await console.stranger().get(`/invitation/${'x'.repeat(43)}`)
  assert.equal(unknown.status, 404)
  for (const path of [used.path, expired.path, replaced.path, `/invitation/${reset}`, `/setup/${reset}`]) {
    assert.deepEqual((await console.stranger().get(path)).text, unknown.text, path)
  }
  assert.equal((await console.stranger().get(`/reset/${reset}`)).status, 200)
})

test('an invitation is valid for seven days', async (t) => {
  const console = await openConsole(t)
  const { email, path } = await invited(console)
  const { postgres } = console.stores
  await postgres`UPDATE one_time_links SET expires_at = expires_at - interval '167 hours 59 minutes' WHERE email = ${email}`
  assert.equal((await console.stranger().get(path)).status, 200)
  await postgres`UPDATE one_time_links SET expires_at = expires_at - interval '1 minute' WHERE email = ${email}`
  assert.equal((await console.stranger().get(path)).status, 404)
})

test('somebody signed in with another address is told so and cannot accept', async (t) => {
  const console = await openConsole(t)
  const { email, path } = await invited(console, undefined, 'owner')
  const visitor = await console.signedIn('viewer')
  const page = await visitor.get(path)
  assert.ok(page.text.includes(`You are signed in as ${visitor.email}`))
  const tried = await visitor.post(path, path, chosen)
  assert.equal(tried.status, 422)
  assert.deepEqual([await rolesOf(console, email), await rolesOf(console, visitor.email)], [[], ['viewer']])
})

test('neither who invites nor who has the link learns whether the address has a user', async (t) => {
  const console = await openSignOn(t)
  const other = await console.addAccount()
  const known = await console.addUser('owner', other.accountId)
  const [inviting, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const members = '/account/members'
  const seen: string[][] = []
  for (const email of [`${randomUUID()}@example.com`, known.email]) {
    const made = await inviting.post(members, '/account/members/invite', { email, role: 'viewer' })
    const [path = '', token = ''] = /\/invitation\/([\w-]{43})/.exec(made.text) ?? []
    const [, id = ''] = /name="invitation" value="(link_\w+)"/.exec(made.text) ?? []
    const [stranger, mistaken] = [console.stranger(), console.stranger()]
    const pages: Page[] = [
      made,
      await inviting.get(path),
      await viewer.get(path),
      await viewer.post(path, path, chosen),
      await stranger.get(path),
      await mistaken.post(path, path, { ...chosen, 'repeated-password': 'x' }),
      await mistaken.post(path, path, {}),
      await inviting.post(members, '/account/invitations/revoke', { invitation: id }),
    ]
    const withoutNames = (text: string) =>
      [email, token, encodeURIComponent(token), id]
        .reduce((rest, name) => rest.replaceAll(name, ''), text)
        .replace(/name="token" value="[^"]*"/g, '')
        .replace(/<time [^>]*>/g, '')
    seen.push(pages.map(({ status, text }) => `${status} ${withoutNames(text)}`))
  }
  assert.deepEqual(seen[1], seen[0])
})

test('a user who exists accepts with their own password, and nobody else can in their name', async (t) => {
  const console = await openConsole(t)
  const other = await console.addAccount()
  const { email } = await console.addUser('owner', other.accountId)
  const { path, token } = await invited(console, email)
  const attacker = console.stranger()
  // The owner who invites somebody sees the link. With it, nobody may set a password for a user of another account.
  const tried = await attacker.post(path, path, chosen)
  assert.equal(tried.status, 422)
  assert.match(tried.text, /If you have signed in here before, sign in/)
  assert.equal((await attacker.post('/login', '/login', { email, password: chosen['new-password'] })).status, 401)
  const { postgres } = console.stores
  const browser = { address: '192.0.2.0', browser: 'A test', cookie: undefined, browserCookie: undefined }
  await assert.rejects(acceptInvitation(postgres, token, { passwordHash: 'a hash' }, browser), { reason: 'spent_link' })

  const visitor = console.stranger()
  const [, ownWay = ''] = /href="(\?sign-in)"/.exec((await visitor.get(path)).text) ?? []
  const next = (await visitor.get(path + ownWay)).headers.get('location') as string
  const signedIn = await visitor.post(next, '/login', { email, password, next: path })
  assert.equal(signedIn.headers.get('location'), path)
  assert.equal((await visitor.post(path, path)).status, 303)
  const sites = await visitor.get('/')
  assert.ok(sites.text.includes(console.domain) && sites.text.includes(other.domain))
})

test('a link to set a new password works once, ends all sessions and signs nobody in', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('owner')
  const { postgres } = console.stores
  const path = `/reset/${await createLink(postgres, { purpose: 'reset', userId: visitor.userId })}`
  const stranger = console.stranger()
  assert.equal((await stranger.post(path, path, { ...chosen, 'repeated-password': 'x' })).status, 422)
  const pages = await Promise.all(
    Array.from({ length: 4 }, () => console.stranger()).map((one) => one.post(path, path, chosen)),
  )
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 404, 404, 404])
  assert.equal((await visitor.get('/')).status, 303)
  const { email } = visitor
  assert.equal((await stranger.get('/')).status, 303)
  assert.equal((await stranger.post('/login', '/login', { email, password })).status, 401)
  assert.equal((await stranger.post('/login', '/login', { email, password: chosen['new-password'] })).status, 303)
})

test('the token of a link is in no table', async (t) => {
  const console = await openConsole(t)
  const { token } = await invited(console)
  const tables = JSON.stringify(await dumpTables(console.stores.postgres))
  assert.ok(tables.includes('link_'))
  assert.ok(!tables.includes(token) && !tables.includes(Buffer.from(token, 'base64url').toString('hex')))
})
