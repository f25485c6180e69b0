// Mail that changes of members and sign-ins cause: invitations, new browsers, the second factor (decision D-224).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { commandLine } from '../../src/users/audit-log.ts'
import { createLink } from '../../src/users/one-time-links.ts'
import { createResetLink } from '../../src/users/password-changes.ts'
import { turnOnSecondFactor } from '../../src/users/second-factor.ts'
import { createSetupLink } from '../../src/users/setup.ts'
import { codeAt, stepAt } from '../../src/users/totp.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { linkIn, type Mail, mailsTo } from '../support/mails.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole, password, type TestConsole, type Visitor } from './console.ts'
import { addConnected, openSignOn, signOn, somebody } from './single-sign-on.ts'

const members = '/account/members'
const chosen = { 'new-password': 'a new password', 'repeated-password': 'a new password' }
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const firefox = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'X-Forwarded-For': '203.0.113.7',
}

const openWithMail = (t: TestContext) => openConsole(t, { sendsMail: true })
const newAddress = () => `${randomUUID()}@example.com`
const invite = (owner: Visitor, email: string, role = 'viewer') =>
  owner.post(members, '/account/members/invite', { email, role })
const signIn = (visitor: Visitor, email: string) => visitor.post('/login', '/login', { email, password }, firefox)

async function subjectsTo({ stores }: TestConsole, email: string): Promise<string[]> {
  return (await mailsTo(stores.postgres, email)).map(({ subject }) => subject)
}

test('an invitation is mailed with its link, which the page shows, too', async (t) => {
  const console = await openWithMail(t)
  const owner = await console.signedIn('owner')
  const email = newAddress()
  const page = await invite(owner, email, 'owner')
  assert.match(page.text, new RegExp(`A mail with this link is on its way to ${email}`))
  const [mail, ...more] = (await mailsTo(console.stores.postgres, email)) as [Mail]
  assert.deepEqual(
    [mail.kind, mail.accountId, mail.expiresAfterHours, more],
    ['invitation', console.accountId, 7 * 24, []],
  )
  assert.equal(mail.subject, 'Invitation to A test')
  assert.match(mail.text, new RegExp(`^${owner.email} invites you .* As an owner you can change everything`, 'm'))
  const link = linkIn(mail)
  assert.match(link, new RegExp(`^${console.url}/invitation/[\\w-]{43}$`))
  assert.ok(page.text.includes(link) && mail.html.includes(`href="${link}"`))

  // Whoever accepts it gets no mail about the sign-in.
  const guest = console.stranger()
  assert.equal((await guest.post(new URL(link).pathname, new URL(link).pathname, chosen)).headers.get('location'), '/')
  assert.deepEqual(await subjectsTo(console, email), ['Invitation to A test'])
})

test('an address gets three invitations an hour; the page shows further links, and says that they are not mailed', async (t) => {
  const console = await openWithMail(t)
  const owner = await console.signedIn('owner')
  const email = newAddress()
  for (let index = 0; index < 3; index++) assert.match((await invite(owner, email)).text, /is on its way/)
  const { text } = await invite(owner, email)
  assert.doesNotMatch(text, /is on its way/)
  assert.match(text, /It is not sent by mail: there were too many invitations in the last hour/)
  assert.match(text, /\/invitation\/[\w-]{43}/)
  assert.equal((await mailsTo(console.stores.postgres, email)).length, 3)
})

test('an invitation that is refused is not mailed', async (t) => {
  const console = await openWithMail(t)
  const owner = await console.signedIn('owner')
  const { email } = await console.addUser('viewer')
  assert.equal((await invite(owner, email)).status, 422)
  assert.deepEqual(await subjectsTo(console, email), [])
})

test('without a mail server nothing is queued, and pages say so', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  assert.match((await owner.get(members)).text, /Footfall sends no mail, because no mail server is set up/)
  assert.match((await owner.get('/account/security')).text, /sends no mail about new browsers/)
  const email = newAddress()
  const { text } = await invite(owner, email)
  assert.match(text, /Pass this link on to/)
  assert.doesNotMatch(text, /too many invitations|is on its way/)
  await signIn(console.stranger(), owner.email)
  assert.deepEqual([await subjectsTo(console, email), await subjectsTo(console, owner.email)], [[], []])
  const withMail = await openWithMail(t)
  const other = await withMail.signedIn('owner')
  assert.match((await other.get(members)).text, /They get a mail with a link/)
  assert.match((await other.get('/account/security')).text, /announced by mail to/)
})

