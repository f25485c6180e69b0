// What must hold for the answers of a fleet while Redis comes and goes, told from the answers alone.
import type { Key } from './fleet.ts'
import { lowestBefore, type Observation, quantile } from './load.ts'

/** A time without Redis, in monotonic milliseconds. */
export interface Spell {
  beganAt: number
  endedAt: number
}

/** Until every process has noticed: one deadline and one probe, and some patience with a busy machine. */
export const onsetMs = 500

/** What is wrong with the answers to some keys. */
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
    if (one) faults.push(`process ${one.process} had printed ${lowest}, and later ${one.remaining}`)
  }
  const [one, lowest] = takenBack(observations, ({ settled }) => settled) ?? []
  if (one) faults.push(`some process had printed ${lowest}, and later process ${one.process} ${one.remaining}`)
  return faults
}

/** A request that was let through although, when it was sent, an answer had already shown as few remaining, or fewer. */
const takenBack = (among: readonly Observation[], judged: (one: Observation) => boolean) =>
  lowestBefore(among)
    .entries()
    .find(([one, lowest]) => judged(one) && one.status !== 429 && one.remaining >= lowest)

/** What the gate adds to a request, in milliseconds: with Redis, in the whole of an outage, and after its onset. */
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

/** Redis's deadline of 100 ms once, then nothing, and used again soon; with allowance for a machine that makes everybody wait. */
export function slownessIn(added: ReturnType<typeof addedBy>, recoveryMs: number): string[] {
  const { p99Before, p99, p99AfterOnset, medianAfterOnset } = added
  const noise = 10 * Math.max(0, p99Before)
  const faults: string[] = []
  if (recoveryMs > 2_000 + noise) faults.push(`Redis is used again only ${recoveryMs} ms after it is back`)
  if (p99 > 150 + noise) faults.push(`${p99} ms added while Redis is away`)
  if (p99AfterOnset > 60 + noise) faults.push(`${p99AfterOnset} ms added after the onset`)
  if (medianAfterOnset > 30) faults.push(`${medianAfterOnset} ms added to most requests after the onset`)
  return faults
}
