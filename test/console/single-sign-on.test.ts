import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { test } from 'node:test'
import { createLink } from '../../src/users/one-time-links.ts'
import { createUser } from '../../src/users/users.ts'
import { entriesOf, openConsole, password } from './console.ts'
import { addConnected, emailOf, goThere, openSignOn, signOn, somebody, usersWith } from './single-sign-on.ts'

test('without settings nothing of single sign-on is there', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('owner')
  for (const path of ['/login/oidc', '/login/oidc/callback?code=x&state=x', '/account/single-sign-on']) {
    assert.equal((await visitor.get(path)).status, 404, path)
  }
  assert.doesNotMatch((await visitor.get('/account/security')).text, /ingle sign-on/)
  assert.doesNotMatch((await console.stranger().get('/login')).text, /oidc/)
})

test('a known identity signs in as its user, whatever the email says now', async (t) => {
  const console = await openSignOn(t)
  const user = await addConnected(console)
  const other = await console.addUser('owner')
  const visitor = console.stranger()
  assert.match((await visitor.get('/login')).text, /Sign in with localhost:\d+/)
  for (const [email, verified] of [
    [user.email, true],
    [other.email, true],
    [undefined, false],
  ] as const) {
    console.provider.account = { subject: user.subject, verified, ...(email && { email }) }
    const before = visitor.cookies.get('footfall-session')
    const page = await signOn(console, visitor)
    assert.deepEqual([page.status, page.headers.get('location')], [303, '/'])
    assert.notEqual(visitor.cookies.get('footfall-session'), before, 'a new session')
    assert.equal(await emailOf(visitor), user.email)
  }
  const entries = await entriesOf(console, user.email)
  assert.deepEqual(entries, new Array(3).fill([user.email, 'user.signed_on', '', '127.0.0.0']))
  assert.deepEqual(await entriesOf(console, other.email), [])
})

test('a session of single sign-on replaces the one that the browser had, and ends when the member is removed', async (t) => {
  const console = await openSignOn(t)
  const user = await addConnected(console)
  const visitor = await console.signedIn('viewer')
  const old = visitor.cookies.get('footfall-session') as string
  await signOn(console, visitor)
  assert.equal(await emailOf(visitor), user.email)
  const thief = console.stranger()
  thief.cookies.set('footfall-session', old)
  assert.equal((await thief.get('/')).status, 303)

  const owner = await console.signedIn('owner')
  await owner.post('/account/members', '/account/members/remove', { member: user.id })
  assert.equal((await visitor.get('/')).status, 303)
  // The identity is gone with the user.
  assert.equal((await signOn(console, console.stranger())).status, 403)
})

test('the second factor of Footfall is not asked for: the provider is responsible', async (t) => {
  const console = await openSignOn(t)
  const user = await addConnected(console)
  await console.stores.postgres`UPDATE users SET totp_secret = ${Buffer.alloc(60)} WHERE id = ${user.id}`
  const visitor = console.stranger()
  assert.equal((await signOn(console, visitor)).status, 303)
  assert.equal(await emailOf(visitor), user.email)
})

test('the same verified email with another subject is refused, and nothing is changed', async (t) => {
  const console = await openSignOn(t, { joinDomain: 'example.com' })
  const user = await addConnected(console, 'owner')
  const withPassword = await console.addUser('owner')
  for (const email of [user.email, withPassword.email, user.email.toUpperCase()]) {
    console.provider.account = somebody(email)
    const visitor = console.stranger()
    const page = await signOn(console, visitor)
    assert.equal(page.status, 403)
    assert.match(page.text, /sign in with it, and connect single sign-on/)
    assert.ok(!visitor.cookies.has('footfall-session'))
  }
})

test('somebody with a verified email of the domain joins as a viewer without a password', async (t) => {
  const console = await openSignOn(t, { joinDomain: 'example.com' })
  console.provider.account = somebody(`${randomUUID()}@Example.COM`)
  const email = (console.provider.account.email as string).toLowerCase()
  const visitor = console.stranger()
  assert.equal((await signOn(console, visitor)).status, 303)
  assert.ok((await visitor.get('/')).text.includes(console.domain))
  assert.deepEqual(await usersWith(console, email), [
    { role: 'viewer', account: console.accountId, hasPassword: false },
  ])
  assert.deepEqual(await entriesOf(console, email), [
    [email, 'member.joined_by_domain', 'viewer', '127.0.0.0'],
    [email, 'user.signed_on', '', '127.0.0.0'],
  ])
  // The second time it is a known identity.
  assert.equal((await signOn(console, console.stranger())).status, 303)
  assert.equal((await usersWith(console, email)).length, 1)
})

