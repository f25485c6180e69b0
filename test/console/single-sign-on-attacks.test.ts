// Answers that the provider did not give to this browser, or that are no answers of this provider.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { signed } from '../../src/accounts/derived-keys.ts'
import { startProvider } from '../support/provider.ts'
import { keySecrets } from '../support/stores.ts'
import type { Page, Visitor } from './console.ts'
import { addConnected, emailOf, goThere, openSignOn, type SignOnConsole, signOn } from './single-sign-on.ts'

function assertRefused({ status, text }: Page, visitor: Visitor, what = ''): void {
  assert.equal(status, 400, what)
  assert.match(text, /Single sign-on did not work/)
  assert.match(text, /href="\/login"/)
  assert.ok(!visitor.cookies.has('footfall-session'), what)
}

/** Everything is in order, so that a refusal has one reason only. */
async function assertWorks(console: SignOnConsole): Promise<void> {
  assert.equal((await signOn(console, console.stranger())).status, 303)
}

test('an answer for another browser is refused', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const [attacker, victim, other] = [console.stranger(), console.stranger(), console.stranger()]
  const path = await goThere(console, attacker)
  assertRefused(await victim.get(path), victim, 'who has begun nothing')
  await other.get('/login/oidc')
  assertRefused(await other.get(path), other, 'who has begun something else')
  assert.equal((await attacker.get(path)).status, 303)
})

test('the cookie of the flow is signed, and lasts ten minutes', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  const path = await goThere(console, visitor)
  const cookie = visitor.cookies.get('footfall-flow') as string
  const [text = '', signature = ''] = cookie.split('.')
  const flow = JSON.parse(Buffer.from(text, 'base64url').toString()) as { until: number }
  assert.ok(Math.abs(flow.until - Date.now() - 600_000) < 60_000)
  const forged = Buffer.from(JSON.stringify({ ...flow, until: flow.until + 1 })).toString('base64url')
  for (const value of [`${forged}.${signature}`, text, `${text}.`, `.${signature}`, 'x']) {
    visitor.cookies.set('footfall-flow', value)
    assertRefused(await visitor.get(path), visitor, value)
  }
  visitor.cookies.set('footfall-flow', cookie)
  assert.equal((await visitor.get(path)).status, 303)
  const { headers } = await console.stranger().get('/login/oidc')
  const [set = ''] = headers.getSetCookie().filter((line) => line.startsWith('footfall-flow'))
  assert.match(set, /; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
})

test('a flow that took too long is refused', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  const path = await goThere(console, visitor)
  const [text = ''] = (visitor.cookies.get('footfall-flow') as string).split('.')
  const flow = JSON.parse(Buffer.from(text, 'base64url').toString()) as { until: number }
  const endingAt = (until: number) =>
    signed(keySecrets, 'sign-on flow', Buffer.from(JSON.stringify({ ...flow, until })).toString('base64url'))
  visitor.cookies.set('footfall-flow', endingAt(Date.now() - 1))
  assertRefused(await visitor.get(path), visitor)
  visitor.cookies.set('footfall-flow', endingAt(Date.now() + 60_000))
  assert.equal((await visitor.get(path)).status, 303)
})

test('a code and a state work once', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  const path = await goThere(console, visitor)
  const flow = visitor.cookies.get('footfall-flow') as string
  assert.equal((await visitor.get(path)).status, 303)
  assert.ok(!visitor.cookies.has('footfall-flow'))
  const again = console.stranger()
  assertRefused(await again.get(path), again, 'without the cookie')
  again.cookies.set('footfall-flow', flow)
  assertRefused(await again.get(path), again, 'with the cookie')
  // A new code with the old state, too.
  const fresh = new URLSearchParams((await goThere(console, again)).split('?')[1])
  fresh.set('state', new URLSearchParams(path.split('?')[1]).get('state') as string)
  assertRefused(await again.get(`/login/oidc/callback?${fresh}`), again, 'with a new code')
})

