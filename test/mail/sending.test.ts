// Sending among others: what ends while a message is sent, and what must not wait for reports.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { claimMessages, handOver, noteOutcome } from '../../src/mail/outbox.ts'
import type { WrittenReport } from '../../src/mail/sender.ts'
import { eventually } from '../support/eventually.ts'
import { needing } from '../support/needing.ts'
import { letter, openSending, type Sending } from './sending.ts'

const { test, before, after, beforeEach } = needing('ClickHouse')

let sending: Sending
before(async () => {
  sending = await openSending()
})
after(() => sending.close())
beforeEach(() => sending.clear())

test('a password reset does not wait for the reports of a Monday', async (t) => {
  const { start, queue, queueReport, inState, rowOf, stores } = sending
  const [first] = await Promise.all(Array.from({ length: 60 }, (_, index) => queueReport(`reader${index}@example.com`)))
  const written = Promise.withResolvers<WrittenReport>()
  const loop = start({}, () => written.promise)
  t.after(() => loop.stop())
  await eventually(async () => {
    const [row] = await stores.postgres<[{ claimed: number }]>`
      SELECT count(*)::int AS claimed FROM outbox WHERE state = 'sending'`
    assert.equal(row?.claimed, 40)
  })
  await inState(await queue('maria@example.com'), 'sent')
  assert.notEqual((await rowOf(first as string)).state, 'sent')
  written.resolve({ letter, headers: {} })
  await inState(first as string, 'sent')
})

test('what the mail server got is not given back when nobody can record what it answered', async () => {
  const { queue, queueReport, rowOf, stores } = sending
  const { postgres } = stores
  const sender = randomUUID()
  const ids = [
    await queueReport('maria@example.com'),
    await queueReport('paul@example.com'),
    await queue('eve@example.com'),
  ]
  const claimed = await claimMessages(postgres, sender, { shard: 0, limit: 10, what: 'everything' })
  assert.equal(claimed.length, 3)
  const [untried, report, reset] = ids.map((id) => claimed.find((message) => message.id === id)) as [
    (typeof claimed)[0],
    (typeof claimed)[0],
    (typeof claimed)[0],
  ]
  for (const message of [report, reset]) assert.equal(await handOver(postgres, sender, message), true)
  for (const message of [untried, report, reset]) await noteOutcome(postgres, sender, message, { state: 'returned' })
  assert.deepEqual(await Promise.all([untried, report, reset].map(async ({ id }) => (await rowOf(id)).state)), [
    'waiting',
    'in doubt',
    'waiting',
  ])
  assert.match((await rowOf(report.id)).problem, /could not be recorded/)
})

test('a report that is being written when its process ends counts as no failure', async () => {
  const { start, queueReport, rowOf } = sending
  const id = await queueReport('maria@example.com')
  const begun = Promise.withResolvers<void>()
  const loop = start({}, (_message, signal) => {
    begun.resolve()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  await begun.promise
  await loop.stop()
  const { state, failures, problem } = await rowOf(id)
  assert.deepEqual([state, failures, problem], ['waiting', 0, ''])
})
