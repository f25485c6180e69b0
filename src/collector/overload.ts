/** Requests that were not looked at for so long are told to come again: whoever waited longer has mostly given up. */
const longestMs = 2_000
const beatMs = 100

export interface Overload {
  /** Whether this process is so far behind that taking more in would only make all of it later. */
  isLate(): boolean
  close(): void
}

/**
 * With thousands of connections one turn of the event loop reads from all of them. A timer that has not come round for two seconds
 * says that the turn is too long; the rest of it is answered 503, which costs a hundredth of taking a list of events in.
 */
export function watchOverload(now: () => number = performance.now.bind(performance)): Overload {
  let lastBeat = now()
  const timer = setInterval(() => {
    lastBeat = now()
  }, beatMs)
  return { isLate: () => now() - lastBeat > longestMs, close: () => clearInterval(timer) }
}
