// Keeps a neighbour that does not answer from costing every request its timeout. A fault alone opens nothing: it makes us
// ask the neighbour itself, with a bounded probe, so one slow query or one lost packet never cuts anybody off. While the
// probe fails everything is refused at once, and the probe goes on until the neighbour is back.

/** A neighbour of ours does not answer. Never the caller's fault. */
export class Unavailable extends Error {}

export interface BreakerOptions {
  name: string
  /** Asks the neighbour for a sign of life, within its own bound. */
  probe(): Promise<unknown>
  /** Whether an error says something about the neighbour's health rather than about the question. */
  isFault(error: unknown): boolean
  /** Milliseconds until the next probe after one that failed so; without it, or undefined, soon. */
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