test('neither lines nor HTML in the name of an account get out of their place', async (t) => {
  const console = await openWithMail(t)
  const { postgres } = console.stores
  const name = 'Shop\r\nBcc: all@example.com\u2028<img src=x onerror=alert(1)>'
  await postgres`UPDATE accounts SET name = ${name} WHERE id = ${console.accountId}`
  const email = newAddress()
  await invite(await console.signedIn('owner'), email)
  const [mail] = (await mailsTo(postgres, email)) as [Mail]
  assert.equal(mail.subject, 'Invitation to Shop Bcc: all@example.com <img src=x onerror=alert(1)>')
  assert.doesNotMatch(mail.text, /\r|\u2028|^Bcc/m)
  assert.doesNotMatch(mail.html, /<img/)
})

test('links come from PUBLIC_URL, whatever the request says', async (t) => {
  const console = await openWithMail(t)
  const owner = await console.signedIn('owner')
  const email = newAddress()
  const forged = {
    'X-Forwarded-Host': 'attacker.example',
    'X-Forwarded-Proto': 'https',
    Forwarded: 'host=attacker.example',
  }
  await owner.post(members, '/account/members/invite', { email, role: 'viewer' }, forged)
  const [mail] = (await mailsTo(console.stores.postgres, email)) as [Mail]
  assert.ok(linkIn(mail).startsWith(`${console.url}/invitation/`))
  assert.doesNotMatch(mail.text + mail.html, /attacker/)
})

test('a browser in which the user has not signed in before is announced, and only once', async (t) => {
  const console = await openWithMail(t)
  const { email } = await console.addUser('viewer')
  const visitor = console.stranger()
  assert.equal((await signIn(visitor, email)).status, 303)
  const [mail] = (await mailsTo(console.stores.postgres, email)) as [Mail]
  assert.deepEqual([mail.kind, mail.accountId], ['new sign-in', null])
  assert.equal(mail.subject, 'New sign-in to Footfall with Firefox on Linux')
  assert.match(mail.text, /When: \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Browser: Firefox on Linux\. Network: 203\.0\.113\.0\./)
  assert.ok(mail.text.includes(`${console.url}/login/forgotten`))
  assert.equal(linkIn(mail), `${console.url}/account/security`)
  assert.doesNotMatch(mail.text + mail.html, /203\.0\.113\.7/)

  // The cookie stays when the session ends.
  for (let index = 0; index < 2; index++) {
    await visitor.post('/account', '/logout')
    assert.equal((await signIn(visitor, email)).status, 303)
  }
  assert.equal((await mailsTo(console.stores.postgres, email)).length, 1)

  // The cookie of one user makes the browser known to nobody else.
  const other = await console.addUser('viewer')
  await visitor.post('/account', '/logout')
  assert.equal((await signIn(visitor, other.email)).status, 303)
  assert.equal((await mailsTo(console.stores.postgres, other.email)).length, 1)
})

test('a wrong password and a missing code announce nothing; a code and a recovery code do', async (t) => {
  const console = await openWithMail(t)
  const { postgres } = console.stores
  const user = await console.addUser('viewer')
  const made = { secret, step: 0 }
  const codes = (await turnOnSecondFactor(postgres, undefined, keySecrets, commandLine, user, made)) as string[]
  const visitor = console.stranger()
  await visitor.post('/login', '/login', { email: user.email, password: 'a wrong password' })
  await signIn(visitor, user.email)
  await visitor.post('/login', '/login', { code: '000000' })
  assert.deepEqual(await subjectsTo(console, user.email), [])
  assert.equal((await visitor.post('/login', '/login', { code: codeAt(secret, stepAt(Date.now())) })).status, 303)
  assert.equal((await subjectsTo(console, user.email)).length, 1)
  const other = console.stranger()
  await signIn(other, user.email)
  assert.equal((await other.post('/login', '/login', { code: codes[0] as string })).status, 303)
  const [, mail] = (await mailsTo(postgres, user.email)) as [Mail, Mail]
  assert.match(mail.text, /with a recovery code/)
})

test('a one-time link announces a new browser', async (t) => {
  const console = await openWithMail(t)
  const { postgres } = console.stores
  const { id, email } = await console.addUser('viewer')
  const visitor = console.stranger()
  for (let index = 0; index < 2; index++) {
    const path = `/sign-in/${await createLink(postgres, { purpose: 'sign-in', userId: id })}`
    assert.equal((await visitor.post(path, path)).status, 303)
  }
  const [mail, ...more] = (await mailsTo(postgres, email)) as [Mail]
  assert.match(mail.text, /with a one-time link/)
  assert.deepEqual(more, [])
})

