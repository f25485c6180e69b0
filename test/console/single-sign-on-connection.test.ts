// A signed-in user connects single sign-on, and disconnects it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { inTransaction } from '../../src/stores/postgres.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { addIdentity } from '../../src/users/identities.ts'
import { createLink } from '../../src/users/one-time-links.ts'
import { turnOnSecondFactor } from '../../src/users/second-factor.ts'
import { endSessionsOf } from '../../src/users/sessions.ts'
import { codeAt, stepAt } from '../../src/users/totp.ts'
import { eventually } from '../support/eventually.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, type Page, password, type Visitor } from './console.ts'
import {
  addConnected,
  emailOf,
  goThere,
  issuerOf,
  openSignOn,
  type SignOnConsole,
  signOn,
  somebody,
} from './single-sign-on.ts'

const page = '/account/single-sign-on'
const totpSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

const post = (visitor: Visitor, to: 'connect' | 'disconnect', fields: Record<string, string> = { password }) =>
  visitor.post(page, page, { to, ...fields })

/** The path back from the provider, for the link on the page. */
function followLink({ provider }: SignOnConsole, { text }: Page): Promise<string> {
  const [, link = ''] = /class="button first" href="(http[^"]*)"/.exec(text) ?? []
  return provider.walk(link.replaceAll('&#38;', '&'))
}

