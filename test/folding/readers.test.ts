// Readers hammer a site while its days are folded again and again: each answer is one from before a fold or one from after it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

// Ten thousand with FOOTFALL_FULL=1 (npm run check:fold).
const leastReads = process.env.FOOTFALL_FULL ? 10_000 : 150
const readers = 4

test(`${leastReads} reads while days are folded again show each day before or after, never half`, async (t) => {
  // The rate limit has tests of its own: here an hour of it lasts a second.
  const limiter = memoryLimiter(() => Date.now() * 3_600)
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z', limiter })
  const days = ['2026-02-03', '2026-02-04', '2026-03-01']
  // A visitor is one pageview and one session everywhere, so in any whole state the three counts are equal.
  const visit = (number: number) => days.map((day) => pageview({ at: `${day}T10:00:00Z`, visitor: `${number}` }))
  await world.record(...visit(0))
  await world.fold('2026-03-14')

  let recorded = 1
  let reads = 0
  let running = true
  const read = async () => {
    let seen = 0
    while (running) {
      const { current } = await world.data('/stats/overview', {
        range: 'custom',
        start: '2026-01-01',
        end: '2026-03-14',
      })
      const counts = [current.visitors, current.pageviews, current.sessions]
      assert.deepEqual(counts, counts.fill(current.visitors, 1))
      assert.ok(current.visitors % days.length === 0, `${current.visitors} visitors: half of a batch`)
      assert.ok(current.visitors >= seen && current.visitors <= recorded * days.length)
      seen = current.visitors
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
  for (let round = 1; (reads < leastReads || round < 4) && running; round++) {
    recorded++
    await world.record(...visit(round))
    await world.fold('2026-03-14')
    await world.unfold(...days.slice(round % 3))
    await world.fold('2026-03-14')
  }
  running = false
  await failed
  await reading
  const { current } = await world.data('/stats/overview', { range: 'custom', start: '2026-01-01', end: '2026-03-14' })
  assert.equal(current.visitors, recorded * days.length)
})
