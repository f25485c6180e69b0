// Decides who may query ClickHouse next. A process runs at most 16 queries at once on a shard and 4 of them for one queue key. The rest
// wait, and the queue keys take turns, so that a burst under one key does not delay the others. Waiting ends with the caller's
// signal; concurrency alone is never refused (decision D-63).

/** The queue key of all readers without an account. Their queries run one at a time (decision D-188). */
export const publicQueueKey = 'public'

export interface FairQueue {
  /** Runs the work when it is this key's turn; rejects when the signal aborts before that. */
  take<Value>(queueKey: string, signal: AbortSignal, work: () => Promise<Value>): Promise<Value>
}

interface Waiter {
  begin(): void
  abandoned: boolean
}

interface Lane {
  running: number
  waiting: Waiter[]
}

/** How many queries run at once, of all keys and of one. */
interface Limits {
  total: number
  perKey: number
}

export function createFairQueue({ total, perKey }: Limits = { total: 16, perKey: 4 }): FairQueue {
  let running = 0
  const mostOf = (queueKey: string) => (queueKey === publicQueueKey ? 1 : perKey)
  /** In the order in which keys are served next. Holds only keys with running or waiting work. */
  const lanes = new Map<string, Lane>()

  function beginNext(): void {
    for (const [queueKey, lane] of lanes) {
      if (running >= total) return
      while (lane.waiting[0]?.abandoned) lane.waiting.shift()
      if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(queueKey)
      if (lane.running >= mostOf(queueKey) || lane.waiting.length === 0) continue
      lane.running++
      running++
      lane.waiting.shift()?.begin()
      lanes.delete(queueKey) // to the end of the rotation
      lanes.set(queueKey, lane)
    }
  }

  function turn(lane: Lane, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { begin: resolve, abandoned: false }
    const abandon = () => {
      waiter.abandoned = true
      reject(signal.reason)
    }
    signal.addEventListener('abort', abandon, { once: true })
    lane.waiting.push(waiter)
    return promise.finally(() => signal.removeEventListener('abort', abandon))
  }

  return {
    async take(queueKey, signal, work) {
      signal.throwIfAborted()
      const lane = lanes.get(queueKey) ?? { running: 0, waiting: [] }
      lanes.set(queueKey, lane)
      if (running < total && lane.running < mostOf(queueKey) && lane.waiting.length === 0) {
        lane.running++
        running++
      } else {
        await turn(lane, signal)
      }
      try {
        return await work()
      } finally {
        lane.running--
        running--
        beginNext()
      }
    },
  }
}

/** One queue per shard, so that a slow shard delays only its own sites, and one queue for queries over several shards. */
export function createFairQueues(limits?: Limits): (sites: readonly { shard: number }[]) => FairQueue {
  const queues = new Map<number, FairQueue>()
  const several = 0
  return (sites) => {
    const shard = sites[0]?.shard ?? several
    const name = sites.every((site) => site.shard === shard) ? shard : several
    const queue = queues.get(name) ?? createFairQueue(limits)
    queues.set(name, queue)
    return queue
  }
}
