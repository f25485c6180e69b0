// Turns of the event loop stay short, even when many requests arrive together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createWorkQueue } from '../../../src/collector/http/work-queue.ts'
import { Unavailable } from '../../../src/stores/breaker.ts'
import { eventually } from '../../support/eventually.ts'

/** Keeps this thread busy, as parsing does. */
function work(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

test('work that arrives together is spread over turns of the event loop, in order', async () => {
  const queue = createWorkQueue()
  const order: number[] = []
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(
    Array.from({ length: 30 }, (_, number) =>
      queue.run(100, async () => {
        work(5)
        order.push(number)
      }),
    ),
  )
  isOver = true
  assert.deepEqual(
    order,
    Array.from({ length: 30 }, (_, number) => number),
  )
  assert.ok(turns >= 10, `${turns} turns`)
})

test('at most a megabyte is in progress at once', async () => {
  const queue = createWorkQueue()
  let [now, most] = [0, 0]
  await Promise.all(
    Array.from({ length: 100 }, () =>
      queue.run(65_536, async () => {
        most = Math.max(most, ++now)
        await pause(5)
        now--
      }),
    ),
  )
  assert.equal(most, 16)
})

test('work that has waited for more than two seconds is refused, and the next is done', async () => {
  let at = 0
  const queue = createWorkQueue(() => at)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = queue.run(2_000_000, () => promise)
  const late = queue.run(1, async () => {})
  at = 2_001
  resolve()
  await first
  await assert.rejects(late, Unavailable)
  await eventually(() => queue.run(1, async () => {}))
})
