// Host names of the stores. The last address that was good is kept: a name server that is slow or gone must not take a
// healthy store with it, and nobody waits for a name that was known before.
import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns'

type Answer = [error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number]
type Callback = (...answer: Answer) => void

/** A question that hangs holds one of the few threads there are, so it is asked again no sooner than after this. */
const askAgainMs = 2_000

const known = new Map<string, Answer>()
const asking = new Map<string, { since: number; waiting: Callback[] }>()

/** In the form that sockets want it. */
export function lookup(host: string, options: LookupOptions, callback: Callback): void {
  const question = JSON.stringify([host, options])
  const last = known.get(question)
  const before = asking.get(question)
  const isAsked = before !== undefined && performance.now() - before.since < askAgainMs
  const current = isAsked ? before : { since: performance.now(), waiting: [] }
  if (last) process.nextTick(callback, ...last)
  else current.waiting.push(callback)
  if (isAsked) return
  asking.set(question, current)
  resolve(host, options, (...answer: Answer) => {
    if (asking.get(question) === current) asking.delete(question)
    if (!answer[0]) known.set(question, answer)
    for (const call of current.waiting) call(...answer)
  })
}
