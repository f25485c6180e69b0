import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPasswords } from '../../src/users/passwords.ts'

test("passwords are hashed by argon2id with OWASP's parameters", async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('correct horse battery staple')
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.equal(await passwords.verify('correct horse battery staple', hash), true)
  assert.equal(await passwords.verify('correct horse battery stapler', hash), false)
})

test('the cost of a stored hash counts, so that raising it locks nobody out', async () => {
  const hash = await createPasswords({ cost: { memoryKib: 64, passes: 3 } }).hash('an older password')
  assert.match(hash, /\$m=64,t=3,p=1\$/)
  assert.equal(await createPasswords().verify('an older password', hash), true)
})
