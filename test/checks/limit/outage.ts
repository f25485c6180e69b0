// Redis hangs and recovers, dies and returns empty, under load (decisions D-45 and D-70). All the time:
//   - every request is counted and gets a response with its headers: no 5xx, no missing response;
//   - the X-RateLimit-Reset of a key stays the same;
//   - the numbers of a process never go back up: a request sent after a response with some `Remaining` gets a lower one, or a 429. Across
//     processes this holds while Redis is up and each process has used it once since the outage; from then on the values go down one by
//     one again, from the lowest that any process returned;
//   - while Redis is down, a process allows as many requests as it believed to remain and no more, so that all processes together
//     exceed the limit by at most processes x remaining.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { degraded, isUp, metricOf, redisLines } from '../../support/redis-signs.ts'
import type { Fleet, Key } from './fleet.ts'
import { createLoad, type Load } from './load.ts'
import { addedBy, faultsIn, onsetMs, type Spell, slownessIn } from './outage-rules.ts'

const perSecond = 200
/** What remains of the nearly used-up key when Redis goes down. */
const leftOver = 20
const exactAfterwards = 100

export interface OutageOptions {
  rounds: number
  holdMs: number
  random: Random
  say(text: string): void
}

export async function checkOutage(fleet: Fleet, { rounds, holdMs, random, say }: OutageOptions) {
  const { redis } = fleet
  const kinds = [
    { name: 'hangs', begin: async () => redis.signal('SIGSTOP'), end: async () => redis.signal('SIGCONT') },
    { name: 'dies', begin: () => redis.kill(), end: () => redis.start() },
  ]
  const outages = Array.from({ length: rounds }, () => kinds).flat()

  // Enough keys that the load uses none of them up, and one key per outage that is used up.
  const requests = outages.length * ((holdMs + 6_000) / 1000) * perSecond
  const keys = await newKeys(fleet, 'Agency', Math.ceil(requests / 4_000))
  const tight = (await newKeys(fleet, 'Starter', outages.length)).values()
  await sleep(directoryMs)
  const load = createLoad(fleet, keys, perSecond, random)
  const linesBefore = fleet.processes.map((api) => redisLines(api).length)
  // Each process must have seen each window, or it could only begin its own while Redis is down.
  for (const key of keys) await everywhere(fleet, load, key)

  const result = { spells: [] as Spell[], overAdmission: 0, overAdmissionBound: 0, slowestRecoveryMs: 0 }
  const faults: string[] = []
  for (const { name, begin, end } of outages) {
    say(`Redis ${name}`)
    const key = tight.next().value as Key
    const believed = await nearlyUseUp(fleet, load, key)
    load.resume()
    await sleep(1_000)
    const aloneBefore = await metrics(fleet, degraded)

    load.unsettle()
    const beganAt = performance.now()
    await begin()
    await sleep(onsetMs)
    const allowed = await overspend(load, key, believed)
    if (allowed.join() !== believed.join()) faults.push(`allowed ${allowed}, but believed ${believed} to remain`)
    const excess = sumOf(allowed) - Math.min(...believed)
    result.overAdmission = Math.max(result.overAdmission, excess)
    result.overAdmissionBound = Math.max(result.overAdmissionBound, fleet.processes.length * Math.max(...believed))
    await sleep(Math.max(0, beganAt + holdMs - performance.now()))
    const upWithout = await metrics(fleet, isUp)
    if (upWithout.some((up) => up !== 0)) faults.push(`${isUp} is ${upWithout} while Redis is down`)

    result.spells.push({ beganAt, endedAt: performance.now() })
    await end()
    const backAt = performance.now()
    await untilAllAreUp(fleet)
    result.slowestRecoveryMs = Math.max(result.slowestRecoveryMs, Math.round(performance.now() - backAt))
    await load.pause()
    const alone = await metrics(fleet, degraded)
    if (alone.some((count, process) => count === aloneBefore[process])) faults.push(`${degraded} has stayed ${alone}`)
    faults.push(...(await exactAgain(fleet, load, keys, key)))
    const aloneAfter = await metrics(fleet, degraded)
    if (aloneAfter.join() !== alone.join()) faults.push(`${degraded} still rises after the return of Redis`)
  }

  const expected = outages.flatMap(() => ['Redis does not answer', 'Redis answers again'])
  for (const [process, api] of fleet.processes.entries()) {
    const lines = redisLines(api).slice(linesBefore[process])
    if (lines.join() !== expected.join()) faults.push(`process ${process} logged ${lines.join(', ')}`)
  }
  const { spells, ...figures } = result
  const { observations, broken } = load
  const addedMs = addedBy(observations, spells)
  if (broken.length > 0) faults.push(`${broken.length} requests got no response: ${broken[0]}`)
  return {
    figures: {
      outages: outages.length,
      requests: observations.length,
      fiveHundreds: observations.filter(({ status }) => status >= 500).length,
      addedMs,
      ...figures,
    },
    faults: [...faults, ...faultsIn(observations)],
    slow: slownessIn(addedMs, figures.slowestRecoveryMs),
  }
}

