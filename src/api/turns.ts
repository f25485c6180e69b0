// Who may ask the engine when. A process asks at most 16 questions at once and 4 of them for one key; the rest wait for their
// turn until their request's deadline, key by key in rotation, so that one key's burst costs the others nothing. Concurrency
// alone is never refused (decision D-63).

export interface Turns {
  /** Runs the work when it is this key's turn; rejects when the signal aborts before that. */
  take<Value>(keyId: string, signal: AbortSignal, work: () => Promise<Value>): Promise<Value>
}

interface Waiter {
  begin(): void
  abandoned: boolean
}

interface Lane {
  running: number
  waiting: Waiter[]
}

export function createTurns({ total = 16, perKey = 4 } = {}): Turns {
  let running = 0
  /** In the order in which keys are served next; only keys with something running or waiting. */
  const lanes = new Map<string, Lane>()

  function beginNext(): void {
    for (const [keyId, lane] of lanes) {
      if (running >= total) return
      while (lane.waiting[0]?.abandoned) lane.waiting.shift()
      if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(keyId)
      if (lane.running >= perKey || lane.waiting.length === 0) continue
      lane.running++
      running++
      lane.waiting.shift()?.begin()
      lanes.delete(keyId) // to the end of the rotation
      lanes.set(keyId, lane)
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
    async take(keyId, signal, work) {
      signal.throwIfAborted()
      const lane = lanes.get(keyId) ?? { running: 0, waiting: [] }
      lanes.set(keyId, lane)
      if (running < total && lane.running < perKey && lane.waiting.length === 0) {
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
