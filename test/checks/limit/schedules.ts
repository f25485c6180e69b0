// Compares the limiters with the model over random schedules on a simulated clock. The Redis limiter runs its real script in a real Redis.
// Only its call for the time is replaced, so that hours pass at once and window ends are exact to the millisecond.
import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@redis/client'
import { type Limiter, memoryLimiter, redisLimiter } from '../../../src/api/rate-limit.ts'
import type { Redis } from '../../../src/stores/redis.ts'
import { type Random, seeded } from '../../support/random.ts'
import { Model } from './model.ts'

export interface Schedules {
  schedules: number
  requests: number
  differences: number
  /** The first few differences, step by step. */
  examples: string[]
}

interface Clock {
  at: number
}

/** Control over the Redis behind the limiters. */
interface Ground {
  down: boolean
  /** Drops keys, as Redis does when they expire or when it returns without its data. */
  drop(keys: string[]): Promise<void>
  /** The count and the end stored in Redis. */
  read(key: string): Promise<[number, number] | undefined>
}

/** So far in the future that no key expires while the check runs. */
const begin = Date.UTC(2100, 0, 1)
const hourMs = 3_600_000
const limits = [1, 2, 3, 5, 8, 1000]
const keys = ['a', 'b']

export async function checkMemory(count: number, seed: string): Promise<Schedules> {
  const clock: Clock = { at: begin }
  return playAll(count, 1, `${seed}/memory`, (random) => {
    clock.at = begin + random.below(hourMs)
    return play(random, clock, [memoryLimiter(() => clock.at)], '')
  })
}

export async function checkRedis(url: string, count: number, seed: string): Promise<Schedules> {
  const client = await createClient({ url })
    .on('error', () => {})
    .connect()
  try {
    return await playAll(count, 32, `${seed}/redis`, async (random, number) => {
      const clock: Clock = { at: begin + random.below(hourMs) }
      const prefix = `schedule-${number}-`
      const ground: Ground = {
        down: false,
        drop: async (some) => void (await client.del(some.map((key) => `${prefix}${key}`))),
        async read(key) {
          const [value, end] = await Promise.all([client.get(`${prefix}${key}`), client.pExpireTime(`${prefix}${key}`)])
          return value === null ? undefined : [Number(value), end]
        },
      }
      // While Redis is up only its clock counts, so the clocks of the processes may be hours off.
      const isCalm = random.oneIn(3)
      const limiters = Array.from({ length: 1 + random.below(3) }, () => {
        const skew = isCalm ? random.below(4 * hourMs) - 2 * hourMs : 0
        const redis = onClock(client, clock, ground)
        return redisLimiter({ redis, prefix, now: () => clock.at + skew, onDegraded: () => {} })
      })
      const difference = await play(random, clock, limiters, isCalm ? 'calm' : 'rough', ground)
      await ground.drop(keys)
      return difference
    })
  } finally {
    client.destroy()
  }
}

async function playAll(
  count: number,
  atOnce: number,
  seed: string,
  playOne: (random: Random, number: number) => Promise<Played>,
): Promise<Schedules> {
  const result: Schedules = { schedules: 0, requests: 0, differences: 0, examples: [] }
  const numbers = Array.from({ length: count }, (_, number) => number).values()
  const player = async () => {
    for (const number of numbers) {
      const { requests, difference } = await playOne(seeded(`${seed}/${number}`), number)
      result.schedules++
      result.requests += requests
      if (difference === undefined) continue
      result.differences++
      if (result.examples.length < 3) result.examples.push(`${seed}/${number}:\n${difference}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, player))
  return result
}

interface Played {
  requests: number
  difference?: string
}

/** Without `ground` there is no Redis and only one process. */
async function play(
  random: Random,
  clock: Clock,
  limiters: Limiter[],
  weather: string,
  ground?: Ground,
): Promise<Played> {
  const model = new Model()
  const plan = new Map(keys.map((key) => [key, random.pick(limits)]))
  const trace: string[] = []
  const steps = 5 + random.below(30)
  for (let step = 1; step <= steps; step++) {
    const process = random.below(limiters.length)
    const key = random.oneIn(4) ? 'b' : 'a'
    clock.at = later(random, clock.at, model.endOf(process, key))
    if (random.oneIn(10)) plan.set(key, random.pick(limits))
    if (ground) {
      const expired = keys.filter((one) => (model.shared(one)?.end ?? Number.POSITIVE_INFINITY) <= clock.at)
      if (expired.length > 0 && random.oneIn(2)) await ground.drop(expired)
      if (weather === 'rough' && random.oneIn(8)) ground.down = !ground.down
      if (weather === 'rough' && random.oneIn(12)) {
        await ground.drop(keys)
        model.loseRedis()
        trace.push('Redis lost its data')
      }
    }
    const isThere = ground !== undefined && !ground.down
    const limit = plan.get(key) as number
    const expected = model.spend(process, key, limit, clock.at, isThere)
    const got = await limiters[process]?.spend(key, limit)
    trace.push(
      `${clock.at - begin} process ${process} key ${key} Redis ${isThere ? 'there' : 'away'}: ${JSON.stringify(got)}`,
    )
    if (!isDeepStrictEqual(got, expected)) {
      return { requests: step, difference: [...trace.slice(-8), `expected ${JSON.stringify(expected)}`].join('\n') }
    }
  }
  for (const key of ground ? keys : []) {
    const view = model.shared(key)
    const held = await ground?.read(key)
    if (view && view.end > clock.at && !isDeepStrictEqual(held, [view.used, view.end])) {
      const difference = [...trace.slice(-8), `Redis holds ${held} instead of ${view.used},${view.end}`].join('\n')
      return { requests: steps, difference }
    }
  }
  return { requests: steps }
}

/** The next time: usually soon, often close to the end of the window, sometimes windows later. */
function later(random: Random, at: number, end = at): number {
  const moment = random.pick([
    at,
    at,
    at + 1,
    at + random.below(1000),
    at + random.below(hourMs / 6),
    end - 1,
    end,
    end + 1,
    at + random.below(5 * hourMs),
  ])
  return Math.max(at, moment)
}

const asksTheTime = `redis.call('TIME')`

/** The real client and script, but with a simulated time. */
function onClock(
  client: Pick<ReturnType<typeof createClient>, 'eval'>,
  clock: Clock,
  ground: Ground,
): Pick<Redis, 'run'> {
  return {
    async run({ source }, scriptKeys, values) {
      if (ground.down) throw new Error('Redis is down on purpose')
      if (source.split(asksTheTime).length !== 2) throw new Error('The script must ask Redis for the time exactly once')
      const told = source.replace(asksTheTime, `{ ARGV[#ARGV - 1], ARGV[#ARGV] }`)
      // The microseconds within the millisecond must not matter.
      const time = [Math.floor(clock.at / 1000), (clock.at % 1000) * 1000 + 999].map(String)
      return (await client.eval(told, { keys: scriptKeys, arguments: [...values, ...time] })) as number[]
    },
  }
}
