import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Limiter, memoryLimiter, redisLimiter, type Spending } from '../../src/api/rate-limit.ts'
import { openRedis, type Redis, script } from '../../src/stores/redis.ts'
import { runs } from '../support/property-runs.ts'
import { redisUrl } from '../support/stores.ts'

const hour = 3_600_000

interface Request {
  key: string
  /** Milliseconds since the previous request. */
  after: number
  limit: number
}

const request: fc.Arbitrary<Request> = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  after: fc.oneof(fc.constantFrom(0, 1, 999, hour - 1, hour, hour + 1), fc.nat({ max: hour / 4 })),
  limit: fc.constantFrom(1, 2, 3, 5),
})
const requests = fc.array(request, { maxLength: 60 })
const begin = fc.integer({ min: 0, max: 4_000_000_000_000 })

/** The rule of D-43 and D-46 over the whole past: the window lasts an hour from its first counted request. */
function replay(begin: number, past: readonly Request[]): Spending[] {
  const counted = new Map<string, { from: number; count: number }>()
  let now = begin
  return past.map(({ key, after, limit }) => {
    now += after
    const known = counted.get(key)
    const window = known && now < known.from + hour ? known : { from: now, count: 0 }
    const allowed = window.count < limit
    if (allowed) counted.set(key, { from: window.from, count: window.count + 1 })
    const used = window.count + (allowed ? 1 : 0)
    const end = window.from + hour
    const remaining = Math.max(0, limit - used)
    return { allowed, limit, remaining, reset: Math.ceil(end / 1000), secondsLeft: Math.ceil((end - now) / 1000) }
  })
}

async function run(begin: number, past: readonly Request[]): Promise<Spending[]> {
  let now = begin
  const limiter = memoryLimiter(() => now)
  const spendings: Spending[] = []
  for (const { key, after, limit } of past) {
    now += after
    spendings.push(await limiter.spend(key, limit))
  }
  return spendings
}

test('in memory: every response follows from the past of its own key (D-43 to D-47)', async () => {
  await fc.assert(
    fc.asyncProperty(begin, requests, async (begin, past) => {
      assert.deepEqual(await run(begin, past), replay(begin, past))
    }),
    runs(2_000),
  )
})

test('in memory: a refused request does not affect later ones (D-46)', async () => {
  await fc.assert(
    fc.asyncProperty(begin, requests, async (begin, past) => {
      const all = await run(begin, past)
      let waited = 0
      const allowedOnly = past.flatMap((request, index) => {
        const after = request.after + waited
        waited = all[index]?.allowed ? 0 : after
        return all[index]?.allowed ? [{ ...request, after }] : []
      })
      assert.deepEqual(
        await run(begin, allowedOnly),
        all.filter(({ allowed }) => allowed),
      )
    }),
    runs(1_000),
  )
})

test('in memory: the window ends an hour after its first request to the millisecond, and the reset never moves', async () => {
  let now = 1_773_500_966_535
  const limiter = memoryLimiter(() => now)
  const reset = Math.ceil((now + hour) / 1000)
  const spend = async () => {
    const { allowed, remaining, reset, secondsLeft } = await limiter.spend('key', 2)
    return [allowed, remaining, reset, secondsLeft]
  }
  assert.deepEqual(await spend(), [true, 1, reset, 3600])
  now += hour - 1
  assert.deepEqual(await spend(), [true, 0, reset, 1])
  assert.deepEqual(await spend(), [false, 0, reset, 1])
  now += 1
  assert.deepEqual(await spend(), [true, 1, reset + 3600, 3600])
})

const forget = script("redis.call('DEL', KEYS[1]) return {}")

interface Processes {
  limiters: Limiter[]
  /** Makes Redis forget the key, like a restart without data. */
  empty(): Promise<unknown>
}

/**
 * Runs a test on limiters of several processes with one Redis. On a machine so busy that Redis exceeds its 100 ms, they count locally, which
 * is another test: then this one starts over.
 */
async function inRedis(count: number, run: (processes: Processes) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const prefix = `footfall_unit_${randomUUID()}:`
    const connections = Array.from({ length: count }, () => openRedis(redisUrl, () => {}))
    const degraded: Error[] = []
    const onDegraded = (error: Error) => degraded.push(error)
    const limiters = connections.map((redis) => redisLimiter({ redis, prefix, now: Date.now, onDegraded }))
    const empty = () => (connections[0] as Redis).run(forget, [`${prefix}key`], [])
    try {
      await run({ limiters, empty })
      if (degraded.length === 0) return
    } catch (error) {
      if (degraded.length === 0) throw error
    } finally {
      await empty().catch(() => {})
      await Promise.all(connections.map((redis) => redis.close()))
    }
    if (attempt === 20) throw new Error('Redis did not answer in time, twenty times over', { cause: degraded[0] })
  }
}

