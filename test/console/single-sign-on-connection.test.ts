// A signed-in user connects single sign-on, and disconnects it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { inTransaction } from '../../src/stores/postgres.ts'
import { turnOnSecondFactor } from '../../src/users/second-factor.ts'
import { codeAt, stepAt } from '../../src/users/totp.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, type Page, password, type Visitor } from './console.ts'
import { addConnected, emailOf, goThere, openSignOn, type SignOnConsole, signOn, somebody } from './single-sign-on.ts'

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
  await inTransaction(console.stores.postgres, (transaction) =>
    turnOnSecondFactor(transaction, keySecrets, { userId: visitor.userId, secret: totpSecret, step: 0 }),
  )
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