test('state, code and the name of the issuer must be there once, and right', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  const path = await goThere(console, visitor)
  const flow = visitor.cookies.get('footfall-flow') as string
  const changes: Record<string, (query: URLSearchParams) => void> = {
    'no state': (query) => query.delete('state'),
    'another state': (query) => query.set('state', 'x'.repeat(43)),
    'two states': (query) => query.append('state', 'x'),
    'no code': (query) => query.delete('code'),
    'another code': (query) => query.set('code', 'x'.repeat(43)),
    'no issuer': (query) => query.delete('iss'),
    'another issuer': (query) => query.set('iss', 'https://evil.example'),
    'an error': (query) => query.set('error', 'access_denied'),
  }
  for (const [name, change] of Object.entries(changes)) {
    const query = new URLSearchParams(path.split('?')[1])
    change(query)
    visitor.cookies.set('footfall-flow', flow)
    assertRefused(await visitor.get(`/login/oidc/callback?${query}`), visitor, name)
  }
  await assertWorks(console)
})

test('every request to the provider has a state, a nonce and a code challenge of its own', async (t) => {
  const console = await openSignOn(t)
  const sent = ['state', 'nonce', 'code_challenge'].map((name) => [name, new Set<string | null>()] as const)
  for (let index = 0; index < 3; index++) {
    const { headers } = await console.stranger().get('/login/oidc')
    const { searchParams } = new URL(headers.get('location') as string)
    for (const [name, values] of sent) values.add(searchParams.get(name))
  }
  for (const [name, values] of sent) {
    assert.equal(values.size, 3, name)
    for (const value of values) assert.match(value ?? '', /^[\w-]{43}$/, name)
  }
})

test('a token that was made for another request is refused', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  const path = await goThere(console, visitor, '/login/oidc', ({ searchParams }) =>
    searchParams.set('nonce', 'another'),
  )
  assertRefused(await visitor.get(path), visitor, 'another nonce')
  const other = await goThere(console, visitor, '/login/oidc', ({ searchParams }) =>
    searchParams.set('code_challenge', 'x'.repeat(43)),
  )
  assertRefused(await visitor.get(other), visitor, 'another code challenge')
  await assertWorks(console)
})

test('a token with wrong claims or a wrong signature is refused', async (t) => {
  const console = await openSignOn(t)
  const { provider } = console
  await addConnected(console)
  const seconds = Math.floor(Date.now() / 1000)
  const lies: Record<string, Record<string, unknown>> = {
    'another audience': { aud: 'another-client' },
    'an audience too many': { aud: ['footfall', 'another-client'] },
    'another issuer': { iss: 'https://evil.example' },
    'no nonce': { nonce: undefined },
    'another nonce': { nonce: 'x' },
    expired: { exp: seconds - 3_600 },
    'from the future': { iat: seconds + 3_600, nbf: seconds + 3_600 },
    'no subject': { sub: undefined },
  }
  for (const [name, lie] of Object.entries(lies)) {
    provider.lie = (claims) => ({ ...claims, ...lie })
    const visitor = console.stranger()
    assertRefused(await signOn(console, visitor), visitor, name)
  }
  provider.lie = undefined
  provider.signsWithForeignKey = true
  const visitor = console.stranger()
  assertRefused(await signOn(console, visitor), visitor, 'signature')
  provider.signsWithForeignKey = false
  await assertWorks(console)
})

test('what the person says about their email cannot come from another subject', async (t) => {
  const console = await openSignOn(t, { joinDomain: 'example.com' })
  console.provider.account = { subject: randomUUID(), email: `${randomUUID()}@example.com`, verified: true }
  // The token is of somebody else than the email that is asked for afterwards.
  console.provider.lie = (claims) => ({ ...claims, sub: 'somebody-else' })
  const visitor = console.stranger()
  assert.equal((await signOn(console, visitor)).status, 403)
  assert.ok(!visitor.cookies.has('footfall-session'))
})

