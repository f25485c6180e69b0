import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { test } from 'node:test'
import { formTokenOf } from '../../src/console/forms/forms.ts'
import { addMember } from '../../src/users/members.ts'
import { openConsole, password, type TestConsole, type Visitor } from './console.ts'

const page = '/account/members'

const rolesIn = async ({ stores }: TestConsole, accountId: string) =>
  Object.fromEntries(
    (
      await stores.postgres<{ user_id: string; role: string }[]>`
        SELECT user_id, role FROM members WHERE account_id = ${accountId}`
    ).map(({ user_id, role }) => [user_id, role]),
  )

const isSignedIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/')).status === 200

test('an owner invites a viewer with a link that is shown once, and can revoke it', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const email = `${randomUUID()}@example.com`
  const made = await owner.post(page, '/account/members/invite', { email: email.toUpperCase(), role: 'viewer' })
  const [link = ''] = made.text.match(/http[^<"]*\/invitation\/[\w-]{43}/) ?? []
  assert.ok(link.startsWith(`${console.url}/invitation/`), link)
  const path = link.slice(console.url.length)
  assert.equal((await console.stranger().get(path)).status, 200)
  const list = await owner.get(page)
  assert.ok(list.text.includes(email) && !list.text.includes('/invitation/'))
  assert.match(list.text, />in 7 days<\/time>/)

  const [, id = ''] = /name="invitation" value="(link_\w+)"/.exec(list.text) ?? []
  const viewer = await console.signedIn('viewer')
  assert.equal((await viewer.post(page, '/account/invitations/revoke', { invitation: id })).status, 403)
  const revoked = await owner.post(page, '/account/invitations/revoke', { invitation: id })
  assert.equal(revoked.headers.get('location'), `${page}?done=revoked`)
  assert.equal((await console.stranger().get(path)).status, 404)
  const entries = await console.stores.postgres`
    SELECT action, actor, subject, details FROM audit_log WHERE subject = ${email} ORDER BY id`
  assert.deepEqual(
    [...entries],
    [
      { action: 'member.invited', actor: owner.email, subject: email, details: 'viewer' },
      { action: 'member.invitation_revoked', actor: owner.email, subject: email, details: '' },
    ],
  )
})

test('the link of an invitation is made from PUBLIC_URL, whatever Host says', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const cookie = owner.cookies.get('footfall-session') as string
  const fields = { token: formTokenOf(cookie), email: 'host@example.com', role: 'viewer' }
  const text = await new Promise<string>((resolve, reject) => {
    const headers = {
      Host: 'attacker.example',
      'X-Forwarded-Host': 'attacker.example',
      Forwarded: 'host=attacker.example',
      Origin: console.url,
      Cookie: `footfall-session=${cookie}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    }
    request(`${console.url}/account/members/invite`, { method: 'POST', headers }, async (response) => {
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      resolve(body)
    })
      .on('error', reject)
      .end(new URLSearchParams(fields).toString())
  })
  assert.match(text, new RegExp(`${console.url}/invitation/[\\w-]{43}`))
  assert.doesNotMatch(text, /attacker/)
})

test('a removed member is signed out everywhere, and is gone without another account', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const [leaving, elsewhere] = [await console.signedIn('viewer'), await console.signedIn('owner')]
  const other = await console.addAccount()
  await addMember(console.stores.postgres, other.accountId, elsewhere.userId, 'viewer')
  for (const { userId } of [leaving, elsewhere]) {
    const { status } = await owner.post(page, '/account/members/remove', { member: userId })
    assert.equal(status, 303)
  }
  assert.deepEqual(await Promise.all([leaving, elsewhere, owner].map(isSignedIn)), [false, false, true])
  const signIn = (email: string) => console.stranger().post('/login', '/login', { email, password })
  assert.equal((await signIn(leaving.email)).status, 401)
  assert.equal((await signIn(elsewhere.email)).status, 303)
})

test('a role applies at once', async (t) => {
  const console = await openConsole(t)
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  assert.equal((await viewer.get('/account/audit')).status, 403)
  await owner.post(page, '/account/members/role', { member: viewer.userId, role: 'owner' })
  assert.equal((await viewer.get('/account/audit')).status, 200)
  await owner.post(page, '/account/members/role', { member: viewer.userId, role: 'viewer' })
  assert.equal((await viewer.get('/account/audit')).status, 403)
  assert.equal((await owner.post(page, '/account/members/role', { member: viewer.userId, role: 'king' })).status, 422)
})

test('the last owner can be neither removed nor made a viewer', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  await console.addUser('viewer')
  for (const [action, fields] of [
    ['/account/members/remove', {}],
    ['/account/members/role', { role: 'viewer' }],
  ] as const) {
    const refused = await owner.post(page, action, { member: owner.userId, ...fields })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /An account needs an owner/)
  }
  assert.equal((await rolesIn(console, console.accountId))[owner.userId], 'owner')
  assert.equal(await isSignedIn(owner), true)
})

test('owners who remove or demote each other at the same time leave one', async (t) => {
  const console = await openConsole(t)
  for (const action of ['/account/members/remove', '/account/members/role']) {
    const { accountId } = await console.addAccount()
    const owners = await Promise.all(Array.from({ length: 4 }, () => console.signedIn('owner', accountId)))
    await Promise.all(
      owners.map((owner, index) =>
        owner.post(page, action, { member: owners[(index + 1) % 4]?.userId as string, role: 'viewer' }),
      ),
    )
    const left = Object.values(await rolesIn(console, accountId)).filter((role) => role === 'owner')
    assert.ok(left.length >= 1, action)
  }
})

test('viewers see who belongs to the account, but neither invitations nor forms', async (t) => {
  const console = await openConsole(t)
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  await owner.post(page, '/account/members/invite', { email: 'pending@example.com', role: 'viewer' })
  const { text } = await viewer.get(page)
  assert.ok(text.includes(owner.email) && text.includes(viewer.email))
  assert.ok(!text.includes('pending@example.com') && !text.includes('/account/members/'))
  assert.ok(!text.includes('/account/audit'))
})

test('only owners see who has no second factor', async (t) => {
  const console = await openConsole(t)
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const { postgres } = console.stores
  const seenBy = async (visitor: Visitor) => (await visitor.get(page)).text.replaceAll(/<time [^>]*>/g, '')
  const [byOwner, byViewer] = [await seenBy(owner), await seenBy(viewer)]
  assert.match(byOwner, /Second factor[\s\S]*<td class="hide">off</)
  await postgres`UPDATE users SET totp_secret = ${Buffer.alloc(60)} WHERE id IN (${owner.userId}, ${viewer.userId})`
  assert.match(await seenBy(owner), /Second factor[\s\S]*<td class="hide">on</)
  assert.equal(await seenBy(viewer), byViewer)
  assert.doesNotMatch(byViewer, /Second factor/)
})

test('mistakes keep what was typed, and a member is not invited again', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const mistyped = await owner.post(page, '/account/members/invite', { email: 'maria', role: 'owner' })
  assert.equal(mistyped.status, 422)
  assert.match(mistyped.text, /This is not an email address[\s\S]*value="maria"[\s\S]*<option value="owner" selected/)
  const again = await owner.post(page, '/account/members/invite', { email: owner.email, role: 'viewer' })
  assert.match(again.text, /is a member already/)
})

test('somebody with several accounts chooses one by ?account=, also for forms', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const other = await console.addAccount('Free')
  await addMember(console.stores.postgres, other.accountId, owner.userId, 'owner')
  const first = await owner.get('/account')
  assert.ok(first.text.includes('5,000 API requests') && first.text.includes(`/account?account=${other.accountId}`))
  const second = await owner.get(`/account?account=${other.accountId}`)
  assert.match(second.text, /Another test[\s\S]*no access to the API/)
  const list = await owner.get(`${page}?account=${other.accountId}`)
  assert.ok(list.text.includes(`name="account" value="${other.accountId}"`))
  const fields = { account: other.accountId, email: 'two@example.com', role: 'viewer' }
  await owner.post(`${page}?account=${other.accountId}`, '/account/members/invite', fields)
  const [link] = await console.stores.postgres`SELECT account_id FROM one_time_links WHERE email = 'two@example.com'`
  assert.equal(link?.account_id, other.accountId)
})

test('the theme is a cookie that applies to every page', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('viewer')
  for (const theme of ['dark', 'light']) {
    await visitor.post('/account', '/account/theme', { theme })
    assert.match((await visitor.get('/')).text, new RegExp(`<html lang="en" data-theme="${theme}">`))
  }
  await visitor.post('/account', '/account/theme', { theme: 'system' })
  assert.match((await visitor.get('/')).text, /<html lang="en">/)
})
