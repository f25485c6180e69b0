import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createAttempts } from '../../src/users/attempts.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole, password, type TestConsole, type Visitor } from './console.ts'

const from = (address: string) => ({ 'X-Forwarded-For': address })

const wrong = (visitor: Visitor, email: string, address = '192.0.2.1') =>
  visitor.post('/login', '/login', { email, password: 'a wrong password' }, from(address))

const right = (visitor: Visitor, email: string, address = '192.0.2.1') =>
  visitor.post('/login', '/login', { email, password }, from(address))

const statusesOf = async (count: number, send: (index: number) => ReturnType<Visitor['post']>) => {
  const statuses: number[] = []
  for (let index = 0; index < count; index++) statuses.push((await send(index)).status)
  return statuses
}

test('ten wrong passwords for one user from one address, then not even the right one', async (t) => {
  const console = await openConsole(t)
  const [{ email }, other] = [await console.addUser('owner'), await console.addUser('owner')]
  const attacker = console.stranger()
  assert.deepEqual(await statusesOf(11, () => wrong(attacker, email)), [...new Array(10).fill(401), 429])
  const refused = await right(attacker, email)
  assert.equal(refused.status, 429)
  assert.match(refused.text, /Too many attempts/)
  const seconds = Number(refused.headers.get('retry-after'))
  assert.ok(seconds > 0 && seconds <= 90, `${seconds}`)
  // Neither the rest of the world nor other users are affected.
  assert.equal((await right(console.stranger(), email, '198.51.100.7')).status, 303)
  assert.equal((await right(console.stranger(), other.email)).status, 303)
})

test('addresses that nobody has are limited and answered like the others', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  const visitor = console.stranger()
  const unknown = `${randomUUID()}@example.com`
  const known = await wrong(visitor, email)
  const answers = await statusesOf(11, () => wrong(visitor, unknown))
  assert.deepEqual(answers, [...new Array(10).fill(401), 429])
  const page = await wrong(visitor, `x${randomUUID()}@example.com`)
  const plain = (text: string, address: string) => text.replaceAll(address, '')
  const [, shown = ''] = /name="email"[^>]*value="([^"]*)"/.exec(page.text) ?? []
  assert.equal(plain(page.text, shown), plain(known.text, email))
})

test('right passwords do not count', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  const visitor = console.stranger()
  assert.deepEqual(
    await statusesOf(12, async () => {
      visitor.cookies.clear()
      return right(visitor, email)
    }),
    new Array(12).fill(303),
  )
})

test('one address may not try many users', async (t) => {
  const console = await openConsole(t)
  const attacker = console.stranger()
  // 100 in 15 minutes; a few come back while the test runs.
  const statuses = await statusesOf(115, (index) =>
    wrong(attacker, `${index}-${randomUUID()}@example.com`, '203.0.113.9'),
  )
  assert.deepEqual(statuses.slice(0, 100), new Array(100).fill(401))
  assert.equal(statuses.at(-1), 429)
  const { email } = await console.addUser('owner')
  assert.equal((await right(console.stranger(), email, '203.0.113.10')).status, 303)
})

test('an IPv6 network of one sender counts as one address', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  const attacker = console.stranger()
  const statuses = await statusesOf(11, (index) => wrong(attacker, email, `2001:db8:1:2::${index + 1}`))
  assert.deepEqual(statuses, [...new Array(10).fill(401), 429])
})

test('an attack from many addresses on one user ends at a limit, and does not lock out a browser of the user', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  const own = console.stranger()
  await right(own, email, '192.0.2.200')
  await own.post('/account', '/logout')

  const statuses = await statusesOf(105, (index) => wrong(console.stranger(), email, `10.1.${index}.1`))
  assert.deepEqual(statuses.slice(0, 100), new Array(100).fill(401))
  assert.equal(statuses.at(-1), 429)
  assert.equal((await right(console.stranger(), email, '10.9.9.9')).status, 429)
  assert.equal((await right(own, email, '10.8.8.8')).status, 303)

  // The cookie of the browser is worth nothing for another user, and none that is made up is worth anything.
  const other = await console.addUser('owner')
  const attacker = console.stranger()
  for (const cookie of [(await cookieFor(console, other.email)) as string, 'browser_aaaaaaaaaaaaaaaa.x', 'x', '.']) {
    attacker.cookies.set('footfall-browser', cookie)
    assert.equal((await right(attacker, email, '10.7.7.7')).status, 429, cookie)
  }
})

async function cookieFor(console: TestConsole, email: string): Promise<string | undefined> {
  const visitor = console.stranger()
  await right(visitor, email, '192.0.2.99')
  return visitor.cookies.get('footfall-browser')
}

test('the limits refill steadily', () => {
  let now = 0
  const attempts = createAttempts(keySecrets, () => now)
  const sender = { clientAddress: '192.0.2.1', browserCookie: undefined }
  const attempt = () => attempts.begin('password', 'a@example.com', sender).waitSeconds
  for (let index = 0; index < 10; index++) assert.equal(attempt(), 0)
  assert.equal(attempt(), 90)
  now += 89_000
  assert.equal(attempt(), 1)
  now += 1_001
  assert.equal(attempt(), 0)
  assert.equal(attempt(), 90)
  now += 15 * 60_000
  for (let index = 0; index < 10; index++) assert.equal(attempt(), 0)
})

test('when too many passwords wait, more are refused at once and told when to come again', async (t) => {
  const console = await openConsole(t, { passwords: createPasswords() })
  const people = await Promise.all(Array.from({ length: 60 }, () => console.addUser('viewer')))
  const visitors = people.map(() => console.stranger())
  await Promise.all(visitors.map((visitor) => visitor.get('/login')))
  const pages = await Promise.all(
    visitors.map((visitor, index) => right(visitor, people[index]?.email as string, `198.51.100.${index}`)),
  )
  const statuses = new Set(pages.map(({ status }) => status))
  assert.ok(statuses.has(303) && statuses.has(503), [...statuses].join())
  // On a busy machine some of those that wait are told that it takes too long, also with 503.
  const busy = pages.find(({ text }) => text.includes('Many people are signing in'))
  assert.deepEqual([busy?.status, busy?.headers.get('retry-after')], [503, '5'])
})
