// Every message ends in a stated state, whatever the mail server and the processes do (decision D-221).
import assert from 'node:assert/strict'
import { createAccount } from '../../src/accounts/accounts.ts'
import { newId } from '../../src/accounts/ids.ts'
import { createSubscription } from '../../src/email-reports/subscriptions.ts'
import { queueMessage, retryMessages } from '../../src/mail/outbox.ts'
import { type MailLoop, type MailOptions, startMail } from '../../src/mail/sender.ts'
import { createLog } from '../../src/process/log.ts'
import { eventually } from '../support/eventually.ts'
import { startMailServer, type TestMailServer } from '../support/mail-server.ts'
import { needing } from '../support/needing.ts'
import { connect, createStores, disconnect, keySecrets, type Stores } from '../support/stores.ts'

const { test, before, after, beforeEach } = needing('ClickHouse')

const log = createLog('silent')
const outbox = { secrets: keySecrets, publicUrl: 'https://stats.example.com' }
const letter = { subject: 'Hello', text: 'A secret link: https://stats.example.com/reset/abc', html: '<p>Hello</p>' }

let created: Awaited<ReturnType<typeof createStores>>
let stores: Stores
let mailServer: TestMailServer

before(async () => {
  created = await createStores()
  stores = connect(created.addresses)
  mailServer = await startMailServer()
})

after(async () => {
  await mailServer.close()
  await disconnect(stores)
  await created.remove()
})

beforeEach(async () => {
  await stores.postgres`DELETE FROM outbox`
  mailServer.received.length = 0
  mailServer.ended.length = 0
  mailServer.react(() => 'accept')
})

function start(
  settings: Partial<MailOptions['settings']> = {},
  writeReport: MailOptions['writeReport'] = async () => ({ letter, headers: {} }),
): MailLoop {
  return startMail(stores, {
    settings: {
      server: mailServer.server,
      from: { name: 'Footfall', address: 'stats@example.com' },
      answerMs: 1_000,
      finalAnswerMs: 1_500,
      ...settings,
    },
    outbox,
    log,
    due: [],
    writeReport,
  })
}

const queue = (recipient: string) =>
  queueMessage(stores.postgres, outbox, { kind: 'reset', recipient, accountId: null, letter, expiresIn: '24 hours' })

/** A report must not be sent twice; a reset may. */
async function queueReport(recipient: string): Promise<string> {
  const { postgres } = stores
  const accountId = await createAccount(postgres, { name: 'Main', plan: 'Growth' })
  const subscription = { accountId, siteId: null, email: recipient, userId: null, interval: 'week', hour: 8 } as const
  const id = await createSubscription(postgres, { ...subscription, timeZone: 'UTC', createdBy: 'test' })
  const [row] = await postgres<{ id: string }[]>`
    INSERT INTO outbox (id, kind, recipient, account_id, subscription_id, period)
    VALUES (${newId('mail')}, 'report', ${recipient}, ${accountId}, ${id as string}, '2026-11-09') RETURNING id`
  return row?.id as string
}

interface Row {
  state: string
  problem: string
  failures: number
  content: Buffer | null
  waits: number
}

async function rowOf(id: string): Promise<Row> {
  const [row] = await stores.postgres<Row[]>`
    SELECT state, problem, failures, content, extract(epoch FROM next_attempt_at - changed_at)::int AS waits FROM outbox WHERE id = ${id}`
  assert.ok(row)
  return row
}

const inState = (id: string, state: string) =>
  eventually(async () => {
    const row = await rowOf(id)
    assert.equal(row.state, state, row.problem)
    return row
  })

const dueNow = (id: string) => stores.postgres`UPDATE outbox SET next_attempt_at = now() WHERE id = ${id}`

