// Readers query a site constantly while its days are rolled up again: each response is from before or after a rollup run.
import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

// 10,000 with FOOTFALL_FULL=1 (npm run check:rollup).
const minReads = process.env.FOOTFALL_FULL ? 10_000 : 150
const readers = 4

test(`${minReads} reads during rebuilds show each day before or after, never in between`, async (t) => {
  // Other tests cover the rate limit: here its hour lasts one second.
  const limiter = memoryLimiter(() => Date.now() * 3_600)
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z', limiter })
  const days = ['2026-02-03', '2026-02-04', '2026-03-01']
  // Each visitor has one pageview and one session, so the three counts are equal in every complete state.
  const visit = (number: number) => days.map((day) => pageview({ at: `${day}T10:00:00Z`, visitor: `${number}` }))
  await world.record(...visit(0))
  await world.rollUp('2026-03-14')

  /** Visits on each day: those that were sent, and those that every answer must have. */
  let [recorded, complete] = [1, 1]
  let reads = 0
  let running = true
  const read = async () => {
    let seen = 0
    while (running) {
      const least = complete
      const { current } = await world.data('/stats/overview', {
        range: 'custom',
        start: '2026-01-01',
        end: '2026-03-14',
      })
      const { visitors, pageviews, sessions } = current
      assert.deepEqual([pageviews, sessions], [visitors, visitors])
      // With replicas, queries may wait: one that waits while a visit is recorded may count it on one day and not on another.
      if (!world.stores.clickhouse.replicas)
        assert.ok(visitors % days.length === 0, `${visitors} visitors: part of a batch`)
      const [from, to] = [least * days.length, recorded * days.length]
      assert.ok(visitors >= from && visitors <= to, `${visitors} visitors instead of ${from} to ${to}`)
      assert.ok(visitors >= seen, `${visitors} visitors after ${seen}`)
      seen = visitors
      reads++
    }
  }
  const reading = Promise.all(Array.from({ length: readers }, read))
  const failed = reading.then(
    () => {},
    () => {
      running = false
    },
  )
  for (let round = 1; (reads < minReads || round < 4) && running; round++) {
    recorded++
    await world.record(...visit(round))
    complete = recorded
    await world.rollUp('2026-03-14')
    await world.invalidate(...days.slice(round % 3))
    await world.rollUp('2026-03-14')
  }
  running = false
  await failed
  await reading
  const { current } = await world.data('/stats/overview', { range: 'custom', start: '2026-01-01', end: '2026-03-14' })
  assert.equal(current.visitors, recorded * days.length)
})
