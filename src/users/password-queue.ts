// Passwords are hashed one at a time, because API and collector need the cores. Waiting requests are in two lanes that take turns: strangers
// fill only the lane `unknown` (decision D-209). A full lane refuses further requests at once.

/** Thrown when too many hashes wait. */
export class PasswordsBusy extends Error {}

/** Runs the work when it is its turn. `requester`: a user or a shared link; undefined for strangers. */
export type PasswordQueue = <Value>(requester: string | undefined, work: () => Promise<Value>) => Promise<Value>

interface Waiting {
  requester: string | undefined
  /** Resolves when it is hashed; never rejects. */
  run(): Promise<void>
}

type Lane = 'known' | 'unknown'

/** After a hash the queue rests for as long as the hash took, at most this long, to leave cores and caches to others. */
const maxRestMs = 50
/** So that nobody fills the lane `known` alone. */
const maxPerRequester = 3

/** `maxWaiting`: in each lane. */
export function createPasswordQueue(maxWaiting: number): PasswordQueue {
  const lanes: Record<Lane, Waiting[]> = { known: [], unknown: [] }
  let last: Lane = 'unknown'
  let isWorking = false
  let endRest = () => {}

  function take(): Waiting | undefined {
    const other = last === 'known' ? 'unknown' : 'known'
    if (lanes[other].length > 0) last = other
    return lanes[last].shift()
  }

  async function workOff(): Promise<void> {
    isWorking = true
    for (let waiting = take(); waiting; waiting = take()) {
      const began = performance.now()
      await waiting.run()
      const isAwaited = last === 'unknown' && lanes.known.length > 0
      if (!isAwaited) await rest(Math.min(performance.now() - began, maxRestMs))
    }
    isWorking = false
  }

  function rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    endRest = () => {
      if (last === 'known') return
      clearTimeout(timer)
      resolve()
    }
    return promise
  }

  return <Value>(requester: string | undefined, work: () => Promise<Value>) => {
    const lane = lanes[requester === undefined ? 'unknown' : 'known']
    const own = requester === undefined ? 0 : lane.filter((one) => one.requester === requester).length
    if (lane.length >= maxWaiting || own >= maxPerRequester)
      return Promise.reject(new PasswordsBusy('Too many sign-ins wait'))
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    lane.push({ requester, run: () => work().then(resolve, reject) })
    if (!isWorking) void workOff()
    else if (requester !== undefined) endRest()
    return promise
  }
}
