// The form for a forgotten password: it tells nobody who has a user, and a request changes nothing (decision D-223).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { commandLine } from '../../src/users/audit-log.ts'
import { addIdentity } from '../../src/users/identities.ts'
import { addMember } from '../../src/users/members.ts'
import { createLink } from '../../src/users/one-time-links.ts'
import { turnOnSecondFactor } from '../../src/users/second-factor.ts'
import { codeAt, stepAt } from '../../src/users/totp.ts'
import { createUser } from '../../src/users/users.ts'
import { eventually } from '../support/eventually.ts'
import { linkIn, type Mail, mailsTo } from '../support/mails.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, openConsole, type Page, password, type TestConsole } from './console.ts'

const path = '/login/forgotten'
const chosen = { 'new-password': 'a new password', 'repeated-password': 'a new password' }

const openWithMail = (t: TestContext) => openConsole(t, { sendsMail: true })

const ask = ({ stranger }: TestConsole, email: string, headers?: Record<string, string>): Promise<Page> =>
  stranger().post(path, path, { email }, headers)

const mailsOf = ({ stores }: TestConsole, email: string, count: number): Promise<Mail[]> =>
  eventually(async () => {
    const mails = await mailsTo(stores.postgres, email)
    assert.equal(mails.length, count)
    return mails
  })

/** Requests are worked off in their order, so the mail of the last one comes after all others. */
async function untilAllAreDone(console: TestConsole): Promise<void> {
  const { email } = await console.addUser('viewer')
  await ask(console, email)
  await mailsOf(console, email, 1)
}

test('the link of the mail sets a new password', async (t) => {
  const console = await openWithMail(t)
  const user = await console.addUser('viewer')
  const page = await ask(console, ` ${user.email.toUpperCase()} `, { 'X-Forwarded-For': '203.0.113.7' })
  assert.equal(page.status, 200)
  const [mail] = (await mailsOf(console, user.email, 1)) as [Mail]
  assert.deepEqual([mail.kind, mail.accountId, mail.expiresAfterHours], ['reset', console.accountId, 24])
  assert.ok(mail.text.includes(user.email) && mail.html.includes(user.email))
  const link = linkIn(mail)
  assert.match(link, new RegExp(`^${console.url}/reset/[\\w-]{43}$`))
  assert.ok(mail.html.includes(`href="${link}"`))
  const { pathname } = new URL(link)
  const visitor = console.stranger()
  assert.equal((await visitor.post(pathname, pathname, chosen)).status, 303)
  const signIn = { email: user.email, password: chosen['new-password'] }
  assert.equal((await visitor.post('/login', '/login', signIn)).headers.get('location'), '/')
  assert.deepEqual((await entriesOf(console, user.email)).slice(0, 2), [
    ['somebody', 'user.reset_requested', '', '203.0.113.0'],
    [user.email, 'user.password_reset', '', '127.0.0.0'],
  ])
})

test('every address gets the same answer, whether somebody has it or not', async (t) => {
  const console = await openWithMail(t)
  const known = (await console.addUser('owner')).email
  const without = await singleSignOnUser(console)
  const unknown = `${randomUUID()}@example.com`
  const pages = new Map<string, unknown>()
  for (const email of [known, without, unknown]) {
    const { status, headers, text } = await ask(console, email)
    const names = [...headers.keys()].filter((name) => name !== 'date')
    const shown = [status, names, headers.get('content-length') === null, text.replaceAll(email, '<address>')]
    pages.set(email, shown)
  }
  assert.deepEqual(pages.get(known), pages.get(unknown))
  assert.deepEqual(pages.get(without), pages.get(unknown))
  await mailsOf(console, known, 1)
  await untilAllAreDone(console)
  assert.deepEqual(await mailsTo(console.stores.postgres, unknown), [])
})

async function singleSignOnUser({ stores: { postgres }, accountId }: TestConsole): Promise<string> {
  const email = `${randomUUID()}@example.com`
  const id = await createUser(postgres, email, null)
  await addMember(postgres, accountId, id, 'viewer')
  return email
}

test('somebody with single sign-on only gets a mail that says so, without a link', async (t) => {
  const console = await openWithMail(t)
  const email = await singleSignOnUser(console)
  await ask(console, email)
  const [mail] = (await mailsOf(console, email, 1)) as [Mail]
  assert.match(mail.text, /you sign in with single sign-on/)
  assert.doesNotMatch(mail.text + mail.html, /reset\/|<a /)
  const links = await console.stores.postgres`
    SELECT FROM one_time_links JOIN users ON users.id = user_id WHERE users.email = ${email}`
  assert.equal(links.count, 0)
})

