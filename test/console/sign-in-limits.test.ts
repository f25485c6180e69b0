import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createNetworkBuckets } from '../../src/process/network-buckets.ts'
import { createAttempts } from '../../src/users/attempts.ts'
import { createPasswordQueue, PasswordsBusy } from '../../src/users/password-queue.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { eventually } from '../support/eventually.ts'
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

test('right passwords after wrong ones do not count either', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  assert.deepEqual(await statusesOf(9, () => wrong(console.stranger(), email)), new Array(9).fill(401))
  assert.deepEqual(await statusesOf(3, () => right(console.stranger(), email)), [303, 303, 303])
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

test('a /56 of IPv6 has four times the limit of a /64, and a /48 sixteen times', () => {
  const buckets = createNetworkBuckets({ perSecond: 1, burstSeconds: 10, now: () => 0 })
  /** How many of 300 requests are let through. */
  const letThrough = (address: (index: number) => string) => {
    let count = 0
    for (let index = 0; index < 300; index++) {
      if (buckets.take(address(index), 0) > 0) continue
      buckets.take(address(index), 1)
      count++
    }
    return count
  }
  const hex = (number: number) => number.toString(16)
  assert.equal(
    letThrough((index) => `2001:db8:1:1::${hex(index + 1)}`),
    10,
  )
  assert.equal(
    letThrough((index) => `2001:db8:2:1${hex(index % 256).padStart(2, '0')}::1`),
    40,
  )
  assert.equal(
    letThrough((index) => `2001:db8:3:${hex(index)}00::1`),
    160,
  )
  // Other networks and addresses of IPv4 have nothing to do with each other.
  assert.equal(
    letThrough((index) => `2001:db8:${hex(index + 4096)}::1`),
    300,
  )
  assert.equal(
    letThrough((index) => `192.0.${index >> 7}.${index & 127}`),
    300,
  )
  buckets.giveBack('2001:db8:1:1::1', 1)
  assert.equal(buckets.take('2001:db8:1:1::2', 0), 0)
})

test('a network that fills the queue of passwords delays no known browser', { timeout: 300_000 }, async (t) => {
  const console = await openConsole(t, { passwords: createPasswords() })
  const { email } = await console.addUser('owner')
  const own = console.stranger()
  assert.equal((await right(own, email, '192.0.2.200')).status, 303)
  const browser = own.cookies.get('footfall-browser') as string

  let isAttacked = true
  const answers = new Map<number, number>()
  const attack = Array.from({ length: 60 }, async (_, network) => {
    const attacker = console.stranger()
    while (isAttacked) {
      const { status } = await wrong(attacker, `${randomUUID()}@example.com`, `2001:db8:1:${network.toString(16)}::1`)
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  })
  await eventually(async () => assert.ok((answers.get(503) ?? 0) > 0, 'the queue is not full yet'), 60_000)
  const statuses = await statusesOf(12, () => {
    const visitor = console.stranger()
    visitor.cookies.set('footfall-browser', browser)
    return right(visitor, email, '2001:db8:1:ffff::1')
  })
  isAttacked = false
  await Promise.all(attack)
  assert.deepEqual(statuses, new Array(12).fill(303))
})

test('an attempt that finds too many waiting counts for its address only', () => {
  const attempts = createAttempts(keySecrets, () => 0)
  const begin = (email: string) =>
    attempts.begin('password', email, { clientAddress: '192.0.2.1', browserCookie: undefined })
  for (let index = 0; index < 100; index++) begin('a@example.com').turnAway()
  assert.ok(begin('b@example.com').waitSeconds > 0)
  const elsewhere = { clientAddress: '192.0.2.2', browserCookie: undefined }
  assert.equal(attempts.begin('password', 'a@example.com', elsewhere).waitSeconds, 0)
})

test('known browsers and others take turns, and nobody fills the lane of known browsers alone', async () => {
  const inTurn = createPasswordQueue(4)
  const begun: string[] = []
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const wait = (name: string, known?: string) =>
    inTurn(known, async () => {
      begun.push(name)
      await gate
    })
  const waiting = ['u1', 'u2', 'u3', 'u4', 'u5'].map((name) => wait(name))
  waiting.push(wait('a1', 'a'), wait('a2', 'a'), wait('a3', 'a'), wait('b1', 'b'))
  await assert.rejects(wait('u6'), PasswordsBusy)
  await assert.rejects(wait('b2', 'b'), PasswordsBusy) // four wait
  open()
  await Promise.all(waiting)
  assert.deepEqual(begun, ['u1', 'a1', 'u2', 'a2', 'u3', 'a3', 'u4', 'b1', 'u5'])

  const { promise: again, resolve: openAgain } = Promise.withResolvers<void>()
  const { promise: isRunning, resolve: begin } = Promise.withResolvers<void>()
  const first = inTurn('a', () => {
    begin()
    return again
  })
  await isRunning
  const own = [1, 2, 3].map(() => inTurn('a', async () => {}))
  await assert.rejects(
    inTurn('a', async () => {}),
    PasswordsBusy,
  )
  const other = inTurn('b', async () => {})
  openAgain()
  await Promise.all([first, ...own, other])
})
