// Keeps a rate per second even when timers are late: missed calls are made up for, as long as that does not become a burst.
const everyMs = 50
const maxAtOnce = 4

export interface Pace {
  /** Returns the rate per second that was reached. */
  stop(): number
}

export function keepPace(perSecond: number, begin: () => void): Pace {
  const start = performance.now()
  const atOnce = Math.ceil((perSecond * everyMs * maxAtOnce) / 1000)
  let begun = 0
  let skipped = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - start) * perSecond) / 1000) - begun - skipped
    skipped += Math.max(0, due - atOnce)
    for (let one = 0; one < Math.min(due, atOnce); one++) {
      begun++
      begin()
    }
  }, everyMs)
  return {
    stop() {
      clearInterval(timer)
      return Math.round((begun * 1000) / (performance.now() - start))
    },
  }
}
