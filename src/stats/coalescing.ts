// Identical concurrent queries run once, and all callers get the same result.

export interface Coalescing<Value> {
  /** Joins the work that runs under this key, or starts it. The work's signal aborts when the last caller has left. */
  share(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value>
}

interface Shared<Value> {
  result: Promise<Value>
  callers: number
  abort: AbortController
}

export function createCoalescing<Value>(): Coalescing<Value> {
  const running = new Map<string, Shared<Value>>()

  function begin(key: string, work: (signal: AbortSignal) => Promise<Value>): Shared<Value> {
    const abort = new AbortController()
    const shared = { result: work(abort.signal), callers: 0, abort }
    running.set(key, shared)
    const end = () => close(key, shared)
    shared.result.then(end, end)
    return shared
  }

  /** From now on nobody can join it. The key may already belong to newer work. */
  function close(key: string, shared: Shared<Value>): void {
    if (running.get(key) === shared) running.delete(key)
  }

  return {
    async share(key, signal, work) {
      const shared = running.get(key) ?? begin(key, work)
      const { promise: aborted, reject } = Promise.withResolvers<never>()
      const abort = () => reject(signal.reason)
      shared.callers++
      signal.addEventListener('abort', abort, { once: true })
      try {
        signal.throwIfAborted()
        return await Promise.race([shared.result, aborted])
      } finally {
        signal.removeEventListener('abort', abort)
        shared.callers--
        if (shared.callers === 0 && signal.aborted) {
          close(key, shared)
          shared.abort.abort(signal.reason)
        }
      }
    },
  }
}