test('single sign-on announces a new browser, but not a new person', async (t) => {
  const console = await openSignOn(t, { sendsMail: true, joinDomain: 'joins.example' })
  const { postgres } = console.stores
  const { email } = await addConnected(console)
  const visitor = console.stranger()
  for (let index = 0; index < 2; index++) assert.equal((await signOn(console, visitor)).status, 303)
  const [mail, ...more] = (await mailsTo(postgres, email)) as [Mail]
  assert.match(mail.text, /with single sign-on/)
  assert.deepEqual(more, [])
  const joining = somebody(`${randomUUID()}@joins.example`)
  console.provider.account = joining
  assert.equal((await signOn(console, console.stranger())).status, 303)
  assert.deepEqual(await subjectsTo(console, joining.email), [])
})

test('the first owner gets no mail about the sign-in, but the link by mail', async (t) => {
  const stores = await freshStores((end) => t.after(end))
  const console = await openConsole(t, { stores, sendsMail: true })
  const outbox = { secrets: keySecrets, publicUrl: console.url }
  const invited = { by: commandLine, email: 'first@example.com', accountId: console.accountId }
  await createSetupLink(stores.postgres, outbox, invited)
  const [mail] = (await mailsTo(stores.postgres, 'first@example.com')) as [Mail]
  assert.deepEqual([mail.kind, mail.expiresAfterHours], ['invitation', 24])
  const { pathname } = new URL(linkIn(mail))
  const visitor = console.stranger()
  assert.equal((await visitor.post(pathname, pathname, { email: 'first@example.com', ...chosen })).status, 303)
  assert.deepEqual(await subjectsTo(console, 'first@example.com'), ['Set up Footfall'])
})

test('whoever sets up the installation as a user who is left tells this user that the second factor is off', async (t) => {
  const stores = await freshStores((end) => t.after(end))
  const console = await openConsole(t, { stores, sendsMail: true })
  const { postgres } = stores
  const left = await console.addUser('owner')
  await turnOnSecondFactor(postgres, undefined, keySecrets, commandLine, left, { secret, step: 0 })
  await postgres`DELETE FROM members`
  const path = `/setup/${await createSetupLink(postgres, undefined)}`
  const visitor = console.stranger()
  assert.equal((await visitor.post(path, path, { email: left.email, ...chosen }, firefox)).status, 303)
  const [mail, ...more] = (await mailsTo(postgres, left.email)) as [Mail]
  assert.deepEqual([mail.subject, more], ['Your second factor for Footfall is off', []])
  assert.match(mail.text, /UTC\. Network: 203\.0\.113\.0\./)
})

test('notices of sign-ins end after ten in an hour', async (t) => {
  const console = await openWithMail(t)
  const { email } = await console.addUser('viewer')
  for (let index = 0; index < 12; index++) assert.equal((await signIn(console.stranger(), email)).status, 303)
  assert.equal((await mailsTo(console.stores.postgres, email)).length, 10)
})

test('the second factor that is turned on or off is announced', async (t) => {
  const console = await openWithMail(t)
  const { postgres } = console.stores
  const visitor = await console.signedIn('viewer')
  const path = '/account/second-factor'
  const change = (to: 'on' | 'off', code: string) =>
    visitor.post(path, path, { to, secret, code, password }, { 'X-Forwarded-For': '203.0.113.7' })
  await change('on', 'not a code')
  assert.deepEqual(await subjectsTo(console, visitor.email), [])
  const { text } = await change('on', codeAt(secret, stepAt(Date.now())))
  const recovery = /<pre[^>]*>([\w-]+)/.exec(text)?.[1] as string
  await change('off', recovery)
  const subjects = ['Your second factor for Footfall is on', 'Your second factor for Footfall is off']
  assert.deepEqual(await subjectsTo(console, visitor.email), subjects)
  const [on] = (await mailsTo(postgres, visitor.email)) as [Mail]
  assert.deepEqual([on.kind, on.accountId], ['second factor', null])
  assert.match(on.text, /UTC\. Network: 203\.0\.113\.0\./)
})

test('an operator who turns it off is named; a second factor that was off is not announced', async (t) => {
  const console = await openWithMail(t)
  const { postgres } = console.stores
  const user = await console.addUser('viewer')
  const outbox = { secrets: keySecrets, publicUrl: console.url }
  await createResetLink(postgres, outbox, commandLine, user, { losesSecondFactor: true })
  assert.deepEqual(await subjectsTo(console, user.email), [])
  await turnOnSecondFactor(postgres, undefined, keySecrets, commandLine, user, { secret, step: 0 })
  await createResetLink(postgres, outbox, commandLine, user, { losesSecondFactor: true })
  const [mail, ...more] = (await mailsTo(postgres, user.email)) as [Mail]
  assert.deepEqual([mail.subject, more], ['Your second factor for Footfall is off', []])
  assert.match(mail.text, /Whoever runs this Footfall did it/)
})
