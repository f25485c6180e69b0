// Conditions on the responses of several processes while Redis goes down and comes back, judged from the responses alone.
import type { Key } from './fleet.ts'
import { lowestBefore, type Observation, quantile } from './load.ts'

/** A time without Redis, in monotonic milliseconds. */
export interface Spell {
  beganAt: number
  endedAt: number
}

/** Until every process has noticed: one timeout and one probe, plus room for a busy machine. */
export const onsetMs = 500

/** The faults in the responses to some keys. */
export const faultsIn = (observations: readonly Observation[]): string[] =>
  [...Map.groupBy(observations, ({ key }) => key)].flatMap(([key, own]) =>
    faultsOf(key, own).map((fault) => `${key.name}: ${fault}`),
  )

function faultsOf({ limit }: Key, observations: Observation[]): string[] {
  const faults: string[] = []
  const wrong = observations.find(
    (one) => ![400, 429].includes(one.status) || one.limit !== limit || !(one.remaining >= 0) || !(one.reset > 0),
  )
  if (wrong) faults.push(`an answer ${wrong.status} with ${wrong.limit}, ${wrong.remaining}, ${wrong.reset}`)
  const resets = new Set(observations.map(({ reset }) => reset))
  if (resets.size !== 1) faults.push(`X-RateLimit-Reset was ${[...resets].join(', ')}`)
  const refused = observations.filter(({ status }) => status === 429)
  if (refused.some(({ remaining, retryAfter }) => remaining !== 0 || !(retryAfter >= 1))) faults.push('a wrong 429')

  for (const own of Map.groupBy(observations, ({ process }) => process).values()) {
    const [one, lowest] = takenBack(own, () => true) ?? []
    if (one) faults.push(`process ${one.process} returned ${lowest}, and later ${one.remaining}`)
  }
  const [one, lowest] = takenBack(observations, ({ settled }) => settled) ?? []
  if (one) faults.push(`a process returned ${lowest}, and later process ${one.process} returned ${one.remaining}`)
  return faults
}

/** A request that succeeded although an earlier response had already shown as few requests remaining, or fewer. */
const takenBack = (among: readonly Observation[], judged: (one: Observation) => boolean) =>
  lowestBefore(among)
    .entries()
    .find(([one, lowest]) => judged(one) && one.status !== 429 && one.remaining >= lowest)

/** The time that the rate limit adds to a request, in milliseconds: with Redis, in the whole outage, and after its onset. */
export function addedBy(observations: readonly Observation[], spells: readonly Spell[]) {
  const added = (share: number, isWithin: (at: number, spell: Spell) => boolean) => {
    const some = observations.filter(({ sentAt }) => spells.some((spell) => isWithin(sentAt, spell)))
    const known = some.map(({ addedMs }) => addedMs).filter((one) => one !== undefined)
    return Math.round(10 * quantile(known, share)) / 10
  }
  const afterOnset = (at: number, { beganAt, endedAt }: Spell) => at >= beganAt + onsetMs && at < endedAt
  return {
    p99Before: added(0.99, (at, { beganAt }) => at > beganAt - 900 && at < beganAt - 50),
    p99: added(0.99, (at, { beganAt, endedAt }) => at >= beganAt && at < endedAt),
    p99AfterOnset: added(0.99, afterOnset),
    medianAfterOnset: added(0.5, afterOnset),
  }
}

/** At first Redis's timeout of 100 ms, then nothing, and Redis is used again soon, with tolerance for a busy machine. */
export function slownessIn(added: ReturnType<typeof addedBy>, recoveryMs: number): string[] {
  const { p99Before, p99, p99AfterOnset, medianAfterOnset } = added
  const noise = 10 * Math.max(0, p99Before)
  const faults: string[] = []
  if (recoveryMs > 2_000 + noise) faults.push(`Redis was used again ${recoveryMs} ms after its return`)
  if (p99 > 150 + noise) faults.push(`${p99} ms added while Redis is down`)
  if (p99AfterOnset > 60 + noise) faults.push(`${p99AfterOnset} ms added after the onset`)
  if (medianAfterOnset > 30) faults.push(`${medianAfterOnset} ms added to most requests after the onset`)
  return faults
}
