import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey, listKeysOf } from '../../src/accounts/keys.ts'
import { dayMs, hourMs } from '../../src/durations.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { replaceKey } from '../../src/users/key-changes.ts'
import { queueExpiringKeys } from '../../src/users/key-notices.ts'
import { addMember, type Role } from '../../src/users/members.ts'
import { createUser } from '../../src/users/users.ts'
import { atEnd } from '../support/at-end.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { linkIn, mailsTo } from '../support/mails.ts'
import { keySecrets } from '../support/stores.ts'

const outbox = { secrets: keySecrets, publicUrl: 'https://stats.example.com' }
const { signal } = new AbortController()

/** Two processes have a pool each. */
let [postgres, other] = [] as unknown as [Postgres, Postgres]
let [accountId, owner, second, viewer] = ['', '', '', '']
before(async () => {
  const stores = await freshStores(atEnd)
  ;[postgres, other] = [stores.postgres, openPostgres(stores.addresses.postgres)]
  atEnd(() => other.end())
})
beforeEach(async () => {
  accountId = await createAccount(postgres, { name: 'Shop & Co', plan: 'Growth' })
  ;[owner, second, viewer] = [await addPerson('owner'), await addPerson('owner'), await addPerson('viewer')]
})

async function addPerson(role: Role): Promise<string> {
  const email = `${randomUUID()}@example.com`
  await addMember(postgres, accountId, await createUser(postgres, email, 'none'), role)
  return email
}

const inMs = (milliseconds: number) => new Date(Date.now() + milliseconds)
const addKey = async (name: string, expiresAt?: Date) =>
  (await createKey(postgres, keySecrets, { accountId, name, ...(expiresAt && { expiresAt }) })).id

const hourLater = () =>
  postgres`UPDATE outbox SET queued_at = queued_at - interval '61 minutes' WHERE account_id = ${accountId}`

test('each owner gets one mail about a key that expires within seven days, however many processes look', async () => {
  const expiresAt = inMs(6 * dayMs)
  await addKey('Nightly report', expiresAt)
  await addKey('Later', inMs(8 * dayMs))
  await addKey('Never')
  await addKey('Over', inMs(-hourMs))
  await postgres`UPDATE api_keys SET disabled = true WHERE id = ${await addKey('Disabled', inMs(dayMs))}`
  const all = Array.from({ length: 6 }, (_, index) => queueExpiringKeys(index % 2 ? postgres : other, outbox, signal))
  await Promise.all(all)
  await queueExpiringKeys(postgres, outbox, signal)
  for (const email of [owner, second]) {
    const [mail, ...more] = await mailsTo(postgres, email)
    assert.ok(mail)
    assert.deepEqual([mail.kind, mail.accountId, more], ['key expiry', accountId, []])
    assert.equal(mail.subject, 'The API key “Nightly report” will expire soon')
    assert.ok(mail.text.includes(expiresAt.toISOString().slice(0, 16).replace('T', ' ')), mail.text)
    assert.doesNotMatch(mail.text, /Later|Never|Over|Disabled/)
    assert.equal(linkIn(mail), `https://stats.example.com/account/keys?account=${accountId}`)
  }
  assert.deepEqual(await mailsTo(postgres, viewer), [])
})

test('several keys are in one mail, the first to expire at the top; new ones wait an hour for the next', async () => {
  await addKey('Second', inMs(5 * dayMs))
  await addKey('First', inMs(2 * dayMs))
  await Promise.all([queueExpiringKeys(postgres, outbox, signal), queueExpiringKeys(other, outbox, signal)])
  const [mail, ...more] = await mailsTo(postgres, owner)
  assert.deepEqual([mail?.subject, more], ['2 API keys of Shop & Co will expire soon', []])
  assert.match(mail?.text ?? '', /First[\s\S]*Second/)
  await addKey('Third', inMs(3 * dayMs))
  await queueExpiringKeys(postgres, outbox, signal)
  assert.equal((await mailsTo(postgres, owner)).length, 1)
  await hourLater()
  await queueExpiringKeys(postgres, outbox, signal)
  assert.match((await mailsTo(postgres, owner))[1]?.subject ?? '', /“Third”/)
})

