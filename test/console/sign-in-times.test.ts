import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createPasswords } from '../../src/users/passwords.ts'
import { createUser } from '../../src/users/users.ts'
import { inTime } from '../support/in-time.ts'
import { openConsole } from './console.ts'

test('an unknown address and a user without a password take as long as a wrong password', async (t) => {
  const console = await openConsole(t, { passwords: createPasswords() })
  const visitor = console.stranger()
  const withPassword = async () => (await console.addUser('viewer')).email
  const withoutPassword = async () => {
    const email = `${randomUUID()}@example.com`
    await createUser(console.stores.postgres, email, null)
    return email
  }
  const fastest = {
    known: Number.POSITIVE_INFINITY,
    unknown: Number.POSITIVE_INFINITY,
    without: Number.POSITIVE_INFINITY,
  }
  for (let round = 0; round < 8; round++) {
    const emails = {
      known: await withPassword(),
      unknown: `${randomUUID()}@example.com`,
      without: await withoutPassword(),
    }
    for (const kind of ['known', 'unknown', 'without'] as const) {
      const began = performance.now()
      const { status } = await visitor.post('/login', '/login', { email: emails[kind], password: 'a wrong password' })
      fastest[kind] = Math.min(fastest[kind], performance.now() - began)
      assert.equal(status, 401)
    }
  }
  // The fastest of each, because the machine is busy. Without a hash it would be ten times as fast.
  for (const kind of ['unknown', 'without'] as const) {
    const ratio = fastest[kind] / fastest.known
    inTime(ratio > 1 / 3 && ratio < 3, `${kind}: ${ratio}`)
  }
})
