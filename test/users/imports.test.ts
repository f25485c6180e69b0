import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { inTransaction, type Postgres } from '../../src/stores/postgres.ts'
import { queueImportFinished } from '../../src/users/imports.ts'
import { addMember } from '../../src/users/members.ts'
import { createUser } from '../../src/users/users.ts'
import { mailsTo } from '../support/mails.ts'
import { keySecrets, openStores } from '../support/stores.ts'

const outbox = { secrets: keySecrets, publicUrl: 'https://stats.example.com' }

let postgres: Postgres
before(async () => {
  ;({ postgres } = await openStores())
})

async function addOwners(accountId: string, ...emails: string[]): Promise<void> {
  for (const email of emails) await addMember(postgres, accountId, await createUser(postgres, email, 'none'), 'owner')
}

const finish = (accountId: string) =>
  inTransaction(postgres, (transaction) =>
    queueImportFinished(transaction, outbox, { accountId, domain: 'shop.example' }, { events: 3, days: 2 }),
  )

const newAddress = () => `${randomUUID()}@example.com`

test('an owner gets ten mails about imports an hour at most', async () => {
  const accountId = await createAccount(postgres, { name: 'Main', plan: 'Growth' })
  const [owner, second] = [newAddress(), newAddress()]
  await addOwners(accountId, owner, second)
  for (let index = 0; index < 12; index++) await finish(accountId)
  for (const email of [owner, second]) assert.equal((await mailsTo(postgres, email)).length, 10)
  await postgres`UPDATE outbox SET queued_at = queued_at - interval '61 minutes' WHERE account_id = ${accountId}`
  await finish(accountId)
  assert.equal((await mailsTo(postgres, owner)).length, 11)
})

test('imports into two accounts with the same owners, at the same time, do not wait for each other for ever', async () => {
  const [one, other] = await Promise.all(
    ['One', 'Other'].map((name) => createAccount(postgres, { name, plan: 'Growth' })),
  )
  const [first, second] = [newAddress(), newAddress()]
  await addOwners(one as string, first, second)
  // In the other order: owners are listed as they joined.
  const users = await postgres<{ id: string; email: string }[]>`
    SELECT id, email FROM users WHERE email IN ${postgres([first, second])}`
  for (const email of [second, first])
    await addMember(postgres, other as string, users.find((user) => user.email === email)?.id as string, 'owner')
  await Promise.all(Array.from({ length: 8 }, (_, index) => finish((index % 2 ? one : other) as string)))
  assert.equal((await mailsTo(postgres, first)).length, 8)
})
