// Caches the addresses of the stores. The last good address stays: a slow or missing name server must not take a healthy store down,
// and nobody waits for a name that was resolved before.
import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns'

type Answer = [error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number]
type Callback = (...answer: Answer) => void

/** A lookup that hangs holds one of the few threads of Node's pool, so it is repeated after this time at the earliest. */
const retryMs = 2_000

// There are as many entries as stores, and they never expire: an LRU cache has nothing to do here.
const cached = new Map<string, Answer>()
const running = new Map<string, { since: number; waiting: Callback[] }>()

/** Has the signature that sockets expect. */
export function lookup(host: string, options: LookupOptions, callback: Callback): void {
  const cacheKey = JSON.stringify([host, options])
  const last = cached.get(cacheKey)
  const before = running.get(cacheKey)
  const isRunning = before !== undefined && performance.now() - before.since < retryMs
  const current = isRunning ? before : { since: performance.now(), waiting: [] }
  if (last) process.nextTick(callback, ...last)
  else current.waiting.push(callback)
  if (isRunning) return
  running.set(cacheKey, current)
  resolve(host, options, (...answer: Answer) => {
    if (running.get(cacheKey) === current) running.delete(cacheKey)
    if (!answer[0]) cached.set(cacheKey, answer)
    for (const call of current.waiting) call(...answer)
  })
}
