// Many concurrent requests over all processes: each key succeeds exactly as often as its plan allows, and its headers count down without
// a gap or a repetition (docs/contract.md 8.1, decisions D-43 to D-46).
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { degraded, metricOf } from '../../support/redis-signs.ts'
import type { Fleet, Key } from './fleet.ts'
import type { Answer } from './wire.ts'

const inFlight = 200
/** Until every process has heard of the new keys, so that the burst does not read them all again. */
const directoryMs = 1_200

export interface Exactness {
  keys: Record<string, { limit: number; requests: number; allowed: number }>
  requestsPerSecond: number
  faults: string[]
  /** Requests that a process counted locally because Redis exceeded its time limit. */
  alone: number
}

/**
 * The count is exact while Redis responds in time. On a machine too busy for that, a run proves nothing and is repeated with new keys.
 */
export async function checkExactness(
  fleet: Fleet,
  requests: number,
  random: Random,
): Promise<Exactness & { attempts: number }> {
  await warmUp(fleet)
  for (let attempts = 1; ; attempts++) {
    const result = await runOnce(fleet, requests, random)
    if (result.alone === 0) return { ...result, attempts }
    result.faults.push(`${result.alone} requests were counted without Redis, although it was up all the time`)
    if (attempts === 3) return { ...result, attempts }
  }
}

/** A new process still compiles its code, and is at first too slow for its own time limits under this load. */
async function warmUp(fleet: Fleet): Promise<void> {
  const key = await fleet.newKey('Agency')
  await sleep(directoryMs)
  await Promise.all(
    fleet.processes.map(async (_, process) => {
      for (let count = 0; count < 500; count++) await fleet.ask(process, key)
    }),
  )
}

async function runOnce(fleet: Fleet, requests: number, random: Random): Promise<Exactness> {
  const aloneBefore = await countedAlone(fleet)
  const keys = await Promise.all((['Starter', 'Growth', 'Scale', 'Agency'] as const).map(fleet.newKey))
  const answers = new Map<Key, Answer[]>(keys.map((key) => [key, []]))
  await sleep(directoryMs)
  const ask = async (process: number, key: Key) => void answers.get(key)?.push(await fleet.ask(process, key))

  const began = Date.now()
  // For each key, the first request of its window goes to all processes at the same time. One key after the other, because a process
  // first reads each from PostgreSQL.
  for (const key of keys) await Promise.all(fleet.processes.map((_, process) => ask(process, key)))

  const sum = keys.reduce((total, { limit }) => total + limit, 0)
  // Picked in proportion to the limits, so that the larger ones are used up too.
  const pick = (): Key => {
    let at = random.below(sum)
    for (const key of keys) {
      if (at < key.limit) return key
      at -= key.limit
    }
    throw new Error('never reached: the limits add up to the sum')
  }
  let sent = keys.length * fleet.processes.length
  const stormBegan = performance.now()
  const storm = requests - sent
  await Promise.all(
    Array.from({ length: inFlight }, async (_, worker) => {
      while (sent < requests) {
        sent++
        await ask(worker % fleet.processes.length, pick())
      }
    }),
  )
  const seconds = (performance.now() - stormBegan) / 1000

  return {
    keys: Object.fromEntries(
      [...answers].map(([{ name, limit }, own]) => [
        name,
        { limit, requests: own.length, allowed: own.filter(isAllowed).length },
      ]),
    ),
    requestsPerSecond: Math.round(storm / seconds),
    faults: [...answers].flatMap(([key, own]) => faultsOf(key, own, began).map((fault) => `${key.name}: ${fault}`)),
    alone: (await countedAlone(fleet)) - aloneBefore,
  }
}

const countedAlone = async ({ processes }: Fleet): Promise<number> =>
  (await Promise.all(processes.map((api) => metricOf(api, degraded)))).reduce((sum, count) => sum + count, 0)

const isAllowed = ({ status }: Answer) => status !== 429

function faultsOf({ limit }: Key, answers: Answer[], began: number): string[] {
  const faults: string[] = []
  const expect = (holds: boolean, otherwise: string) => holds || faults.push(otherwise)

  const allowed = answers.filter(isAllowed)
  const refused = answers.filter((answer) => !isAllowed(answer))
  expect(answers.length > limit, `only ${answers.length} requests for a limit of ${limit}: use more --requests`)
  expect(allowed.length === limit, `${allowed.length} allowed for a limit of ${limit}`)

  const statuses = new Set(answers.map(({ status }) => status))
  expect(statuses.isSubsetOf(new Set([400, 429])), `statuses ${[...statuses].join(' ')}`)
  expect(
    answers.every((answer) => answer.limit === limit),
    'a wrong X-RateLimit-Limit',
  )

  const counts = new Map<number, number>()
  for (const { remaining } of allowed) counts.set(remaining, (counts.get(remaining) ?? 0) + 1)
  const missing = Array.from({ length: limit }, (_, value) => value).filter((value) => !counts.has(value))
  const repeated = [...counts].filter(([, count]) => count > 1).map(([value]) => value)
  expect(missing.length === 0, `X-RateLimit-Remaining was never ${missing.slice(0, 5).join(', ')} (${missing.length})`)
  expect(
    repeated.length === 0,
    `X-RateLimit-Remaining more than once: ${repeated.slice(0, 5).join(', ')} (${repeated.length})`,
  )

  const resets = new Set(answers.map(({ reset }) => reset))
  expect(resets.size === 1, `X-RateLimit-Reset was ${[...resets].slice(0, 5).join(', ')}`)
  // An hour after the key's first request, which was sent and answered between these two times.
  const firstAnswer = Math.min(...answers.map(({ receivedAt }) => receivedAt)) + performance.timeOrigin
  const [earliest, latest] = [began, firstAnswer].map((time) => Math.ceil((time + 3_600_000) / 1000)) as [
    number,
    number,
  ]
  expect(
    [...resets].every((reset) => reset >= earliest && reset <= latest),
    `X-RateLimit-Reset ${[...resets].join(', ')} is not within ${earliest} to ${latest}`,
  )

  expect(
    refused.every(({ remaining }) => remaining === 0),
    'a 429 whose X-RateLimit-Remaining is not 0',
  )
  expect(
    refused.every(({ retryAfter }) => retryAfter >= 1 && retryAfter <= 3_600),
    'a 429 without a Retry-After of 1 to 3600',
  )
  return faults
}
