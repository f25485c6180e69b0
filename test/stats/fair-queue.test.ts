import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue, publicQueueKey } from '../../src/stats/fair-queue.ts'

const wanted = () => new AbortController().signal

test('keys are served in turn, even when one of them has queued much more', async () => {
  const queue = createFairQueue({ total: 1, perKey: 1 })
  const order: string[] = []
  const work = async (key: string) => void order.push(key)
  await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map((key) => queue.take(key, wanted(), () => work(key))))
  assert.deepEqual(order, ['a', 'a', 'b', 'c', 'a', 'b', 'a']) // work that starts at once takes no turn
})

test('failed work frees its slot', async () => {
  const queue = createFairQueue({ total: 1, perKey: 1 })
  await assert.rejects(
    queue.take('a', wanted(), async () => {
      throw new Error('failed')
    }),
    /failed/,
  )
  assert.equal(await queue.take('a', wanted(), async () => 'done'), 'done')
})

test('an aborted caller is skipped, and an already aborted one never enters the queue', async () => {
  const queue = createFairQueue({ total: 1, perKey: 1 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = queue.take('a', wanted(), () => promise)
  const leaving = new AbortController()
  const left = queue.take('a', leaving.signal, async () => assert.fail('the work was called'))
  const last = queue.take('a', wanted(), async () => 'done')
  leaving.abort(new Error('gone'))
  await assert.rejects(left, /gone/)
  await assert.rejects(
    queue.take('a', leaving.signal, async () => assert.fail('the work was called')),
    /gone/,
  )
  resolve()
  await first
  assert.equal(await last, 'done')
})

test('queries without an account run one at a time, beside those of keys', async () => {
  const queue = createFairQueue({ total: 16, perKey: 4 })
  const most: Record<string, number> = {}
  const running: Record<string, number> = {}
  const run = (key: string) =>
    queue.take(key, new AbortController().signal, async () => {
      running[key] = (running[key] ?? 0) + 1
      most[key] = Math.max(most[key] ?? 0, running[key])
      await new Promise((resolve) => setImmediate(resolve))
      running[key]--
    })
  const keys = [publicQueueKey, 'a key']
  await Promise.all(Array.from({ length: 12 }, (_, index) => run(keys[index % 2] as string)))
  assert.deepEqual(most, { [publicQueueKey]: 1, 'a key': 4 })
})
