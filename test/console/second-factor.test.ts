import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import decodeQR from 'qr/decode.js'
import type { KeySecrets } from '../../src/accounts/keys.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { secondFactorsBySecret, turnOnSecondFactor, useCode } from '../../src/users/second-factor.ts'
import { createSession } from '../../src/users/sessions.ts'
import { codeAt, newTotpSecret, stepAt, stepOfCode } from '../../src/users/totp.ts'
import { createUser, isEmail } from '../../src/users/users.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole, password, type TestConsole, type Visitor } from './console.ts'

const page = '/account/second-factor'

/** The secret of the examples in RFC 6238, in base32: 12345678901234567890. */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('codes are those of RFC 6238, appendix B', () => {
  for (const [seconds, code] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const) {
    assert.equal(codeAt(rfcSecret, stepAt(seconds * 1000)), code.slice(2))
  }
})

test('a code counts in its own step and in the ones beside it', () => {
  const now = 1_234_567_890_000
  const accepted = [-2, -1, 0, 1, 2].map((away) => stepOfCode(rfcSecret, codeAt(rfcSecret, stepAt(now) + away), now))
  assert.deepEqual(
    accepted.map((step) => step !== undefined && step - stepAt(now)),
    [false, -1, 0, 1, false],
  )
})

/** What a camera sees: the paths of the picture in black, 3 pixels for each module. */
function pixelsOf(page: string) {
  const [, picture = ''] = /<svg class="qr"(.*?)<\/svg>/s.exec(page) ?? []
  const [, size = 0] = (/viewBox="0 0 (\d+) /.exec(picture) ?? []).map(Number)
  const [width, height] = [3 * size, 3 * size]
  const data = new Uint8Array(4 * width * height).fill(255)
  for (const [, column, row] of picture.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let pixel = 0; pixel < 9; pixel++) {
      const at = 4 * (width * (3 * Number(row) + Math.floor(pixel / 3)) + 3 * Number(column) + (pixel % 3))
      data.fill(0, at, at + 3)
    }
  }
  return { width, height, data }
}

test('the picture is the link of an app, for every email that is accepted', async (t) => {
  const { stores, stranger } = await openConsole(t)
  const start = randomUUID()
  for (const email of [
    `${start}@example.com`,
    `${start.padEnd(242, 'a')}@example.com`,
    // Every character becomes nine in the link.
    `${'界'.repeat(216)}${start}@界`,
  ]) {
    assert.ok(isEmail(email) && (email.length === 254 || email.length < 50))
    const visitor = stranger()
    const id = await createUser(stores.postgres, email, null)
    visitor.cookies.set(
      'footfall-session',
      await createSession(stores.postgres, id, { address: '127.0.0.0', browser: 'A test' }),
    )
    const { text } = await visitor.get(page)
    const [, secret] = /name="secret" value="(\w+)"/.exec(text) ?? []
    assert.equal(
      decodeQR(pixelsOf(text)),
      `otpauth://totp/Footfall:${encodeURIComponent(email)}?secret=${secret}&issuer=Footfall`,
    )
  }
})

/** A user whose second factor is on. No code was used yet. */
async function withSecondFactor(console: TestConsole, secrets: KeySecrets = keySecrets) {
  const user = await console.addUser('owner')
  const secret = newTotpSecret()
  const made = { secret, step: 0 }
  const codes = (await turnOnSecondFactor(
    console.stores.postgres,
    undefined,
    secrets,
    commandLine,
    user,
    made,
  )) as string[]
  return { ...user, secret, codes, code: () => codeAt(secret, stepAt(Date.now())) }
}

const givePassword = (visitor: Visitor, email: string) =>
  visitor.post('/login', '/login', { email, password, next: '/account' })
const giveCode = (visitor: Visitor, code: string) => visitor.post('/login', '/login', { code, next: '/account' })
const isSignedIn = async (visitor: Visitor) => (await visitor.get('/')).status === 200