test('a user connects with the password, signs in with it, and disconnects', async (t) => {
  const console = await openSignOn(t)
  const { provider } = console
  const visitor = await console.signedIn('viewer')
  provider.account = { subject: randomUUID() }
  assert.equal((await signOn(console, console.stranger())).status, 403)

  assert.match((await visitor.get('/account/security')).text, /Not connected/)
  const wrong = await post(visitor, 'connect', { password: 'not this one' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /Your password is not right/)
  assert.ok(!visitor.cookies.has('footfall-flow'))
  const right = await post(visitor, 'connect')
  assert.equal(right.status, 200)
  const back = await visitor.get(await followLink(console, right))
  assert.deepEqual([back.status, back.headers.get('location')], [303, '/account/security?done=connected'])
  assert.ok(!visitor.cookies.has('footfall-flow'))
  assert.match((await visitor.get('/account/security')).text, /Connected\./)

  const other = console.stranger()
  assert.equal((await signOn(console, other)).status, 303)
  assert.equal(await emailOf(other), visitor.email)

  assert.equal((await post(visitor, 'disconnect', { password: 'not this one' })).status, 422)
  const gone = await post(visitor, 'disconnect')
  assert.equal(gone.headers.get('location'), '/account/security?done=disconnected')
  assert.equal((await signOn(console, console.stranger())).status, 403)
  assert.deepEqual(
    (await entriesOf(console, visitor.email)).map(([, action]) => action),
    ['user.sign_on_connected', 'user.signed_on', 'user.sign_on_disconnected'],
  )
  // A form that is sent again neither connects nor disconnects.
  assert.equal((await post(visitor, 'disconnect')).headers.get('location'), '/account/security')
})

test('an identity of somebody else cannot be connected', async (t) => {
  const console = await openSignOn(t)
  const user = await addConnected(console)
  const visitor = await console.signedIn('owner')
  const back = await visitor.get(await followLink(console, await post(visitor, 'connect')))
  assert.equal(back.status, 409)
  assert.match(back.text, /connected already/)
  const other = console.stranger()
  await signOn(console, other)
  assert.equal(await emailOf(other), user.email)
})

test('what one user began does not connect another', async (t) => {
  const console = await openSignOn(t)
  const [attacker, victim] = [await console.signedIn('viewer'), await console.signedIn('owner')]
  console.provider.account = somebody()
  const path = await followLink(console, await post(attacker, 'connect'))
  const flow = attacker.cookies.get('footfall-flow') as string
  for (const visitor of [victim, console.stranger()]) {
    visitor.cookies.set('footfall-flow', flow)
    assert.equal((await visitor.get(path)).status, 400)
  }
  assert.equal((await signOn(console, console.stranger())).status, 403)
})

test('signing in is not connecting: the flow of a sign-in connects nobody who is signed in', async (t) => {
  const console = await openSignOn(t)
  const visitor = await console.signedIn('owner')
  console.provider.account = somebody(visitor.email)
  assert.equal((await visitor.get(await goThere(console, visitor))).status, 403)
  assert.match((await visitor.get('/account/security')).text, /Not connected/)
})

test('with a second factor, connecting needs a code, too', async (t) => {
  const console = await openSignOn(t)
  const visitor = await console.signedIn('owner')
  const [user, made] = [
    { id: visitor.userId, email: visitor.email },
    { secret: totpSecret, step: 0 },
  ]
  await turnOnSecondFactor(console.stores.postgres, undefined, keySecrets, commandLine, user, made)
  assert.match((await visitor.get(page)).text, /name="code"/)
  for (const code of ['', '000000']) {
    const refused = await post(visitor, 'connect', { password, code })
    assert.equal(refused.status, 422)
    assert.ok(!visitor.cookies.has('footfall-flow'))
  }
  const right = await post(visitor, 'connect', { password, code: codeAt(totpSecret, stepAt(Date.now())) })
  assert.equal(right.status, 200)
  assert.ok(visitor.cookies.has('footfall-flow'))
})

test('somebody without a password cannot disconnect, and is told what to do', async (t) => {
  const console = await openSignOn(t, { joinDomain: 'example.com' })
  console.provider.account = somebody()
  const visitor = console.stranger()
  await signOn(console, visitor)
  const security = await visitor.get('/account/security')
  assert.doesNotMatch(security.text, /name="new-password"|second-factor/)
  assert.match((await visitor.get(page)).text, /your only way in[\s\S]*footfall user reset/)
  for (const attempt of ['', 'null', password]) {
    const refused = await visitor.post('/account/security', page, { to: 'disconnect', password: attempt })
    assert.equal(refused.status, 422)
  }
  assert.equal((await signOn(console, console.stranger())).status, 303)
})

test('the page says which account of the provider is connected, and since when', async (t) => {
  const console = await openSignOn(t, { now: '2026-11-19T12:00:00Z' })
  const visitor = await console.signedIn('viewer')
  const security = async () => (await visitor.get('/account/security')).text
  for (const [account, shown] of [
    [somebody('Maria@Corp.example'), /As maria@corp\.example, since <time datetime="2026-11-03T08:00/],
    // Nobody has checked this address: it may be one that its owner does not have.
    [{ ...somebody(visitor.email), verified: false }, />Since <time datetime="2026-11-03T08:00/],
  ] as const) {
    console.provider.account = account
    await visitor.get(await followLink(console, await post(visitor, 'connect')))
    await console.stores.postgres`
      UPDATE user_identities SET created_at = '2026-11-03T08:00Z' WHERE user_id = ${visitor.userId}`
    assert.match(await security(), shown)
    assert.equal((await post(visitor, 'disconnect')).status, 303)
    assert.match(await security(), /Not connected/)
  }
  const at = ` at ${issuerOf(console)}`
  assert.deepEqual(
    (await entriesOf(console, visitor.email)).map(([, action, details]) => [action, details]),
    [
      ['user.sign_on_connected', `maria@corp.example${at}`],
      ['user.sign_on_disconnected', `maria@corp.example${at}`],
      ['user.sign_on_connected', `unknown email${at}`],
      ['user.sign_on_disconnected', `unknown email${at}`],
    ],
  )
})

const chosen = { 'new-password': 'a password of my own', 'repeated-password': 'a password of my own' }

test('a new password disconnects single sign-on, of every issuer, and says so', async (t) => {
  const console = await openSignOn(t)
  const { postgres } = console.stores
  const user = await addConnected(console)
  await addIdentity(postgres, user.id, { issuer: 'https://former.example/', subject: 'x' }, undefined)
  const path = `/reset/${await createLink(postgres, { purpose: 'reset', userId: user.id })}`
  const visitor = console.stranger()
  assert.match((await visitor.get(path)).text, /signed out everywhere, and single sign-on is disconnected/)
  assert.equal((await signOn(console, console.stranger())).status, 303, 'opening the link changes nothing')
  const done = await visitor.post(path, path, chosen)
  assert.match((await visitor.get(done.headers.get('location') as string)).text, /Single sign-on is disconnected/)

  assert.equal((await signOn(console, console.stranger())).status, 403)
  assert.deepEqual([...(await postgres`SELECT FROM user_identities WHERE user_id = ${user.id}`)], [])
  const entries = (await entriesOf(console, user.email)).map(([, action, details]) => [action, details]).slice(1)
  assert.deepEqual(entries.shift(), ['user.password_reset', ''])
  assert.deepEqual(
    entries.sort(),
    [
      ['user.sign_on_disconnected', `${user.email} at ${issuerOf(console)}`],
      ['user.sign_on_disconnected', 'unknown email at https://former.example/'],
    ].sort(),
  )
})

test('whoever is connecting while the sessions are ended does not get connected', async (t) => {
  const console = await openSignOn(t)
  const visitor = await console.signedIn('viewer')
  console.provider.account = somebody()
  const back = await followLink(console, await post(visitor, 'connect'))
  const { postgres } = console.stores
  const { answer } = await inTransaction(postgres, async (transaction) => {
    await endSessionsOf(transaction, visitor.userId)
    const [own] = await transaction<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    const waitsForUs = async () => {
      const waiting =
        await postgres`SELECT FROM pg_stat_activity WHERE ${own?.pid as number} = ANY (pg_blocking_pids(pid))`
      assert.equal(waiting.length, 1)
    }
    // For everybody else the session is there until this transaction ends.
    const answer = visitor.get(back)
    await Promise.race([answer, eventually(waitsForUs)])
    return { answer }
  })
  assert.equal((await answer).status, 400)
  assert.deepEqual([...(await postgres`SELECT FROM user_identities WHERE user_id = ${visitor.userId}`)], [])
})