const spendTimes = (limiter: Limiter, times: number, limit: number) =>
  Promise.all(Array.from({ length: times }, () => limiter.spend('key', limit)))

test('in Redis: parallel requests to several processes are allowed exactly up to the limit, with one reset (D-43, D-45)', () =>
  inRedis(3, async ({ limiters }) => {
    const all = (await Promise.all(limiters.map((limiter) => spendTimes(limiter, 12, 20)))).flat()
    const allowed = all.filter(({ allowed }) => allowed)
    assert.equal(allowed.length, 20)
    assert.deepEqual(
      allowed.map(({ remaining }) => remaining).sort((one, other) => other - one),
      Array.from({ length: 20 }, (_, index) => 19 - index),
    )
    assert.ok(all.every(({ allowed, remaining }) => allowed || remaining === 0))
    assert.equal(new Set(all.map(({ reset }) => reset)).size, 1)
  }))

test('in Redis: later requests, even to other processes, do not move the window (D-44)', () =>
  inRedis(2, async ({ limiters }) => {
    const [one, other] = limiters as [Limiter, Limiter]
    const { reset } = await one.spend('key', 5)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.deepEqual([(await other.spend('key', 5)).reset, (await one.spend('key', 5)).reset], [reset, reset])
  }))

test('in Redis: after Redis is emptied, counting continues from what the process saw, in the same window (D-45)', () =>
  inRedis(1, async ({ limiters, empty }) => {
    const [limiter] = limiters as [Limiter]
    const before = await spendTimes(limiter, 3, 5)
    await empty()
    const after = [
      ...(await spendTimes(limiter, 1, 5)),
      ...(await spendTimes(limiter, 1, 5)),
      ...(await spendTimes(limiter, 1, 5)),
    ]
    assert.deepEqual(
      after.map(({ allowed, remaining }) => [allowed, remaining]),
      [
        [true, 1],
        [true, 0],
        [false, 0],
      ],
    )
    assert.equal(new Set([...before, ...after].map(({ reset }) => reset)).size, 1)
  }))

test('in Redis: a new limit applies at once and used requests stay used (D-47)', () =>
  inRedis(2, async ({ limiters }) => {
    const [one, other] = limiters as [Limiter, Limiter]
    await spendTimes(one, 3, 3)
    assert.equal((await one.spend('key', 3)).allowed, false)
    assert.equal((await other.spend('key', 5)).remaining, 1)
    assert.deepEqual(await one.spend('key', 2).then(({ allowed, remaining }) => [allowed, remaining]), [false, 0])
  }))

test('peeking shows the running window and changes nothing, in memory and in Redis', async () => {
  let now = 1_773_500_966_535
  const limiter = memoryLimiter(() => now)
  assert.equal(await limiter.peek('key'), undefined)
  await spendTimes(limiter, 2, 5)
  assert.deepEqual(await limiter.peek('key'), { count: 2, endsAt: now + hour })
  assert.equal((await limiter.spend('key', 5)).remaining, 2)
  now += hour
  assert.equal(await limiter.peek('key'), undefined)

  await inRedis(2, async ({ limiters }) => {
    const [one, other] = limiters as [Limiter, Limiter]
    assert.equal(await other.peek('key'), undefined)
    const [{ reset }] = (await spendTimes(one, 3, 5)) as [Spending]
    const seen = await other.peek('key')
    assert.deepEqual([seen?.count, Math.ceil((seen?.endsAt ?? 0) / 1000)], [3, reset])
    assert.equal((await other.spend('key', 5)).remaining, 1)
  })
})

test('without Redis: the process counts locally and refuses at the limit (D-70)', async () => {
  const nowhere = openRedis('redis://127.0.0.1:1', () => {})
  let degraded = 0
  const limiter = redisLimiter({ redis: nowhere, prefix: 'unused:', now: () => 1_000, onDegraded: () => degraded++ })
  const spendings = [await limiter.spend('key', 2), await limiter.spend('key', 2), await limiter.spend('key', 2)]
  assert.deepEqual(spendings, replay(1_000, Array(3).fill({ key: 'key', after: 0, limit: 2 })))
  assert.equal(degraded, 3)
  assert.deepEqual(await limiter.peek('key'), { count: 2, endsAt: 1_000 + hour })
  await nowhere.close()
})