test('the same new person in two browsers at once becomes one user', async (t) => {
  const console = await openSignOn(t, { joinDomain: 'example.com' })
  console.provider.account = somebody()
  const visitors = Array.from({ length: 4 }, () => console.stranger())
  const paths = await Promise.all(visitors.map((visitor) => goThere(console, visitor)))
  const pages = await Promise.all(visitors.map((visitor, index) => visitor.get(paths[index] as string)))
  assert.deepEqual(
    pages.map(({ status }) => status),
    [303, 303, 303, 303],
  )
  assert.equal((await usersWith(console, console.provider.account.email as string)).length, 1)
})

for (const emailInToken of [false, true]) {
  test(`other domains, subdomains and unverified emails cannot join, email in the token: ${emailInToken}`, async (t) => {
    const console = await openSignOn(t, { joinDomain: 'example.com' }, (provider) => {
      provider.emailInToken = emailInToken
    })
    const id = randomUUID()
    const accounts = [
      ...['evil-example.com', 'sub.example.com', 'example.com.evil.net', 'example.co', 'com', 'xexample.com'].map(
        (domain) => somebody(`${id}@${domain}`),
      ),
      somebody(`${id}@evil.net@example.com`),
      somebody(`"${id}@example.com"@evil.net`),
      { ...somebody(`${id}@example.com`), verified: false },
      { subject: randomUUID() },
    ]
    for (const account of accounts) {
      console.provider.account = account
      const visitor = console.stranger()
      const page = await signOn(console, visitor)
      assert.deepEqual([account, page.status], [account, 403])
      assert.ok(!visitor.cookies.has('footfall-session'))
    }
    // What is verified is the word true and nothing else.
    console.provider.account = somebody(`${id}@example.com`)
    if (emailInToken) {
      for (const email_verified of ['true', 1, null, undefined, 'false']) {
        console.provider.lie = (claims) => ({ ...claims, email_verified })
        assert.equal((await signOn(console, console.stranger())).status, 403, `${email_verified}`)
      }
      console.provider.lie = undefined
    }
    assert.equal((await signOn(console, console.stranger())).status, 303)
  })
}

test('without a domain nobody joins without an invitation', async (t) => {
  const console = await openSignOn(t)
  console.provider.account = somebody()
  assert.equal((await signOn(console, console.stranger())).status, 403)
  assert.deepEqual(await usersWith(console, console.provider.account.email as string), [])
})

test('an invitation is accepted with the verified email that was invited', async (t) => {
  const console = await openSignOn(t)
  const account = somebody()
  const token = await console.invite(account.email, 'owner')
  const path = `/invitation/${token}`
  const visitor = console.stranger()
  const [, link = ''] = /href="(\?single-sign-on)"/.exec((await visitor.get(path)).text) ?? []
  const start = path + link

  for (const wrong of [somebody(), { ...account, verified: false }, { subject: randomUUID() }]) {
    console.provider.account = wrong
    const page = await signOn(console, visitor, start)
    assert.equal(page.status, 403)
    assert.match(page.text, /This invitation is for another address/)
  }
  assert.deepEqual(await usersWith(console, account.email), [])
  console.provider.account = account
  assert.equal((await signOn(console, visitor, start)).status, 303)
  assert.equal(await emailOf(visitor), account.email)
  assert.deepEqual(await usersWith(console, account.email), [
    { role: 'owner', account: console.accountId, hasPassword: false },
  ])
  assert.deepEqual(await entriesOf(console, account.email), [
    ['command line', 'member.invited', 'owner', ''],
    [account.email, 'member.joined', 'owner', '127.0.0.0'],
    [account.email, 'user.signed_on', '', '127.0.0.0'],
  ])
  assert.equal((await console.stranger().get(path)).status, 404, 'it works once')
  assert.equal((await console.stranger().get(start)).status, 404, 'and leads nobody to the provider')
  const again = console.stranger()
  await signOn(console, again)
  assert.equal(await emailOf(again), account.email)
})

