// The same schedules in every run, so that a failure shows what broke; `npm run check:limit` tries new ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from '../../support/needing.ts'
import { startOwnRedis } from '../../support/own-servers.ts'
import { checkMemory, checkRedis } from './schedules.ts'

test('the limiter of a single process equals the model over random schedules', async () => {
  const { schedules, examples } = await checkMemory(5_000, 'tests')
  assert.equal(schedules, 5_000)
  assert.deepEqual(examples, [])
})

test('the Redis limiter equals the model over random schedules, with Redis up, down and emptied', {
  skip: missing('Redis'),
}, async (t) => {
  const redis = await startOwnRedis()
  t.after(() => redis.remove())
  const { schedules, examples } = await checkRedis(redis.url, 300, 'tests')
  assert.equal(schedules, 300)
  assert.deepEqual(examples, [])
})
