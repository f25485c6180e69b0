// The rate limit is exact over many processes, equals a model over random schedules, and stays bounded while Redis is down.
//   npm run check:limit -- --requests 100000 --processes 8 --seed 7
//   npm run check:limit -- --requests 20000 --processes 4 --schedules 5000 --outage 1     the short form, below 25 s
//   npm run check:limit -- --outage 1 --hold 60                                           Redis down for a minute, twice
// A part with the number 0 is skipped and is null in the result.
import { parseArgs } from 'node:util'
import { seeded } from '../../support/random.ts'
import { late } from '../runner.ts'
import { checkExactness } from './exact.ts'
import { startFleet } from './fleet.ts'
import { checkOutage } from './outage.ts'
import { checkMemory, checkRedis } from './schedules.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    processes: { type: 'string', default: '8' },
    schedules: { type: 'string', default: '100000' },
    /** How often Redis hangs and then dies. */
    outage: { type: 'string', default: '2' },
    /** How many seconds each outage lasts. */
    hold: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const { seed } = values
const [requests, processes, schedules, rounds, holdMs] = [
  Number(values.requests),
  Number(values.processes),
  Number(values.schedules),
  Number(values.outage),
  Number(values.hold) * 1000,
]

const beganAt = performance.now()
const elapsed = () => Math.round((performance.now() - beganAt) / 100) / 10
const say = (text: string): void => void process.stderr.write(`${elapsed()} s  ${text}\n`)

// The servers are killed when this process exits. An unhandled signal would skip that.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const giveUp = () => {
  say('The check exceeds its time limit')
  process.exit(1)
}
setTimeout(giveUp, 600_000 + 4 * rounds * holdMs).unref()

say(`seed ${seed}, starting ${processes} processes`)
const fleet = await startFleet(processes)
try {
  say(`${requests} requests, 200 at a time`)
  const exactness = requests > 0 ? await checkExactness(fleet, requests, seeded(`${seed}/exact`)) : undefined
  say(`${schedules} schedules`)
  // Schedules with the Lua script use a real server, at a twentieth of the speed.
  const memory = await checkMemory(schedules, seed)
  const redis = await checkRedis(fleet.redis.url, Math.ceil(schedules / 20), seed)
  say(`${memory.requests} and ${redis.requests} requests in schedules; ${rounds} times two outages`)
  const random = seeded(`${seed}/outage`)
  const outage = rounds > 0 ? await checkOutage(fleet, { rounds, holdMs, random, say }) : undefined

  const faults = [exactness?.faults, memory.examples, redis.examples, outage?.faults].flatMap((some) => some ?? [])
  const slow = outage?.slow ?? []
  for (const fault of [...faults, ...slow].slice(0, 20)) say(`FAULT ${fault}`)
  const ok = faults.length + slow.length === 0
  process.exitCode = ok ? 0 : faults.length === 0 ? late : 1
  await fleet.stop()
  const result = {
    check: 'limit',
    seed,
    requests,
    processes,
    keys: exactness?.keys ?? null,
    requestsPerSecond: exactness?.requestsPerSecond ?? null,
    attempts: exactness?.attempts ?? null,
    schedules: { memory: memory.schedules, redis: redis.schedules },
    differences: memory.differences + redis.differences,
    outage: outage?.figures ?? null,
    faults: faults.length + slow.length,
    seconds: elapsed(),
    ok,
  }
  console.log(JSON.stringify(result))
} finally {
  await fleet.stop()
}
