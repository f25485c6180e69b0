import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { createSession } from '../../src/users/sessions.ts'
import { openConsole, password, type TestConsole, type Visitor } from './console.ts'

const chosen = { 'new-password': 'a password of my own', 'repeated-password': 'a password of my own' }

const isSignedIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/')).status === 200

const signIn = (visitor: Visitor, email: string) => visitor.post('/login', '/login', { email, password })

/** A second browser of the same user. */
async function anotherBrowser(
  console: TestConsole,
  { userId }: { userId: string },
  browser = 'Another',
): Promise<Visitor> {
  const other = console.stranger()
  const value = await createSession(console.stores.postgres, userId, { address: '192.0.2.0', browser })
  other.cookies.set('footfall-session', value)
  return other
}

test('a session that somebody else planted is not the one that the sign-in uses', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  const victim = console.stranger()
  victim.cookies.set('footfall-session', 'A'.repeat(43))
  await signIn(victim, email)
  assert.notEqual(victim.cookies.get('footfall-session'), 'A'.repeat(43))
  const attacker = console.stranger()
  attacker.cookies.set('footfall-session', 'A'.repeat(43))
  assert.equal(await isSignedIn(attacker), false)
})

test('signing in again gives a new session and ends the one before', async (t) => {
  const console = await openConsole(t)
  const attacker = await console.signedIn('viewer')
  const { email } = await console.addUser('owner')
  // The victim's browser has the attacker's own valid session.
  const victim = console.stranger()
  const planted = attacker.cookies.get('footfall-session') as string
  victim.cookies.set('footfall-session', planted)
  const { status } = await victim.post('/account', '/login', { email, password })
  assert.equal(status, 303)
  assert.notEqual(victim.cookies.get('footfall-session'), planted)
  assert.deepEqual([await isSignedIn(victim), await isSignedIn(attacker)], [true, false])
})

test('a cookie that was kept does not work after signing out', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('owner')
  const kept = visitor.cookies.get('footfall-session') as string
  await visitor.post('/account', '/logout')
  assert.equal(visitor.cookies.get('footfall-session'), undefined)
  visitor.cookies.set('footfall-session', kept)
  assert.equal(await isSignedIn(visitor), false)
})

test('a session ends after 12 hours without use and after 7 days in any case', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  for (const [column, almost, whole] of [
    ['seen_at', '11 hours 59 minutes', '12 hours'],
    ['created_at', '6 days 23 hours 59 minutes', '7 days'],
  ] as const) {
    const visitor = await console.signedIn('owner')
    const move = (by: string) =>
      postgres`UPDATE user_sessions SET ${postgres(column)} = now() - ${by}::text::interval WHERE user_id = ${visitor.userId}`
    await move(almost)
    assert.equal(await isSignedIn(visitor), true, column)
    await move(whole)
    assert.equal(await isSignedIn(visitor), false, column)
    // Gone for good once somebody signs in, not only ignored.
    await console.signedIn('viewer')
    assert.equal((await postgres`SELECT FROM user_sessions WHERE user_id = ${visitor.userId}`).count, 0)
  }
})

test('using a session keeps it alive', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const visitor = await console.signedIn('owner')
  await postgres`UPDATE user_sessions SET seen_at = now() - interval '11 hours' WHERE user_id = ${visitor.userId}`
  await visitor.get('/')
  const [row] = await postgres`
    SELECT seen_at > now() - interval '1 minute' AS noted FROM user_sessions WHERE user_id = ${visitor.userId}`
  assert.equal(row?.noted, true)
})

test('the table has a hash of the cookie, not the cookie', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('owner')
  const value = visitor.cookies.get('footfall-session') as string
  const rows = await console.stores
    .postgres`SELECT hash, user_sessions::text AS row FROM user_sessions WHERE user_id = ${visitor.userId}`
  assert.deepEqual(rows[0]?.hash, hash('sha256', value, 'buffer'))
  assert.ok(!rows[0]?.row.includes(value))
})

test('a new password ends all other sessions and keeps this one', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('viewer')
  const other = await anotherBrowser(console, visitor)
  const page = '/account/security'
  const wrong = await visitor.post(page, '/account/password', { password: 'not my password', ...chosen })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /Your current password is not right/)
  assert.equal(await isSignedIn(other), true)
  const right = await visitor.post(page, '/account/password', { password, ...chosen })
  assert.deepEqual([right.status, right.headers.get('location')], [303, '/account/security?done=password'])
  assert.deepEqual([await isSignedIn(visitor), await isSignedIn(other)], [true, false])
  assert.equal((await signIn(console.stranger(), visitor.email)).status, 401)
})

test('one session is ended from the list, or all of them', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('viewer')
  const [phone, office] = [
    await anotherBrowser(console, visitor, 'Safari on iOS'),
    await anotherBrowser(console, visitor, 'Edge on Windows'),
  ]
  const stranger = await console.signedIn('viewer')
  const page = await visitor.get('/account/security')
  assert.match(page.text, /Safari on iOS/)
  assert.match(page.text, /Edge on Windows/)
  const { postgres } = console.stores
  const [session] = await postgres`
    SELECT id FROM user_sessions WHERE user_id = ${visitor.userId} AND browser = 'Safari on iOS'`
  const foreign = await stranger.post('/account/security', '/account/sessions/end', { session: session?.id })
  assert.equal(foreign.status, 404)
  assert.equal(await isSignedIn(phone), true)
  await visitor.post('/account/security', '/account/sessions/end', { session: session?.id })
  assert.deepEqual([await isSignedIn(phone), await isSignedIn(office)], [false, true])
  const all = await visitor.post('/account/security', '/account/sessions/end-all')
  assert.equal(all.headers.get('location'), '/login?done=everywhere')
  assert.deepEqual(await Promise.all([visitor, office, stranger].map(isSignedIn)), [false, false, true])
})
