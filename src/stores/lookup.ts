// Host names of the stores. The last address that was good is kept: a name server that is slow or gone must not take a
// healthy store with it, and nobody waits for a name that was known before.
import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns'

type Answer = [error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number]
type Callback = (...answer: Answer) => void

const known = new Map<string, Answer>()
const asking = new Map<string, Callback[]>()

/** In the form that sockets want it. Asked once at a time: a question that hangs holds one of the few threads there are. */
export function lookup(host: string, options: LookupOptions, callback: Callback): void {
  const question = JSON.stringify([host, options])
  const last = known.get(question)
  const waiting = asking.get(question) ?? []
  if (last) process.nextTick(callback, ...last)
  else waiting.push(callback)
  if (asking.has(question)) return
  asking.set(question, waiting)
  resolve(host, options, (...answer: Answer) => {
    asking.delete(question)
    if (!answer[0]) known.set(question, answer)
    for (const call of waiting) call(...answer)
  })
}
