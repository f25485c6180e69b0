// Queues whole requests and processes them one after the other. With thousands of connections one turn of the event loop reads from all
// of them. If all were processed in that turn, timers, databases and the spool would wait for seconds, and everything made from the
// requests would be in memory at once. A queued request is still bytes, outside V8's heap (decision D-153).
import { Unavailable } from '../../stores/breaker.ts'

export interface WorkQueue {
  /** `bytes` count as in progress until `work` settles. Throws Unavailable when the turn comes too late. */
  run<Result>(bytes: number, work: () => Promise<Result>): Promise<Result>
}

/** After this long, timers and sockets get a turn. A list of fifty events takes about 2 ms. */
const turnMs = 10
/** About fifteen of the longest lists or a thousand single events. With more in progress, their objects survive into V8's old space. */
const maxBytesUnderWay = 1024 * 1024
/** Most clients have given up by then, and a refusal costs a hundredth of processing a list of events. */
const maxWaitMs = 2_000

export function createWorkQueue(now: () => number = monotonic): WorkQueue {
  const waiting: { since: number; begin(isLate: boolean): void }[] = []
  let bytesUnderWay = 0
  let turnEnds = now() + turnMs
  let isTurning = false

  /**
   * Whether another request may begin in this turn of the event loop. After 10 ms none may: timers, databases and the spool run first, and
   * the queue continues in the next turn. Several short turns share the 10 ms, because a `setImmediate` for each would cost CPU.
   */
  function hasTime(): boolean {
    if (now() < turnEnds) return true
    if (isTurning) return false
    isTurning = true
    setImmediate(() => {
      isTurning = false
      turnEnds = now() + turnMs
      goOn()
    })
    return false
  }

  function goOn(): void {
    while (waiting.length > 0 && bytesUnderWay < maxBytesUnderWay && hasTime()) {
      const next = waiting.shift()
      next?.begin(now() - next.since > maxWaitMs)
    }
  }

  async function begin<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    bytesUnderWay += bytes
    try {
      return await work()
    } finally {
      bytesUnderWay -= bytes
      goOn()
    }
  }

  return {
    run(bytes, work) {
      if (waiting.length === 0 && bytesUnderWay < maxBytesUnderWay && hasTime()) return begin(bytes, work)
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
