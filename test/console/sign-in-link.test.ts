// The one-time link of `npm run try` that opens the dashboard signed in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink, linkAddress } from '../../src/users/one-time-links.ts'
import { entriesOf, openConsole, password, type TestConsole } from './console.ts'

async function makeLink({ stores: { postgres }, url, domain }: TestConsole, userId: string): Promise<string> {
  const token = await createLink(postgres, { purpose: 'sign-in', userId })
  return `${linkAddress(url, 'sign-in', token).slice(url.length)}?next=/sites/${domain}`
}

test('the link shows a button, and the button signs in and opens the dashboard', async (t) => {
  const console = await openConsole(t)
  const { id, email } = await console.addUser('owner')
  const path = await makeLink(console, id)
  const visitor = console.stranger()
  // A program that shows a preview opens it first.
  for (let index = 0; index < 3; index++) assert.match((await visitor.get(path)).text, /Open the dashboard/)
  assert.ok(!visitor.cookies.has('footfall-session'))
  const done = await visitor.post(path, path)
  assert.deepEqual([done.status, done.headers.get('location')], [303, `/sites/${console.domain}`])
  assert.equal((await visitor.get(`/sites/${console.domain}`)).status, 200)
  assert.deepEqual(await entriesOf(console, email), [[email, 'user.signed_in_with_link', '', '127.0.0.0']])
})

test('the link works once, also when it is used many times at once, and for ten minutes', async (t) => {
  const console = await openConsole(t)
  const { id } = await console.addUser('viewer')
  const path = await makeLink(console, id)
  const visitors = Array.from({ length: 6 }, () => console.stranger())
  const pages = await Promise.all(visitors.map((visitor) => visitor.post(path, path)))
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 404, 404, 404, 404, 404])
  assert.equal((await console.stranger().get(path)).status, 404)

  const late = await makeLink(console, id)
  const { postgres } = console.stores
  await postgres`UPDATE one_time_links SET expires_at = expires_at - interval '9 minutes 50 seconds' WHERE user_id = ${id}`
  assert.equal((await console.stranger().get(late)).status, 200)
  await postgres`UPDATE one_time_links SET expires_at = expires_at - interval '10 seconds' WHERE user_id = ${id}`
  assert.equal((await console.stranger().get(late)).status, 404)
})

test('the link of another purpose does not sign in, and this one does nothing else', async (t) => {
  const console = await openConsole(t)
  const { id } = await console.addUser('owner')
  const reset = await createLink(console.stores.postgres, { purpose: 'reset', userId: id })
  const token = await createLink(console.stores.postgres, { purpose: 'sign-in', userId: id })
  for (const path of [`/sign-in/${reset}`, `/reset/${token}`, `/invitation/${token}`, `/setup/${token}`]) {
    assert.equal((await console.stranger().get(path)).status, 404, path)
  }
})

test('the link cannot lead to another host', async (t) => {
  const console = await openConsole(t)
  const { id } = await console.addUser('owner')
  const path = (await makeLink(console, id)).replace(/next=.*/, 'next=%2F%2Fevil.example')
  assert.equal((await console.stranger().post(path, path)).headers.get('location'), '/')
})

test('the link replaces the password, not the second factor', async (t) => {
  const console = await openConsole(t)
  const { id, email } = await console.addUser('owner')
  await console.stores.postgres`UPDATE users SET totp_secret = ${Buffer.alloc(60)} WHERE id = ${id}`
  const path = await makeLink(console, id)
  const visitor = console.stranger()
  const done = await visitor.post(path, path)
  assert.equal(done.headers.get('location'), `/login?next=${encodeURIComponent(`/sites/${console.domain}`)}`)
  assert.match((await visitor.get('/login')).text, /One more step/)
  assert.ok(!visitor.cookies.has('footfall-session'))
  // As with the password.
  const other = console.stranger()
  assert.match((await other.post('/login', '/login', { email, password })).headers.get('location') ?? '', /^\/login\?/)
})