test('a message is sent once, with a stable Message-ID, and its content is then forgotten', async (t) => {
  const loops = [start(), start()]
  t.after(() => Promise.all(loops.map((loop) => loop.stop())))
  const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => queue(`person${index}@example.com`)))
  for (const id of ids) assert.equal((await inState(id, 'sent')).content, null)
  const got = mailServer.received.map(({ messageId }) => messageId).sort()
  assert.deepEqual(got, ids.map((id) => `${id}@example.com`).sort())
  const [first] = mailServer.received
  assert.match(first?.raw ?? '', /^From: Footfall <stats@example\.com>/m)
  assert.match(first?.raw ?? '', /^Auto-Submitted: auto-generated/m)
  assert.match(first?.raw ?? '', /multipart\/alternative/)
})

test('a link does not lie in PostgreSQL in plain text', async () => {
  const id = await queue('maria@example.com')
  const { content } = await rowOf(id)
  assert.ok(content && content.length > 100)
  assert.doesNotMatch(content.toString('latin1'), /secret link|reset\/abc/)
})

test('greylisting: the message waits a minute, then five, and is sent', async (t) => {
  mailServer.react(() => ({ at: 'recipient', code: 451, answer: 'come back later' }))
  const loop = start()
  t.after(() => loop.stop())
  const id = await queue('maria@example.com')
  await eventually(async () => assert.deepEqual([(await rowOf(id)).state, (await rowOf(id)).failures], ['waiting', 1]))
  const { waits, problem } = await rowOf(id)
  assert.equal(waits, 60)
  assert.match(problem, /451.*come back later/)
  await dueNow(id)
  await eventually(async () => assert.deepEqual([(await rowOf(id)).failures, (await rowOf(id)).waits], [2, 300]))
  mailServer.react(() => 'accept')
  await dueNow(id)
  await inState(id, 'sent')
  assert.equal(mailServer.received.length, 1)
})

test('after the eighth failure a message has failed, and an operator can send it again', async (t) => {
  mailServer.react(() => ({ at: 'end', code: 452, answer: 'disk full' }))
  const loop = start()
  t.after(() => loop.stop())
  const id = await queue('maria@example.com')
  await stores.postgres`UPDATE outbox SET failures = 7 WHERE id = ${id}`
  await inState(id, 'failed')
  mailServer.react(() => 'accept')
  assert.deepEqual(await retryMessages(stores.postgres, [id]), [id])
  await inState(id, 'sent')
})

test('a refusal is final, at once', async (t) => {
  mailServer.react((to) =>
    to.startsWith('nobody')
      ? { at: 'recipient', code: 550, answer: 'no such user' }
      : { at: 'end', code: 554, answer: 'spam' },
  )
  const loop = start()
  t.after(() => loop.stop())
  const [nobody, spam] = [await queue('nobody@example.com'), await queue('maria@example.com')]
  assert.match((await inState(nobody, 'failed')).problem, /550.*no such user/)
  assert.match((await inState(spam, 'failed')).problem, /554.*spam/)
})

test('a hang before the end of the message: it is sent later', async (t) => {
  mailServer.react(() => ({ hangsAt: 'recipient' }))
  const loop = start()
  t.after(() => loop.stop())
  const id = await queue('maria@example.com')
  await eventually(async () => assert.equal((await rowOf(id)).failures, 1))
  assert.deepEqual([(await rowOf(id)).state, mailServer.ended.length], ['waiting', 0])
})

test('a hang after the end of the message: in doubt, unless a second copy is harmless', async (t) => {
  mailServer.react(() => ({ hangsAt: 'end' }))
  const loop = start()
  t.after(() => loop.stop())
  const [once, again] = [await queueReport('maria@example.com'), await queue('paul@example.com')]
  await inState(once, 'in doubt')
  await eventually(async () =>
    assert.deepEqual([(await rowOf(again)).state, (await rowOf(again)).failures], ['waiting', 1]),
  )
  assert.equal(mailServer.ended.length, 2)
})

test('a mail server that is down, or without the TLS that is demanded, gets nothing', async (t) => {
  const id = await queue('maria@example.com')
  const withTls = start({ server: { ...mailServer.server, needsTls: true } })
  await eventually(async () => assert.equal((await rowOf(id)).failures, 1))
  await withTls.stop()
  assert.match((await rowOf(id)).problem, /cannot be used: .*(TLS|STARTTLS)/)
  assert.equal(mailServer.ended.length, 0)
  const down = start({ server: { ...mailServer.server, port: 1 } })
  t.after(() => down.stop())
  await dueNow(id)
  await eventually(async () => assert.equal((await rowOf(id)).failures, 2))
  assert.match((await rowOf(id)).problem, /ECONNREFUSED/)
})