test('a key whose expiry changes is announced again', async () => {
  const id = await addKey('Changing', inMs(6 * dayMs))
  await queueExpiringKeys(postgres, outbox, signal)
  await hourLater()
  await queueExpiringKeys(postgres, outbox, signal)
  assert.equal((await mailsTo(postgres, owner)).length, 1)
  await postgres`UPDATE api_keys SET expires_at = ${inMs(3 * dayMs)} WHERE id = ${id}`
  await queueExpiringKeys(postgres, outbox, signal)
  assert.equal((await mailsTo(postgres, owner)).length, 2)
})

test('a key that was replaced is meant to end', async () => {
  const id = await addKey('Old', inMs(30 * dayMs))
  const old = (await listKeysOf(postgres, accountId)).find((key) => key.id === id)
  assert.ok(old)
  const rotation = { oldExpiresAt: inMs(dayMs) }
  assert.ok(await replaceKey(postgres, keySecrets, commandLine, old, rotation))
  await queueExpiringKeys(postgres, outbox, signal)
  assert.deepEqual(await mailsTo(postgres, owner), [])
})

test('after a restore, what was due before it is listed as in doubt, and what is due since is sent', async (t) => {
  const [{ began }] = await postgres<[{ began: Date }]>`SELECT began_at AS began FROM ledger`
  t.after(() => postgres`UPDATE ledger SET began_at = ${began}`)
  // Two keys of a backup: seven days before the expiry of one are before the restore, those of the other after it.
  for (const [name, expiresAt] of [
    ['Announced', inMs(5 * dayMs)],
    ['Due since', inMs(7 * dayMs - hourMs / 2)],
  ] as const)
    await postgres`UPDATE api_keys SET created_at = now() - interval '30 days' WHERE id = ${await addKey(name, expiresAt)}`
  // This one was made after the restore.
  await addKey('Short', inMs(dayMs))
  await postgres`UPDATE ledger SET began_at = now() - interval '1 hour'`
  await queueExpiringKeys(postgres, outbox, signal)
  await queueExpiringKeys(postgres, outbox, signal)
  const rows = await postgres<{ state: string; problem: string }[]>`
    SELECT state, problem FROM outbox WHERE recipient = ${owner} ORDER BY state`
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['in doubt', 'waiting'],
  )
  assert.match(rows[0]?.problem ?? '', /before the database was restored/)
  const texts = (await mailsTo(postgres, owner)).map(({ subject, text }) => subject + text)
  assert.equal(texts.length, 2)
  assert.ok(texts.some((text) => text.includes('“Announced”') && !/Due since|Short/.test(text)))
  assert.ok(texts.some((text) => /Short[\s\S]*Due since/.test(text) && !text.includes('Announced')))
})

test('neither lines nor HTML in names get out of their place', async () => {
  await postgres`UPDATE accounts SET name = ${'Shop\r\nBcc: all@example.com <script>'} WHERE id = ${accountId}`
  await addKey('a\r\nBcc: all@example.com\u2028<img src=x onerror=alert(1)>', inMs(dayMs))
  await addKey('b', inMs(2 * dayMs))
  await queueExpiringKeys(postgres, outbox, signal)
  const [mail] = await mailsTo(postgres, owner)
  assert.ok(mail)
  assert.equal(mail.subject, '2 API keys of Shop Bcc: all@example.com <script> will expire soon')
  assert.doesNotMatch(mail.text, /\r|\u2028|^Bcc/m)
  assert.doesNotMatch(mail.html, /<script|<img/)
  assert.match(mail.html, /&#60;img src=x/)
})

test('without API access, and without a mail, no key is marked', async () => {
  await postgres`UPDATE accounts SET plan = 'Free' WHERE id = ${accountId}`
  await addKey('Unused', inMs(dayMs))
  await queueExpiringKeys(postgres, outbox, signal)
  assert.deepEqual(await mailsTo(postgres, owner), [])
  await postgres`UPDATE accounts SET plan = 'Growth' WHERE id = ${accountId}`
  await postgres`ALTER TABLE outbox ADD CONSTRAINT refused CHECK (account_id <> ${postgres.unsafe(`'${accountId}'`)}) NOT VALID`
  await assert
    .rejects(queueExpiringKeys(postgres, outbox, signal))
    .finally(() => postgres`ALTER TABLE outbox DROP CONSTRAINT refused`)
  await queueExpiringKeys(postgres, outbox, signal)
  assert.equal((await mailsTo(postgres, owner)).length, 1)
})
