import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import type { Kind } from '../../src/mail/kinds.ts'
import { mayQueue } from '../../src/mail/limits.ts'
import { queueMessage } from '../../src/mail/outbox.ts'
import { inTransaction, type Postgres } from '../../src/stores/postgres.ts'
import { keySecrets, openStores } from '../support/stores.ts'

const letter = { subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }

let postgres: Postgres
before(async () => {
  ;({ postgres } = await openStores())
})

const newAddress = () => `${randomUUID()}@example.com`
const newAccount = () => createAccount(postgres, { name: 'Main', plan: 'Growth' })

/** Queues a message if it may, and returns whether it did. */
const queue = (recipient: string, accountId: string | null, kind: Exclude<Kind, 'report'> = 'reset') =>
  inTransaction(postgres, async (transaction) => {
    const may = await mayQueue(transaction, { kinds: [kind], recipient, accountId })
    if (may) await queueMessage(transaction, { secrets: keySecrets }, { kind, recipient, accountId, letter })
    return may
  })

test('an address gets three messages of a kind in an hour, whoever asks', async () => {
  const address = newAddress()
  const accounts = [null, await newAccount(), await newAccount(), null]
  const queued: boolean[] = []
  for (const account of accounts) queued.push(await queue(address, account))
  assert.deepEqual(queued, [true, true, true, false])
  assert.equal(await queue(address, null, 'confirmation'), true, 'another kind')
  assert.equal(await queue(newAddress(), null), true, 'another address')
  await postgres`UPDATE outbox SET queued_at = queued_at - interval '61 minutes' WHERE recipient = ${address}`
  assert.equal(await queue(address, null), true, 'an hour later')
})

test('requests at the same time do not pass the limit', async () => {
  const address = newAddress()
  const queued = await Promise.all(Array.from({ length: 12 }, () => queue(address, null)))
  assert.equal(queued.filter(Boolean).length, 3)
})

test('an account sends 50 messages of a kind in an hour', async () => {
  const [account, other] = [await newAccount(), await newAccount()]
  const queued: boolean[] = []
  for (let index = 0; index < 52; index++) queued.push(await queue(newAddress(), account))
  assert.equal(queued.indexOf(false), 50)
  assert.equal(await queue(newAddress(), other), true)
})
