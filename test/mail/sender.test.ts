// Every message ends in a stated state, whatever the mail server and the processes do (decision D-221).
import assert from 'node:assert/strict'
import { retryMessages } from '../../src/mail/outbox.ts'
import { eventually } from '../support/eventually.ts'
import { startMailServer, type TestMailServer } from '../support/mail-server.ts'
import { needing } from '../support/needing.ts'
import type { Stores } from '../support/stores.ts'
import { letter, openSending, type Sending } from './sending.ts'

const { test, before, after, beforeEach } = needing('ClickHouse')

let sending: Sending
let stores: Stores
let mailServer: TestMailServer
let [start, queue, queueReport, rowOf, inState, dueNow] = [] as unknown as [
  Sending['start'],
  Sending['queue'],
  Sending['queueReport'],
  Sending['rowOf'],
  Sending['inState'],
  Sending['dueNow'],
]

before(async () => {
  sending = await openSending()
  ;({ stores, mailServer, start, queue, queueReport, rowOf, inState, dueNow } = sending)
})
after(() => sending.close())
beforeEach(() => sending.clear())

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

test('a certificate that nobody vouches for is refused, from the start and after STARTTLS', async (t) => {
  for (const isSecure of [true, false]) {
    const secure = await startMailServer({ secure: isSecure, disabledCommands: [] })
    t.after(() => secure.close())
    const loop = start({ server: { ...secure.server, isSecure, needsTls: true } })
    const id = await queue('maria@example.com')
    await eventually(async () => assert.equal((await rowOf(id)).failures, 1))
    await loop.stop()
    const { state, problem } = await rowOf(id)
    assert.deepEqual([state, secure.ended.length], ['waiting', 0])
    assert.match(problem, /certificate/)
  }
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
