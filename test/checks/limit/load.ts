// A steady stream of requests over all processes. Each response is kept with what was known when it was sent and received.
import type { Random } from '../../support/random.ts'
import type { Fleet, Key } from './fleet.ts'
import type { Answer } from './wire.ts'

export interface Observation extends Answer {
  key: Key
  /** From before it was sent until its response, Redis was up and had the counts of all processes. */
  settled: boolean
  /** How much longer it took than an uncounted request to the same process at the same time. */
  addedMs?: number
}

export interface Load {
  observations: Observation[]
  /** Requests without a response. */
  broken: string[]
  ask(process: number, key: Key): Promise<Observation>
  /** Sends no more requests and waits for the last response. */
  pause(): Promise<void>
  resume(): void
  /** Begins a time in which the counts of all processes agree; `unsettle` ends it. */
  settle(): void
  unsettle(): void
}

export function createLoad(fleet: Fleet, keys: readonly Key[], perSecond: number, random: Random): Load {
  const observations: Observation[] = []
  const broken: string[] = []
  const underWay = new Set<Promise<unknown>>()
  let settled = true
  let epoch = 0
  let timer: NodeJS.Timeout | undefined

  async function ask(process: number, key: Key): Promise<Observation> {
    const [settledBefore, epochBefore] = [settled, epoch]
    const answer = await fleet.ask(process, key)
    const observation = { ...answer, key, settled: settledBefore && epoch === epochBefore }
    observations.push(observation)
    return observation
  }

  function send(): void {
    const process = random.below(fleet.processes.length)
    // Other load on the machine affects both, so their difference is the time of the rate limit.
    const request = Promise.all([ask(process, random.pick(keys)), fleet.askNothing(process)]).then(
      ([observation, nothing]) => {
        observation.addedMs = durationOf(observation) - durationOf(nothing)
      },
      (error: Error) => broken.push(error.message),
    )
    underWay.add(request)
    void request.finally(() => underWay.delete(request))
  }

  return {
    observations,
    broken,
    ask,
    async pause() {
      clearInterval(timer)
      await Promise.all(underWay)
    },
    resume() {
      const began = performance.now()
      let sent = 0
      // By the clock, not by the number of ticks: a late tick sends all requests that are due, as clients would.
      timer = setInterval(() => {
        for (; sent < ((performance.now() - began) / 1000) * perSecond; sent++) send()
      }, 5)
    },
    settle() {
      settled = true
      epoch++
    },
    unsettle() {
      settled = false
      epoch++
    },
  }
}

const durationOf = ({ sentAt, receivedAt }: Answer) => receivedAt - sentAt

/** For each of these observations, the lowest X-RateLimit-Remaining in responses received before it was sent. */
export function lowestBefore(observations: readonly Observation[]): Map<Observation, number> {
  const byReceipt = observations.toSorted((a, b) => a.receivedAt - b.receivedAt)
  const bySending = observations.toSorted((a, b) => a.sentAt - b.sentAt)
  const lowest = new Map<Observation, number>()
  let low = Number.POSITIVE_INFINITY
  let next = 0
  for (const observation of bySending) {
    for (; (byReceipt[next]?.receivedAt ?? Number.POSITIVE_INFINITY) < observation.sentAt; next++) {
      low = Math.min(low, byReceipt[next]?.remaining as number)
    }
    lowest.set(observation, low)
  }
  return lowest
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
