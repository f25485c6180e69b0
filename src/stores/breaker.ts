// A circuit breaker: a dependency that is down must not cost every request its timeout. One fault does not open it: after a fault it
// probes the dependency itself, within a time limit, so one slow query or one lost packet never cuts anybody off. While the probe
// fails, it refuses everything at once and keeps probing until the dependency is back.

/** A dependency is down. Never the caller's fault. */
export class Unavailable extends Error {}

export interface BreakerOptions {
  name: string
  /** Asks the dependency for a sign of life, within its own time limit. */
  probe(): Promise<unknown>
  /** Whether an error is about the dependency's health, not about the query. */
  isFault(error: unknown): boolean
  /** Milliseconds from a probe that failed with this error to the next; undefined for the default. */
  patience?(cause: Error): number | undefined
  onChange(isUp: boolean, cause?: Error): void
}

export interface Breaker {
  run<Value>(operation: () => Promise<Value>): Promise<Value>
  close(): void
}

const probeEveryMs = 250

export function createBreaker({ name, probe, isFault, patience, onChange }: BreakerOptions): Breaker {
  let isUp = true
  let probing = false
  let closed = false
  let timer: NodeJS.Timeout | undefined

  async function examine(): Promise<void> {
    probing = true
    try {
      await probe()
      if (!isUp) change(true)
      probing = false
    } catch (error) {
      if (isUp) change(false, error as Error)
      const pause = patience?.(error as Error) ?? probeEveryMs
      if (!closed) timer = setTimeout(() => void examine(), pause).unref()
    }
  }

  function change(toUp: boolean, cause?: Error): void {
    isUp = toUp
    if (!closed) onChange(toUp, cause)
  }

  return {
    async run(operation) {
      if (!isUp) throw new Unavailable(`${name} does not answer`)
      try {
        return await operation()
      } catch (error) {
        if (!isFault(error)) throw error
        if (!probing && !closed) void examine()
        throw new Unavailable(`${name} does not answer: ${(error as Error).message}`, { cause: error })
      }
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
