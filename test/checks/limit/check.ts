// The rate limit is exact over many processes, equals a model over random schedules, and stays bounded while Redis is down.
//   npm run check:limit -- --requests 100000 --processes 8 --seed 7
//   npm run check:limit -- --requests 20000 --processes 4 --schedules 5000 --outage 1     the short form, below 25 s
//   npm run check:limit -- --outage 1 --hold 60                                           Redis down for a minute, twice
// A part with the number 0 is skipped and is null in the result.
import { seeded } from '../../support/random.ts'
import { runCheck } from '../runner.ts'
import { checkExactness } from './exact.ts'
import { startFleet } from './fleet.ts'
import { checkOutage } from './outage.ts'
import { checkMemory, checkRedis } from './schedules.ts'

await runCheck(
  {
    name: 'limit',
    // Redis hangs and then dies `outage` times, for `hold` seconds each.
    options: { requests: 100_000, processes: 8, schedules: 100_000, outage: 2, hold: 2 },
    mayBeZero: ['requests', 'schedules', 'outage'],
    seconds: ({ outage, hold }) => 600 + 4 * outage * hold,
  },
  async ({ seed, say, onEnd, fault, slow }, { requests, processes, schedules, outage: rounds, hold }) => {
    const fleet = await startFleet(processes)
    onEnd(fleet.stop)
    say(`${requests} requests, 200 at a time`)
    const exactness = requests > 0 ? await checkExactness(fleet, requests, seeded(`${seed}/exact`)) : undefined
    for (const text of exactness?.faults ?? []) fault('not exact', text)
    say(`${schedules} schedules`)
    // Schedules with the Lua script use a real server, at a twentieth of the speed.
    const memory = await checkMemory(schedules, seed)
    const redis = await checkRedis(fleet.redis.url, Math.ceil(schedules / 20), seed)
    for (const example of [...memory.examples, ...redis.examples]) fault('not equal to the model', example)
    say(`${memory.requests} and ${redis.requests} requests in schedules; ${rounds} times two outages`)
    const random = seeded(`${seed}/outage`)
    const outage = rounds > 0 ? await checkOutage(fleet, { rounds, holdMs: hold * 1000, random, say }) : undefined
    for (const text of outage?.faults ?? []) fault('outage', text)
    for (const text of outage?.slow ?? []) slow('slow in an outage', text)
    return {
      keys: exactness?.keys ?? null,
      requestsPerSecond: exactness?.requestsPerSecond ?? null,
      attempts: exactness?.attempts ?? null,
      schedules: { memory: memory.schedules, redis: redis.schedules },
      differences: memory.differences + redis.differences,
      outage: outage?.figures ?? null,
    }
  },
)
