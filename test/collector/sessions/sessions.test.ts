import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openMemorySessions } from '../../../src/collector/sessions/memory-sessions.ts'
import { shareSessions } from '../../../src/collector/sessions/redis-sessions.ts'
import type { Origin } from '../../../src/enrichment/session.ts'
import { openRedis } from '../../../src/stores/redis.ts'
import { eventually } from '../../support/eventually.ts'
import { missing } from '../../support/needing.ts'
import { startOwnRedis } from '../../support/own-servers.ts'
import { redisUrl } from '../../support/stores.ts'

const direct = (): Origin => ({ referrer: '', channel: 'Direct', utmSource: '' })
const campaign = { medium: 'cpc', campaign: 'spring', content: '', term: 'shoes' }
const search = (): Origin => ({ referrer: 'google.com', channel: 'Organic Search', utmSource: 'x', campaign })
const noon = Date.parse('2026-11-15T12:00:00Z')
const seconds = (count: number) => noon + count * 1000

test('a gap of exactly 1,800 s stays in the session, and one millisecond more begins a new one', (t) => {
  const sessions = openMemorySessions()
  t.after(() => sessions.close())
  const first = sessions.join('site', '1', noon, direct).id
  assert.equal(sessions.join('site', '1', seconds(1800), direct).id, first)
  assert.equal(sessions.join('site', '1', seconds(3600), direct).id, first)
  const second = sessions.join('site', '1', seconds(5400) + 1, direct).id
  assert.notEqual(second, first)
  assert.notEqual(sessions.join('site', '1', seconds(7201) + 1, direct).id, second)
})

test('the first hit decides where the session came from', (t) => {
  const sessions = openMemorySessions()
  t.after(() => sessions.close())
  sessions.join('site', '1', noon, search)
  const { id: _, lastAt: __, ...origin } = sessions.join('site', '1', seconds(60), direct)
  assert.deepEqual(origin, search())
  const next = sessions.join('site', '1', seconds(60 + 1801), direct)
  assert.deepEqual([next.referrer, next.channel, next.utmSource, next.campaign], ['', 'Direct', '', undefined])
})

test('the same visitor id on two sites is two sessions', (t) => {
  const sessions = openMemorySessions()
  t.after(() => sessions.close())
  assert.notEqual(sessions.join('a', '1', noon, direct).id, sessions.join('b', '1', noon, direct).id)
})

test('a late hit does not shorten the session', (t) => {
  const sessions = openMemorySessions()
  t.after(() => sessions.close())
  const { id } = sessions.join('site', '1', seconds(1000), direct)
  assert.equal(sessions.join('site', '1', noon, direct).id, id)
  assert.equal(sessions.join('site', '1', seconds(2800), direct).id, id)
})

test('memory holds a limited number of sessions: the one silent longest is dropped', (t) => {
  const sessions = openMemorySessions(2)
  t.after(() => sessions.close())
  const first = sessions.join('site', '1', noon, direct).id
  const second = sessions.join('site', '2', seconds(1), direct).id
  sessions.join('site', '1', seconds(2), direct)
  sessions.join('site', '3', seconds(3), direct)
  assert.equal(sessions.size(), 2)
  assert.equal(sessions.join('site', '1', seconds(4), direct).id, first)
  assert.notEqual(sessions.join('site', '2', seconds(5), direct).id, second)
})

test('two collectors with one Redis agree to the second', async (t) => {
  const redis = [openRedis(redisUrl, () => {}), openRedis(redisUrl, () => {})] as const
  // A slow machine must not look like a Redis outage.
  for (const each of redis) await eventually(() => each.inspect())
  const prefix = `footfall_test_${randomUUID()}:`
  const [one, other] = redis.map((each) => shareSessions(each, openMemorySessions(), prefix)) as [
    ReturnType<typeof shareSessions>,
    ReturnType<typeof shareSessions>,
  ]
  t.after(async () => {
    one.close()
    other.close()
    for (const each of redis) await each.close()
  })
  const first = await one.join('site', '1', noon, search)
  const same = await other.join('site', '1', seconds(1800), direct)
  assert.deepEqual([same.id, same.referrer, same.utmSource, same.campaign], [first.id, 'google.com', 'x', campaign])
  assert.equal((await one.join('site', '1', seconds(3600), direct)).id, first.id)
  const next = await other.join('site', '1', seconds(5401), direct)
  assert.notEqual(next.id, first.id)
  assert.equal((await one.join('site', '1', seconds(5402), direct)).id, next.id)
  // Both at once, many times: one of them starts the session, the other joins it.
  for (let visitor = 100; visitor < 150; visitor++) {
    const both = await Promise.all([one, other].map((each) => each.join('site', `${visitor}`, noon, direct)))
    assert.equal(both[0]?.id, both[1]?.id)
  }
})

test('without Redis a collector continues from memory, and an emptied Redis gets the sessions again', {
  skip: missing('Redis'),
}, async (t) => {
  const server = await startOwnRedis()
  const redis = openRedis(server.url, () => {})
  const [one, other] = [openMemorySessions(), openMemorySessions()].map((memory) => shareSessions(redis, memory))
  t.after(async () => {
    one?.close()
    other?.close()
    await redis.close()
    await server.remove()
  })
  await eventually(() => redis.inspect())
  const first = await one?.join('site', '1', noon, search)
  await server.kill()
  const down = await one?.join('site', '1', seconds(10), direct)
  assert.equal(down?.id, first?.id)
  assert.equal((await other?.join('site', '2', noon, direct))?.referrer, '')
  await server.start()
  for (let attempt = 0; ; attempt++) {
    await one?.join('site', '1', seconds(20), direct)
    if ((await other?.join('site', '1', seconds(30), direct))?.id === first?.id) break
    assert.ok(attempt < 100, 'the session did not return to Redis')
    other?.close()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})
