// A second implementation of the rate limit (docs/contract.md 8.1, decisions D-43 to D-47 and D-70), without the code under test.
//
// A window lasts one hour from the first request counted in it. What a process knows of a window is its last response. A request is
// judged by everything its process can see: what it knows and, while Redis is up, what Redis has. Of two views of a window the higher
// count and the earlier end are right.

const hourMs = 3_600_000

export interface Verdict {
  allowed: boolean
  limit: number
  remaining: number
  reset: number
  secondsLeft: number
}

interface View {
  used: number
  end: number
}

export class Model {
  readonly #known = new Map<string, View>()
  readonly #shared = new Map<string, View>()

  spend(process: number, key: string, limit: number, at: number, redisIsThere: boolean): Verdict {
    const own = `${process} ${key}`
    const views = [this.#known.get(own), redisIsThere ? this.#shared.get(key) : undefined].filter(
      (view) => view !== undefined && at < view.end,
    ) as View[]
    const used = Math.max(0, ...views.map((view) => view.used))
    const end = Math.min(at + hourMs, ...views.map((view) => view.end))

    const allowed = used + 1 <= limit
    const after = { used: allowed ? used + 1 : used, end }
    this.#known.set(own, after)
    if (redisIsThere) this.#shared.set(key, after)
    const [reset, secondsLeft] = [end, end - at].map((milliseconds) => Math.floor((milliseconds + 999) / 1000))
    return { allowed, limit, remaining: Math.max(limit - after.used, 0), reset, secondsLeft } as Verdict
  }

  /** Redis is back without its data. */
  loseRedis(): void {
    this.#shared.clear()
  }

  /** What Redis must have for a key. */
  shared(key: string): View | undefined {
    return this.#shared.get(key)
  }

  /** The end of the window that a process knows. */
  endOf(process: number, key: string): number | undefined {
    return this.#known.get(`${process} ${key}`)?.end
  }
}
