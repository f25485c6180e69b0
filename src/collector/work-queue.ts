// Whole requests, taken in one after the other. With thousands of connections one turn of the event loop reads from all of them; were
// they all taken in there and then, timers, databases and the spool would wait for seconds, and everything made of them would be in
// memory at once. What waits here is as it came: bytes, outside of V8's heap (decision D-153).
import { Unavailable } from '../stores/breaker.ts'

export interface WorkQueue {
  /** `bytes`: how much is being worked on until `work` is settled. Throws Unavailable when its turn came too late. */
  run<Result>(bytes: number, work: () => Promise<Result>): Promise<Result>
}

/** Of one turn of the event loop. A list of fifty events takes some 2 ms. */
const turnMs = 10
/** Some fifteen of the longest lists or a thousand single events; with more under way everything made of them survives into V8's old space. */
const mostBytesUnderWay = 1024 * 1024
/** Whoever waited longer has mostly given up: a refusal costs a hundredth of taking a list of events in. */
const longestWaitMs = 2_000

export function createWorkQueue(now: () => number = monotonic): WorkQueue {
  const waiting: { since: number; begin(isLate: boolean): void }[] = []
  let bytesUnderWay = 0
  let turnEnds: number | undefined

  /** The first work of a turn of the event loop begins it, and the next turn goes on with who is left. */
  function hasTime(): boolean {
    if (turnEnds === undefined) {
      turnEnds = now() + turnMs
      setImmediate(() => {
        turnEnds = undefined
        goOn()
      })
    }
    return now() < turnEnds
  }

  function goOn(): void {
    while (waiting.length > 0 && bytesUnderWay < mostBytesUnderWay && hasTime()) {
      const next = waiting.shift()
      next?.begin(now() - next.since > longestWaitMs)
    }
  }

  function begin<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    bytesUnderWay += bytes
    return Promise.try(work).finally(() => {
      bytesUnderWay -= bytes
      goOn()
    })
  }

  return {
    run(bytes, work) {
      if (waiting.length === 0 && bytesUnderWay < mostBytesUnderWay && hasTime()) return begin(bytes, work)
      return new Promise((resolve, reject) => {
        waiting.push({
          since: now(),
          begin: (isLate) =>
            isLate ? reject(new Unavailable('Too much has come at once')) : resolve(begin(bytes, work)),
        })
      })
    },
  }
}

const monotonic = () => performance.now()
