// The spool: accepted events on the local disk until ClickHouse confirms them (decision D-95). This side collects requests into groups;
// the thread of worker.ts writes each group in one transaction.
import { mkdirSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { HintedError } from '../../process/error-hints.ts'
import { Unavailable } from '../../stores/breaker.ts'
import type { SpooledEvent, SpooledLine } from './spooled-event.ts'
import type { SpoolAnswer, SpoolGroup, SpoolMeasures, SpoolPart, SpoolWorkerData } from './worker.ts'

export interface Spool {
  /** Resolves when the events are on disk. Otherwise rejects with Unavailable or GroupTooLarge, and none of them may be acknowledged. */
  append(events: readonly SpooledEvent[]): Promise<void>
  close(): Promise<void>
}

/** The events of one request do not fit into a group. Sending them again does not help. */
export class GroupTooLarge extends Error {}

export interface SpoolOptions extends SpoolWorkerData {
  onChange?(isUp: boolean, cause?: Error): void
  onStored?(events: number, milliseconds: number): void
  onMeasured?(measures: SpoolMeasures): void
  /** The writing thread ended, so nothing can be stored any more. */
  onDeath?(cause: Error): void
}

/** While a group takes longer than this to store, no more requests queue for the disk. */
const maxCommitMs = 2_000
/** About 8,000 events. A request of 64 kB can exceed it, with URLs that need encoding and ten sites, and is then refused. */
const groupBytes = 4 * 1024 * 1024
/** The group being written and those that wait. Their memory is reused and lies outside V8's heap. */
const maxGroups = 4

const betweenGroupsMs = 5
const endOfLine = 10

interface Group {
  memory: Buffer<SharedArrayBuffer>
  parts: SpoolPart[]
  bytes: number
  done: PromiseWithResolvers<void>
}

export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { folder, maxBytes, onChange = () => {}, onStored, onMeasured, onDeath } = options
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unusableSpool(`The spool folder ${folder} cannot be created: ${(error as Error).message}`)
  }
  const workerData: SpoolWorkerData = { folder, maxBytes }
  const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData })
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let isOpen = false
  let hasFailed = false
  let isFull = false
  let hasBegun = false
  let isClosing = false
  /** In arrival order; the last group is being filled. */
  let waiting: Group[] = []
  let underWay: (Group & { since: number }) | undefined
  const unused = Array.from({ length: maxGroups }, () => Buffer.from(new SharedArrayBuffer(groupBytes)))

  /** The group that has room for `bytes` more, or undefined. */
  function groupFor(bytes: number): Group | undefined {
    const last = waiting.at(-1)
    if (last && last.bytes + bytes <= groupBytes) return last
    const memory = unused.pop()
    if (!memory) return undefined
    const done = Promise.withResolvers<void>()
    done.promise.catch(() => {}) // its callers may have stopped waiting
    const group = { memory, parts: [], bytes: 0, done }
    waiting.push(group)
    return group
  }

  /** The thread no longer uses the group's memory, so the next group may. */
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
    const error = new Unavailable('The spool has ended', { cause: death })
    for (const group of [underWay, ...waiting]) group?.done.reject(error)
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
      // A full disk may have room again soon, and API and console of the same process need no spool.
      if (answer.isDiskFull) begun.resolve()
      else begun.reject(error)
      // Otherwise the thread has not received the group yet, and will report the failure for it too.
      if (answer.ofGroup)
        finishGroup((group) => group.done.reject(new Unavailable('The spool cannot be written', { cause: error })))
    } else if (answer.is === 'stored') {
      finishGroup((group) => {
        onStored?.(eventsOf(group), performance.now() - group.since)
        group.done.resolve()
      })
    }
    sendSoon()
  })

  let isSending = false
  let lastSentAt = 0

  /** Waits some milliseconds between groups: requests that arrive meanwhile share the fsync, which costs as much as 20 events. */
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

  /** One group at a time: requests that arrive while it is written go into the next. */
  function send(): void {
    const next = underWay ? undefined : waiting.shift()
    if (!next) return
    underWay = { ...next, since: performance.now() }
    worker.postMessage({ parts: next.parts, lines: next.memory.subarray(0, next.bytes) } satisfies SpoolGroup)
  }

  await begun.promise.catch(async (error: Error) => {
    isClosing = true
    await worker.terminate()
    throw unusableSpool(error.message)
  })
  hasBegun = true
  return {
    append(events) {
      if (!isOpen) return Promise.reject(new Unavailable('The spool cannot be written'))
      if (isFull) return Promise.reject(new Unavailable('The spool is full'))
      const isSlow = underWay !== undefined && performance.now() - underWay.since > maxCommitMs
      const lines = events.map(({ event, isRepeatable }) =>
        JSON.stringify({ event, isRepeatable } satisfies SpooledLine),
      )
      const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
      if (bytes > groupBytes) return Promise.reject(new GroupTooLarge())
      const group = isSlow ? undefined : groupFor(bytes)
      if (!group) return Promise.reject(new Unavailable('The spool disk does not keep up'))
      for (const [index, line] of lines.entries()) put(group, (events[index] as SpooledEvent).shard, line)
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

function put(group: Group, shard: number, line: string): void {
  const bytes = group.memory.write(line, group.bytes) + 1
  group.bytes += bytes
  group.memory[group.bytes - 1] = endOfLine
  const last = group.parts.at(-1)
  if (last?.shard === shard) {
    last.events++
    last.bytes += bytes
  } else group.parts.push({ shard, events: 1, bytes })
}

const eventsOf = ({ parts }: Group): number => parts.reduce((sum, part) => sum + part.events, 0)

export const unusableSpool = (message: string): HintedError =>
  new HintedError(
    `${message}.`,
    'Set SPOOL_FOLDER to a folder that only this collector uses and this user may write, on a disk with free space.',
  )
