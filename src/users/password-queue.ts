// Passwords are hashed one at a time, because API and collector need the cores. Those who wait have two lanes that take turns: whoever comes
// from nowhere fills only the lane of the unknown (decision D-209). When a lane is full, more are refused at once.

/** Thrown when too many hashes wait. */
export class PasswordsBusy extends Error {}

/** Runs the work when it is its turn. `known`: who waits, if that is not just anybody. */
export type PasswordQueue = <Value>(known: string | undefined, work: () => Promise<Value>) => Promise<Value>

interface Waiting {
  known: string | undefined
  /** Resolves when it is hashed; never rejects. */
  run(): Promise<void>
}

type Lane = 'known' | 'unknown'

/** After a hash nothing is hashed for as long as it took, but no longer than this: sign-ins at full speed leave cores and caches to others. */
const maxRestMs = 50
/** So that nobody fills the lane of the known alone. */
const maxOfOne = 3

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

  return <Value>(known: string | undefined, work: () => Promise<Value>) => {
    const lane = lanes[known === undefined ? 'unknown' : 'known']
    const own = known === undefined ? 0 : lane.filter((one) => one.known === known).length
    if (lane.length >= maxWaiting || own >= maxOfOne) return Promise.reject(new PasswordsBusy('Too many sign-ins wait'))
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    lane.push({ known, run: () => work().then(resolve, reject) })
    if (!isWorking) void workOff()
    else if (known !== undefined) endRest()
    return promise
  }
}