test('a user who exists is not taken over with an invitation to their address', async (t) => {
  const console = await openSignOn(t)
  const other = await console.addAccount()
  const { email } = await console.addUser('owner', other.accountId)
  const token = await console.invite(email, 'viewer')
  console.provider.account = somebody(email)
  const visitor = console.stranger()
  assert.doesNotMatch((await visitor.get(`/invitation/${token}`)).text, /oidc/)
  const page = await signOn(console, visitor, `/invitation/${token}?single-sign-on`)
  assert.equal(page.status, 403)
  assert.match(page.text, /sign in with it, and connect single sign-on/)
})

test('a known identity with an invitation to another address signs in as itself, and learns that', async (t) => {
  const console = await openSignOn(t)
  const user = await addConnected(console)
  const email = `${randomUUID()}@example.com`
  const token = await console.invite(email, 'owner')
  console.provider.account = { subject: user.subject, email, verified: true }
  const visitor = console.stranger()
  const page = await signOn(console, visitor, `/invitation/${token}?single-sign-on`)
  assert.equal(page.headers.get('location'), `/invitation/${token}`)
  assert.match((await visitor.get(`/invitation/${token}`)).text, /but this invitation is for/)
  assert.equal(await emailOf(visitor), user.email)
})

test('a user without a password is refused like an unknown one, until a link sets a password', async (t) => {
  const console = await openSignOn(t)
  const emails = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`] as const
  const userId = await createUser(console.stores.postgres, emails[0], null)
  const visitor = console.stranger()
  const pages: string[] = []
  for (const email of emails) {
    for (const attempt of ['', 'null', password]) {
      const { status, text } = await visitor.post('/login', '/login', { email, password: attempt })
      assert.equal(status, 401)
      pages.push(text.replaceAll(email, ''))
    }
  }
  assert.equal(new Set(pages).size, 1)

  const path = `/reset/${await createLink(console.stores.postgres, { purpose: 'reset', userId })}`
  await visitor.post(path, path, { 'new-password': password, 'repeated-password': password })
  assert.equal((await visitor.post('/login', '/login', { email: emails[0], password })).status, 303)
})

test('the way back cannot leave the console', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const outside = ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/a\r\nb: c']
  for (const next of outside) {
    const page = await signOn(console, console.stranger(), `/login/oidc?next=${encodeURIComponent(next)}`)
    assert.equal(page.headers.get('location'), '/', next)
  }
  const next = `/sites/${console.domain}?range=7d`
  const visitor = console.stranger()
  const { text } = await visitor.get(`/login?next=${encodeURIComponent(next)}`)
  const [, start = ''] = /href="(\/login\/oidc[^"]*)"/.exec(text) ?? []
  assert.equal((await signOn(console, visitor, start)).headers.get('location'), next)
  const long = await signOn(console, console.stranger(), `/login/oidc?next=/${'x'.repeat(3_000)}`)
  assert.equal(long.headers.get('location'), '/')
})

test('the redirect URI is made from PUBLIC_URL, whatever Host says', async (t) => {
  const { url, provider } = await openSignOn(t)
  const location = await new Promise<string>((resolve, reject) => {
    const headers = {
      Host: 'attacker.example',
      'X-Forwarded-Host': 'attacker.example',
      'X-Forwarded-Proto': 'https',
      Forwarded: 'host=attacker.example',
    }
    const sent = request(`${url}/login/oidc`, { headers }, (response) => resolve(String(response.headers.location)))
    sent.on('error', reject)
    sent.end()
  })
  const address = new URL(location)
  assert.equal(address.origin, provider.settings.issuer)
  assert.equal(address.searchParams.get('redirect_uri'), `${url}/login/oidc/callback`)
  assert.deepEqual(
    ['response_type', 'scope', 'code_challenge_method'].map((name) => address.searchParams.get(name)),
    ['code', 'openid email', 'S256'],
  )
  assert.doesNotMatch(location, /attacker/)
})
