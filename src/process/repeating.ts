// What a process does again and again beside its requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

export interface Repeated {
  everyMs: number
  log: Logger
  /** What the log says of the first of several failures in a row. */
  failure: string
}

export async function repeatUntil(
  signal: AbortSignal,
  { everyMs, log, failure }: Repeated,
  work: () => Promise<unknown>,
): Promise<void> {
  let isFailing = false
  while (!signal.aborted) {
    try {
      await work()
      isFailing = false
    } catch (err) {
      if (!isFailing) log.error({ err }, failure)
      isFailing = true
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {})
  }
}

/** For what must not be lost while PostgreSQL restarts. */
export async function insist<Result>(forMs: number, work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + forMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > until) throw error
    }
    await sleep(500)
  }
}
