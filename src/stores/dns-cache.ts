// Caches the addresses of the stores. The last good address stays: a slow or missing name server must not take a healthy store down,
// and nobody waits for a name that was resolved before.
import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns'

type Answer = [error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number]
type Callback = (...answer: Answer) => void

/** A lookup that hangs holds one of the few threads of Node's pool, so it is repeated after this time at the earliest. */
const askAgainMs = 2_000

// There are as many entries as stores, and they never expire: an LRU cache has nothing to do here.
const known = new Map<string, Answer>()
const asking = new Map<string, { since: number; waiting: Callback[] }>()

/** Has the signature that sockets expect. */
export function lookup(host: string, options: LookupOptions, callback: Callback): void {
  const cacheKey = JSON.stringify([host, options])
  const last = known.get(cacheKey)
  const before = asking.get(cacheKey)
  const isAsked = before !== undefined && performance.now() - before.since < askAgainMs
  const current = isAsked ? before : { since: performance.now(), waiting: [] }
  if (last) process.nextTick(callback, ...last)
  else current.waiting.push(callback)
  if (isAsked) return
  asking.set(cacheKey, current)
  resolve(host, options, (...answer: Answer) => {
    if (asking.get(cacheKey) === current) asking.delete(cacheKey)
    if (!answer[0]) known.set(cacheKey, answer)
    for (const call of current.waiting) call(...answer)
  })
}