/** Until every process has heard of the new keys. */
const directoryMs = 1_200

const newKeys = (fleet: Fleet, plan: 'Agency' | 'Starter', count: number): Promise<Key[]> =>
  Promise.all(Array.from({ length: count }, () => fleet.newKey(plan)))

const everywhere = (fleet: Fleet, load: Load, key: Key) =>
  Promise.all(fleet.processes.map((_, process) => load.ask(process, key)))

/** Uses a key until little is left, and returns how much each process believes that to be. */
async function nearlyUseUp(fleet: Fleet, load: Load, key: Key): Promise<number[]> {
  const size = fleet.processes.length
  await everywhere(fleet, load, key)
  let sent = 2 * size
  const spend = async (process: number) => {
    while (sent++ < key.limit - leftOver) await load.ask(process, key)
  }
  await Promise.all(fleet.processes.map((_, process) => spend(process)))
  const believed: number[] = []
  for (let process = 0; process < size; process++) believed.push((await load.ask(process, key)).remaining)
  return believed
}

/** Sends each process twice what it believes to remain, and returns how many each allowed. */
const overspend = (load: Load, key: Key, believed: readonly number[]): Promise<number[]> =>
  Promise.all(
    believed.map(async (remaining, process) => {
      const answers = await Promise.all(Array.from({ length: 2 * remaining }, () => load.ask(process, key)))
      return answers.filter(({ status }) => status !== 429).length
    }),
  )

/** With the load paused: each process tells Redis what it knows, and from then on each count is returned once. */
async function exactAgain(fleet: Fleet, load: Load, keys: readonly Key[], usedUp: Key): Promise<string[]> {
  const faults: string[] = []
  for (const key of [...keys, usedUp]) await everywhere(fleet, load, key)
  load.settle()
  for (const key of keys) {
    const lowest = Math.min(...load.observations.filter((one) => one.key === key).map(({ remaining }) => remaining))
    const answers = await Promise.all(
      Array.from({ length: exactAfterwards }, (_, count) => load.ask(count % fleet.processes.length, key)),
    )
    const got = answers.map(({ remaining }) => remaining).sort((a, b) => b - a)
    const expected = Array.from({ length: exactAfterwards }, (_, count) => lowest - 1 - count)
    if (got.join() === expected.join()) continue
    faults.push(`${key.name} continued from ${lowest} with ${got.slice(0, 5).join(', ')}…`)
  }
  const late = await everywhere(fleet, load, usedUp)
  if (late.some(({ status }) => status !== 429))
    faults.push(`${usedUp.name} was used up before the outage, but not after it`)
  return faults
}

const metrics = (fleet: Fleet, name: string): Promise<number[]> =>
  Promise.all(fleet.processes.map((api) => metricOf(api, name)))

async function untilAllAreUp(fleet: Fleet): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await metrics(fleet, isUp)).every((up) => up === 1)) return
    await sleep(25)
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
