// What the collector has taken and the engine has not confirmed yet, on the disk of this machine (decision D-95).
import { mkdirSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { HintedError } from '../process/error-hints.ts'
import { Unavailable } from '../stores/breaker.ts'
import type { Taken } from './intake.ts'
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
/** What may wait for the group under way; some 40,000 events. */
const mostWaitingBytes = 16 * 1024 * 1024

const betweenGroupsMs = 5

interface Waiting {
  lines: string[]
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
  let waiting = newGroup()
  let underWay: (Waiting & { since: number }) | undefined

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
    for (const group of [underWay, waiting]) group?.done.reject(refusal)
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
      underWay?.done.reject(new Unavailable('The spool cannot be written', { cause: error }))
      underWay = undefined
    } else if (answer.is === 'stored' && underWay) {
      onStored?.(underWay.lines.length, performance.now() - underWay.since)
      underWay.done.resolve()
      underWay = undefined
    }
    sendSoon()
  })

  let isSending = false
  let lastSentAt = 0

  /** Not sooner than some milliseconds after the last: whoever comes meanwhile shares the fsync, which costs as much as 20 events. */
  function sendSoon(): void {
    if (isSending || underWay || waiting.lines.length === 0) return
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
    if (underWay || waiting.lines.length === 0) return
    underWay = { ...waiting, since: performance.now() }
    waiting = newGroup()
    const group: SpoolGroup = { events: underWay.lines.length, lines: underWay.lines.join('\n') }
    worker.postMessage(group)
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
      if (isSlow || waiting.bytes > mostWaitingBytes) {
        return Promise.reject(new Unavailable('The disk of the spool does not keep up'))
      }
      for (const one of taken) {
        const line = JSON.stringify(one)
        waiting.lines.push(line)
        waiting.bytes += line.length
      }
      sendSoon()
      return waiting.done.promise
    },
    async close() {
      await Promise.allSettled([underWay?.done.promise, waiting.lines.length > 0 ? waiting.done.promise : undefined])
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

function newGroup(): Waiting {
  const done = Promise.withResolvers<void>()
  done.promise.catch(() => {}) // also when everybody who waited has gone
  return { lines: [], bytes: 0, done }
}