test('password, then code; in between nobody is signed in', async (t) => {
  const console = await openConsole(t)
  const user = await withSecondFactor(console)
  const visitor = console.stranger()
  const half = await givePassword(visitor, user.email)
  assert.equal(half.headers.get('location'), '/login?next=%2Faccount')
  assert.equal(await isSignedIn(visitor), false)
  assert.equal(visitor.cookies.get('footfall-session'), undefined)
  assert.match((await visitor.get('/login?next=%2Faccount')).text, /One more step/)
  // The note is no session, wherever one puts it.
  const thief = console.stranger()
  thief.cookies.set('footfall-session', visitor.cookies.get('footfall-code') as string)
  assert.equal(await isSignedIn(thief), false)

  const wrong = await giveCode(visitor, '000000')
  assert.equal(wrong.status, 401)
  const done = await giveCode(visitor, ` ${user.code().slice(0, 3)} ${user.code().slice(3)}`)
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/account'])
  assert.equal(await isSignedIn(visitor), true)
})

test('a second factor counts for the secret that it needs, until a code is used', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const older = { version: 1_001, secret: randomBytes(32) }
  const secrets: KeySecrets = [...keySecrets, older]
  const user = await withSecondFactor(console, [older])
  const counted = async () => (await secondFactorsBySecret(postgres, secrets)).get(older.version)
  assert.equal(await counted(), 1)
  assert.equal(await useCode(postgres, secrets, { userId: user.id, code: user.code(), now: Date.now() }), 'app')
  assert.equal(await counted(), 0)
})

test('a code works once, one after the other and at the same time', async (t) => {
  const console = await openConsole(t)
  const user = await withSecondFactor(console)
  const visitors = await Promise.all(Array.from({ length: 5 }, async () => console.stranger()))
  for (const visitor of visitors) await givePassword(visitor, user.email)
  const code = user.code()
  const pages = await Promise.all(visitors.map((visitor) => giveCode(visitor, code)))
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 401, 401, 401, 401])
  const replay = console.stranger()
  await givePassword(replay, user.email)
  assert.equal((await giveCode(replay, code)).status, 401)
  // Nor does one of an earlier step, which would still be in time.
  assert.equal((await giveCode(replay, codeAt(user.secret, stepAt(Date.now()) - 1))).status, 401)
})

test('each recovery code works once', async (t) => {
  const console = await openConsole(t)
  const user = await withSecondFactor(console)
  assert.equal(new Set(user.codes).size, 10)
  const [first, second] = user.codes as [string, string]
  const visitors = [console.stranger(), console.stranger()]
  for (const visitor of visitors) await givePassword(visitor, user.email)
  const pages = await Promise.all(visitors.map((visitor) => giveCode(visitor, first)))
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 401])
  const visitor = console.stranger()
  await givePassword(visitor, user.email)
  assert.equal((await giveCode(visitor, second.replaceAll('-', ' ').toUpperCase())).status, 303)
  assert.match((await visitor.get('/account/security')).text, /8 recovery codes are left/)
  assert.match((await visitor.get('/account/audit')).text, /signed in with a recovery code/)
})

test('the note between password and code ends after five minutes, with a new password, and cannot be made up', async (t) => {
  const now = '2027-03-01T12:00:00Z'
  const [console, later] = [await openConsole(t, { now }), await openConsole(t, { now: '2027-03-01T12:05:00Z' })]
  const user = await withSecondFactor(console)
  const code = codeAt(user.secret, stepAt(Date.parse(now)))
  const visitor = console.stranger()
  await givePassword(visitor, user.email)
  const note = visitor.cookies.get('footfall-code') as string
  const late = later.stranger()
  late.cookies.set('footfall-code', note)
  const page = await giveCode(late, codeAt(user.secret, stepAt(Date.parse(now)) + 10))
  assert.equal(page.status, 401)
  assert.match(page.text, /That took too long/)

  const other = await withSecondFactor(console)
  const forger = console.stranger()
  for (const forged of [note.replace(user.id, other.id), note.slice(0, -1), `${note}x`, 'x', '...']) {
    forger.cookies.set('footfall-code', forged)
    assert.equal((await giveCode(forger, codeAt(other.secret, stepAt(Date.parse(now))))).status, 401, forged)
  }
  await console.stores.postgres`UPDATE users SET password_hash = password_hash || 'x' WHERE id = ${user.id}`
  assert.equal((await giveCode(visitor, code)).status, 401)
})