test('a certificate that nobody vouches for is refused', async (t) => {
  const secure = await startMailServer({ secure: true })
  t.after(() => secure.close())
  const loop = start({ server: { ...secure.server, isSecure: true, needsTls: true } })
  t.after(() => loop.stop())
  const id = await queue('maria@example.com')
  await eventually(async () => assert.equal((await rowOf(id)).failures, 1))
  assert.match((await rowOf(id)).problem, /certificate/)
})

test('a claim that nobody renews is free again', async (t) => {
  const id = await queueReport('maria@example.com')
  await stores.postgres`
    UPDATE outbox SET state = 'sending', sender = gen_random_uuid(), attempts = 1, claimed_until = now() - interval '1 second' WHERE id = ${id}`
  const loop = start()
  t.after(() => loop.stop())
  await inState(id, 'sent')
  assert.equal(mailServer.received.length, 1)
})

test('a process that stood still does not send what another process has by now', async (t) => {
  const id = await queueReport('maria@example.com')
  const taken = Promise.withResolvers<void>()
  const loop = start({}, async () => {
    await stores.postgres`UPDATE outbox SET sender = gen_random_uuid(), attempts = attempts + 1, claimed_until = now() + interval '1 hour' WHERE id = ${id}`
    taken.resolve()
    return { letter, headers: {} }
  })
  t.after(() => loop.stop())
  await taken.promise
  await queue('paul@example.com')
  await eventually(async () =>
    assert.deepEqual(
      mailServer.received.map(({ to }) => to),
      ['paul@example.com'],
    ),
  )
  assert.deepEqual([mailServer.ended.length, (await rowOf(id)).state], [1, 'sending'])
})

test('a process that died after the hand-over leaves a message in doubt', async (t) => {
  const id = await queueReport('maria@example.com')
  await stores.postgres`
    UPDATE outbox SET state = 'sending', sender = gen_random_uuid(), attempts = 1, handed_over_at = now(), claimed_until = now() - interval '1 second'
    WHERE id = ${id}`
  const loop = start()
  t.after(() => loop.stop())
  await inState(id, 'in doubt')
  assert.equal(mailServer.ended.length, 0)
})

test('nothing is sent that was queued before a restore', async (t) => {
  const [before_, after_] = [await queue('maria@example.com'), await queue('paul@example.com')]
  await stores.postgres`UPDATE outbox SET queued_at = now() - interval '1 hour' WHERE id = ${before_}`
  await stores.postgres`UPDATE ledger SET began_at = now() - interval '1 minute'`
  const loop = start()
  t.after(() => loop.stop())
  await inState(after_, 'sent')
  assert.match((await inState(before_, 'in doubt')).problem, /restored/)
  assert.deepEqual(
    mailServer.received.map(({ to }) => to),
    ['paul@example.com'],
  )
})

test('an older PostgreSQL sends nothing, because every claim is counted in the ledger', async (t) => {
  const { postgres } = stores
  const id = await queue('maria@example.com')
  const loop = start()
  await inState(id, 'sent')
  await loop.stop()
  // What a restore of a dump from before the message brings back.
  await postgres`UPDATE shards SET mark = mark - 1, confirmed_mark = mark - 1, compared_in = '', counted_in = ''`
  const again = await queue('maria@example.com')
  const restored = start()
  t.after(() => restored.stop())
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  assert.equal((await rowOf(again)).state === 'sent', false)
  assert.equal(mailServer.received.length, 1)
})

test('a link that does not work any more is not sent', async (t) => {
  const id = await queue('maria@example.com')
  await stores.postgres`UPDATE outbox SET expires_at = now() - interval '1 second', next_attempt_at = now() + interval '1 hour' WHERE id = ${id}`
  const loop = start()
  t.after(() => loop.stop())
  assert.equal((await inState(id, 'failed')).content, null)
})