test('a request changes nothing: sessions, single sign-on, second factor, password and earlier links stay', async (t) => {
  const console = await openWithMail(t)
  const { postgres } = console.stores
  const visitor = await console.signedIn('viewer')
  const user = { id: visitor.userId, email: visitor.email }
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  await turnOnSecondFactor(postgres, undefined, keySecrets, commandLine, user, { secret, step: 0 })
  await addIdentity(postgres, user.id, { issuer: 'https://id.example/', subject: user.id }, undefined)
  const ofOperator = await createLink(postgres, { purpose: 'reset', userId: user.id })
  const stateOf = async () => [
    ...(await postgres`SELECT password_hash, totp_secret, signed_in_at FROM users WHERE id = ${user.id}`),
    ...(await postgres`SELECT id FROM user_sessions WHERE user_id = ${user.id} ORDER BY id`),
    ...(await postgres`SELECT subject FROM user_identities WHERE user_id = ${user.id}`),
    ...(await postgres`SELECT hash FROM recovery_codes WHERE user_id = ${user.id} ORDER BY hash`),
  ]
  const before = await stateOf()
  await ask(console, user.email)
  await ask(console, user.email)
  const [first, second] = (await mailsOf(console, user.email, 2)) as [Mail, Mail]
  assert.deepEqual(await stateOf(), before)
  const links = [`/reset/${ofOperator}`, ...[first, second].map((mail) => new URL(linkIn(mail)).pathname)]
  for (const link of links) assert.equal((await console.stranger().get(link)).status, 200)

  // Using one of them ends sessions, single sign-on and the other links, but not the second factor.
  assert.equal((await console.stranger().post(links[1] as string, links[1] as string, chosen)).status, 303)
  for (const link of links) assert.equal((await console.stranger().get(link)).status, 404)
  assert.equal((await visitor.get('/account/security')).status, 303)
  assert.equal((await postgres`SELECT FROM user_identities WHERE user_id = ${user.id}`).count, 0)
  const phone = console.stranger()
  const signIn = { email: user.email, password: chosen['new-password'] }
  assert.equal((await phone.post('/login', '/login', signIn)).headers.get('location'), '/login?next=%2F')
  const code = codeAt(secret, stepAt(Date.now()))
  assert.equal((await phone.post('/login', '/login', { code })).headers.get('location'), '/')
})

test('changing the password ends links that wait in a mailbox', async (t) => {
  const console = await openWithMail(t)
  const visitor = await console.signedIn('viewer')
  await ask(console, visitor.email)
  const [mail] = (await mailsOf(console, visitor.email, 1)) as [Mail]
  await visitor.post('/account/security', '/account/password', { password, ...chosen })
  assert.equal((await console.stranger().get(new URL(linkIn(mail)).pathname)).status, 404)
})

test('an address gets three mails an hour, and its log three entries', async (t) => {
  const console = await openWithMail(t)
  const { email } = await console.addUser('viewer')
  for (let index = 0; index < 5; index++) assert.equal((await ask(console, email)).status, 200)
  await untilAllAreDone(console)
  assert.equal((await mailsTo(console.stores.postgres, email)).length, 3)
  assert.equal((await entriesOf(console, email)).length, 3)
})

test('a network may ask 20 times an hour, for whatever address', async (t) => {
  const console = await openWithMail(t)
  const visitor = console.stranger()
  const { text } = await visitor.get(path)
  const [, token = ''] = /name="token" value="([^"]*)"/.exec(text) ?? []
  const statuses: number[] = []
  for (let index = 0; index < 22; index++) {
    const fields = { token, email: `${randomUUID()}@example.com` }
    statuses.push((await visitor.post(path, path, fields, { 'X-Forwarded-For': '203.0.113.7' })).status)
  }
  assert.deepEqual([statuses.indexOf(429), statuses.at(-1)], [20, 429])
  const elsewhere = { 'X-Forwarded-For': '198.51.100.7' }
  assert.equal((await ask(console, 'maria@example.com', elsewhere)).status, 200)
})

test('what is no address is refused, and shown as text', async (t) => {
  const console = await openWithMail(t)
  const { status, text } = await ask(console, '<b>nobody</b>')
  assert.equal(status, 422)
  assert.doesNotMatch(text, /<b>nobody/)
})

test('without a mail server there is no form, and the sign-in page says what to do', async (t) => {
  const console = await openConsole(t)
  const visitor = console.stranger()
  assert.match((await visitor.get('/login')).text, /footfall user reset/)
  assert.equal((await visitor.get(path)).status, 404)
  assert.equal((await visitor.post('/login', path, { email: 'maria@example.com' })).status, 404)
  const withMail = await openWithMail(t)
  assert.match((await withMail.stranger().get('/login')).text, /href="\/login\/forgotten"/)
  assert.match((await withMail.stranger().get(path)).text, /Forgotten your password\?/)
})