test('wrong codes are limited like passwords', async (t) => {
  const console = await openConsole(t)
  const user = await withSecondFactor(console)
  const visitor = console.stranger()
  await givePassword(visitor, user.email)
  const statuses: number[] = []
  for (let index = 0; index < 11; index++) statuses.push((await giveCode(visitor, 'wrong')).status)
  assert.deepEqual(statuses, [...new Array(10).fill(401), 429])
  assert.equal((await giveCode(visitor, user.code())).status, 429)
})

test('codes work after the secrets were rotated, and no longer without the old one', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const user = await withSecondFactor(console)
  const secret = (version: number) => ({ version, secret: randomBytes(32) })
  const [second, third] = [secret(2), secret(3)]
  const use = (secrets: KeySecrets, step: number) =>
    useCode(postgres, secrets, { userId: user.id, code: codeAt(user.secret, step), now: step * 30_000 })
  assert.equal(await use([second], 100), undefined)
  assert.equal(await use([second, ...keySecrets], 101), 'app')
  // Sealed with the new secret by now.
  assert.equal(await use([third, second], 102), 'app')
  const [row] = await postgres<{ sealed: Buffer }[]>`SELECT totp_secret AS sealed FROM users WHERE id = ${user.id}`
  assert.ok(row && !row.sealed.toString('latin1').includes(user.secret))
  // A row that was copied to another user is worth nothing.
  const other = await console.addUser('viewer')
  await postgres`UPDATE users SET totp_secret = ${row.sealed} WHERE id = ${other.id}`
  const stolen = { userId: other.id, code: codeAt(user.secret, 103), now: 103 * 30_000 }
  assert.equal(await useCode(postgres, [third], stolen), undefined)
})

test('it is turned on with password and code, and off again with both', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('viewer')
  const { text } = await visitor.get(page)
  const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(text) ?? []
  assert.ok(
    text.includes(`otpauth://totp/Footfall:`) && text.includes(`secret=${secret}`) && text.includes('<svg class="qr"'),
  )
  const code = codeAt(secret, stepAt(Date.now()))
  for (const [fields, wrong] of [
    [{ to: 'on', secret, code, password: 'not mine at all' }, /Your password is not right/],
    [{ to: 'on', secret, code: '000000', password }, /This code is not right/],
    [{ to: 'on', secret: 'SHORT', code, password }, /Scan the new picture/],
  ] as const) {
    const refused = await visitor.post(page, page, fields)
    assert.equal(refused.status, 422)
    assert.match(refused.text, wrong)
  }
  const on = await visitor.post(page, page, { to: 'on', secret, code, password })
  const codes = on.text.match(/[a-z2-7]{4}(-[a-z2-7]{4}){3}/g) ?? []
  assert.equal(codes.length, 10)
  // The same form once more neither shows codes again nor turns it off.
  const again = await visitor.post(page, page, { to: 'on', secret, code, password })
  assert.equal(again.headers.get('location'), '/account/security')
  assert.match((await visitor.get('/account/security')).text, /10 recovery codes are left/)

  const half = console.stranger()
  await givePassword(half, visitor.email)
  assert.equal((await giveCode(half, code)).status, 401, 'the code that turned it on is used')
  for (const fields of [
    { to: 'off', code: codes[0] as string, password: 'not mine at all' },
    { to: 'off', code, password },
    { to: 'off', code: 'aaaa-aaaa-aaaa-aaaa', password },
  ]) {
    assert.equal((await visitor.post(page, page, fields)).status, 422)
  }
  const off = await visitor.post(page, page, { to: 'off', code: codes[0] as string, password })
  assert.equal(off.headers.get('location'), '/account/security?done=second-factor-off')
  const left = await console.stores.postgres`SELECT FROM recovery_codes WHERE user_id = ${visitor.userId}`
  assert.equal(left.count, 0)
  assert.equal((await givePassword(console.stranger(), visitor.email)).headers.get('location'), '/account')
})
