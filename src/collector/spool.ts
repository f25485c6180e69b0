// What the collector has taken and the engine has not confirmed yet, on the disk of this machine (decision D-95).
import { mkdirSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { HintedError } from '../process/error-hints.ts'
import { Unavailable } from '../stores/breaker.ts'
import type { Taken } from './intake.ts'
import { Refusal } from './refusals.ts'
import type { SpoolAnswer, SpoolGroup, SpoolMeasures, SpoolWorkerData } from './spool-worker.ts'

export interface Spool {
  /** Returns when the events are on disk. Throws Unavailable when they are not: then nothing of them may be acknowledged. */
  append(taken: readonly Taken[]): Promise<void>
  close(): Promise<void>
}

export interface SpoolOptions extends SpoolWorkerData {
  onChange?(isUp: boolean, cause?: Error): void
  onStored?(events: number, milliseconds: number): void
  onMeasured?(measures: SpoolMeasures): void
  /** Its thread is gone, and nothing can be stored any more. */
  onDeath?(cause: Error): void
}

/** A disk that takes longer than this to store a group is no place to queue more for. */
const longestCommitMs = 2_000
/** Some 8,000 events. A request that makes more of its 64 kB than this, with addresses that have to be encoded and ten sites, is refused. */
const groupBytes = 4 * 1024 * 1024
/** The one under way and what may wait for it. Their memory is used again and again, outside of what V8 has to look through. */
const mostGroups = 4

const betweenGroupsMs = 5

interface Group {
  memory: Buffer<SharedArrayBuffer>
  events: number
  bytes: number
  done: PromiseWithResolvers<void>
}

export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { folder, mostBytes, onChange = () => {}, onStored, onMeasured, onDeath } = options
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unusable(`The spool folder ${folder} cannot be made: ${(error as Error).message}`)
  }
  const workerData: SpoolWorkerData = { folder, mostBytes }
  const worker = new Worker(new URL('spool-worker.ts', import.meta.url), { workerData })
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let isOpen = false
  let hasFailed = false
  let isFull = false
  let hasBegun = false
  let isClosing = false
  /** In the order they came in; the last one is being filled. */
  let waiting: Group[] = []
  let underWay: (Group & { since: number }) | undefined
  const unused = Array.from({ length: mostGroups }, () => Buffer.from(new SharedArrayBuffer(groupBytes)))

  /** The group that has room for so many bytes more; undefined when there is none. */
  function groupFor(bytes: number): Group | undefined {
    const last = waiting.at(-1)
    if (last && last.bytes + bytes <= groupBytes) return last
    const memory = unused.pop()
    if (!memory) return undefined
    const done = Promise.withResolvers<void>()
    done.promise.catch(() => {}) // also when everybody who waited has gone
    const group = { memory, events: 0, bytes: 0, done }
    waiting.push(group)
    return group
  }

  /** The thread has done with its memory, which may hold the next group now. */
  function finishGroup(settle: (group: Group & { since: number }) => void): void {
    if (!underWay) return
    settle(underWay)
    unused.push(underWay.memory)
    underWay = undefined
  }

  let death: Error | undefined
  worker.on('error', (cause) => {
    death = cause as Error
  })
  worker.on('exit', (code) => {
    ended.resolve()
    if (isClosing) return
    death ??= new Error(`The thread of the spool ended with ${code}`)
    isOpen = false
    begun.reject(death)
    const refusal = new Unavailable('The spool has ended', { cause: death })
    for (const group of [underWay, ...waiting]) group?.done.reject(refusal)
    waiting = []
    underWay = undefined
    if (hasBegun) onDeath?.(death)
  })
  worker.on('message', (answer: SpoolAnswer) => {
    if (answer.is === 'measured' || answer.is === 'open') onMeasured?.(answer)
    if (answer.is !== 'failed' && answer.is !== 'closed') isFull = answer.isFull
    if (answer.is === 'open') {
      if (hasFailed) onChange(true)
      hasFailed = false
      isOpen = true
      begun.resolve()
    } else if (answer.is === 'failed') {
      const error = new Error(answer.cause)
      if (!hasFailed) onChange(false, error)
      hasFailed = true
      isOpen = false
      begun.reject(error)
      // Otherwise the group under way has not come to the thread yet, which will say the same of it.
      if (answer.ofGroup)
        finishGroup((group) => group.done.reject(new Unavailable('The spool cannot be written', { cause: error })))
    } else if (answer.is === 'stored') {
      finishGroup((group) => {
        onStored?.(group.events, performance.now() - group.since)
        group.done.resolve()
      })
    }
    sendSoon()
  })

  let isSending = false
  let lastSentAt = 0

  /** Not sooner than some milliseconds after the last: whoever comes meanwhile shares the fsync, which costs as much as 20 events. */
  function sendSoon(): void {
    if (isSending || underWay || waiting.length === 0) return
    isSending = true
    const wait = lastSentAt + betweenGroupsMs - performance.now()
    const sendNow = () => {
      isSending = false
      lastSentAt = performance.now()
      send()
    }
    if (wait > 1) setTimeout(sendNow, wait)
    else setImmediate(sendNow)
  }

  /** One group at a time: whoever comes while it is written is in the next. */
  function send(): void {
    const next = underWay ? undefined : waiting.shift()
    if (!next) return
    underWay = { ...next, since: performance.now() }
    worker.postMessage({ events: next.events, lines: next.memory.subarray(0, next.bytes) } satisfies SpoolGroup)
  }

  await begun.promise.catch(async (error: Error) => {
    isClosing = true
    await worker.terminate()
    throw unusable(error.message)
  })
  hasBegun = true
  return {
    append(taken) {
      if (!isOpen) return Promise.reject(new Unavailable('The spool cannot be written'))
      if (isFull) return Promise.reject(new Unavailable('The spool is full'))
      const isSlow = underWay !== undefined && performance.now() - underWay.since > longestCommitMs
      const text = taken.map((one) => JSON.stringify(one)).join('\n')
      const bytes = Buffer.byteLength(text) + 1
      if (bytes > groupBytes) return Promise.reject(new Refusal('too_large'))
      const group = isSlow ? undefined : groupFor(bytes)
      if (!group) return Promise.reject(new Unavailable('The disk of the spool does not keep up'))
      if (group.bytes > 0) group.bytes += group.memory.write('\n', group.bytes)
      group.bytes += group.memory.write(text, group.bytes)
      group.events += taken.length
      sendSoon()
      return group.done.promise
    },
    async close() {
      await Promise.allSettled([underWay, ...waiting].map((group) => group?.done.promise))
      isClosing = true
      worker.postMessage('close')
      await ended.promise
    },
  }
}

const unusable = (message: string): HintedError =>
  new HintedError(
    `${message}.`,
    'Set SPOOL_FOLDER to a folder of its own that this user may write, on a disk with room.',
  )