test('two providers: the answer of the other one is refused', async (t) => {
  const console = await openSignOn(t)
  const user = await addConnected(console)
  const other = await startProvider()
  t.after(other.stop)
  other.admit(`${console.url}/login/oidc/callback`)
  other.account = { subject: user.subject, email: user.email, verified: true }
  const visitor = console.stranger()
  const { headers } = await visitor.get('/login/oidc')
  const address = new URL(headers.get('location') as string)
  const elsewhere = new URL(address.pathname + address.search, other.settings.issuer)
  assertRefused(await visitor.get(await other.walk(elsewhere.href)), visitor)

  // A code of the right provider, but its token endpoint hands out a token that the other one could have made.
  console.provider.lie = (claims) => ({ ...claims, iss: other.settings.issuer })
  console.provider.signsWithForeignKey = true
  assertRefused(await signOn(console, visitor), visitor)
})

test('the same subject of another issuer is somebody else', async (t) => {
  const console = await openSignOn(t)
  const user = await addConnected(console)
  await console.stores.postgres`UPDATE user_identities SET issuer = 'https://evil.example/' WHERE user_id = ${user.id}`
  assert.equal((await signOn(console, console.stranger())).status, 403)
})

test('wrong answers are limited by address', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  await visitor.get('/login/oidc')
  const flow = visitor.cookies.get('footfall-flow') as string
  const from = (address: string) => {
    visitor.cookies.set('footfall-flow', flow)
    return visitor.get('/login/oidc/callback?code=x&state=x', { 'X-Forwarded-For': address })
  }
  const statuses: number[] = []
  for (let index = 0; index < 105; index++) statuses.push((await from('203.0.113.9')).status)
  assert.deepEqual(statuses.slice(0, 100), new Array(100).fill(400))
  assert.equal(statuses.at(-1), 429)
  assert.equal((await from('203.0.113.10')).status, 400)
})

test('neither the secret nor a code, a state or a token is logged, also when something fails', async (t) => {
  const lines: string[] = []
  const console = await openSignOn(t, { log: { write: (line) => lines.push(line) } })
  const { provider } = console
  await addConnected(console)
  const states: string[] = []
  const go = async (visitor: Visitor) => {
    const path = await goThere(console, visitor)
    const flow = visitor.cookies.get('footfall-flow') as string
    const { checks } = JSON.parse(Buffer.from(flow.split('.')[0] as string, 'base64url').toString()) as {
      checks: Record<string, string>
    }
    states.push(...Object.values(checks), flow.split('.')[1] as string)
    return visitor.get(path)
  }
  await go(console.stranger())
  for (const lie of [{ aud: 'another' }, { nonce: 'another' }, { exp: 1 }, { iss: 'https://evil.example' }]) {
    provider.lie = (claims) => ({ ...claims, ...lie })
    await go(console.stranger())
  }
  provider.signsWithForeignKey = true
  await go(console.stranger())
  const visitor = console.stranger()
  const path = await goThere(console, visitor)
  await visitor.get(`${path}&error=access_denied`)
  await visitor.get(path.replace('code=', 'code=x'))
  await provider.stop()
  assert.equal((await visitor.get(path)).status, 503)

  const log = lines.join('')
  assert.ok(lines.filter((line) => line.includes('single sign-on failed')).length >= 8, log)
  const secrets = [provider.settings.clientSecret, ...provider.secrets, ...states]
  assert.ok(secrets.length > 30)
  for (const secret of secrets) {
    for (let from = 0; from + 12 <= secret.length; from += 3) {
      assert.ok(!log.includes(secret.slice(from, from + 12)), `the log has a part of ${secret}`)
    }
  }
})

test('a session of the attacker cannot be put into the browser of somebody who is signed in', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const attacker = console.stranger()
  const path = await goThere(console, attacker)
  const victim = await console.signedIn('owner')
  assert.equal((await victim.get(path)).status, 400)
  assert.equal(await emailOf(victim), victim.email)
})
