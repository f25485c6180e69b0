// The thread that writes the spool. One message is one group of requests and one transaction; the thread replies when the group is on
// disk. Requests that arrive during an fsync share the next one.
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { openSpoolAge } from './age.ts'
import { inTransaction, isDiskFull, keepReserve, openSpoolFile, spoolBytes, spoolFiles } from './files.ts'

export interface SpoolWorkerData {
  folder: string
  maxBytes: number
}

export interface SpoolGroup {
  /** The parts of `lines`, in their order and without gaps. */
  parts: readonly SpoolPart[]
  /** JSON lines in UTF-8, in memory that both threads share, so nothing is copied. */
  lines: Uint8Array
}

/** Events for one shard that arrived together. */
export interface SpoolPart {
  shard: number
  events: number
  /** The size of its lines, each with its end of line. */
  bytes: number
}

export interface SpoolMeasures {
  isFull: boolean
  bytes: number
  /** When the oldest event in the spool was accepted; undefined when the spool is empty. */
  oldest: number | undefined
}

export type SpoolAnswer =
  /** The group is on disk. `isFull`: accept no more for now. */
  | { is: 'stored'; isFull: boolean }
  /** Nothing can be stored until the next `open`. `ofGroup`: the group that was sent is not on disk. */
  | { is: 'failed'; cause: string; ofGroup: boolean; isDiskFull?: boolean }
  | ({ is: 'open' } & SpoolMeasures)
  | ({ is: 'measured' } & SpoolMeasures)
  | { is: 'closed' }

const { folder, maxBytes } = workerData as SpoolWorkerData
const port = parentPort as NonNullable<typeof parentPort>
const answer = (message: SpoolAnswer) => port.postMessage(message)

/** The spool refuses events before its budget or the disk is used up, so that accepted events can still be shipped. */
const fullShare = 0.85
const minFreeBytes = 64 * 1024 * 1024
const measureMs = 200
const reopenMs = 500
const endOfLine = Buffer.from('\n')

let file: DatabaseSync | undefined
let insert: StatementSync | undefined
/** Group numbers are counted here, because SQLite would reuse the numbers of shipped groups, and age.ts would confuse the two. */
let lastGroup = 0
let isFull = false
let reopening: NodeJS.Timeout | undefined

const age = openSpoolAge(folder)

/** Held until the process ends; the kernel releases it even after a crash. */
const lock = lockFolder()

function lockFolder(): DatabaseSync {
  try {
    const lockFile = new DatabaseSync(join(folder, 'lock.sqlite'))
    lockFile.exec('BEGIN EXCLUSIVE')
    return lockFile
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number }
    const isTaken = errcode === 5 // SQLITE_BUSY
    throw new Error(
      isTaken
        ? `Another collector uses the spool folder ${folder}`
        : `The spool folder ${folder} cannot be written: ${message}`,
    )
  }
}

function open(): void {
  reopening = undefined
  try {
    keepReserve(folder)
    file = openSpoolFile(folder, (spoolFiles(folder).at(-1) ?? 0) + 1)
    insert = file.prepare('INSERT INTO groups (number, shard, events, lines) VALUES (?, ?, ?, CAST(? AS TEXT))')
    lastGroup = 0
    answer({ is: 'open', ...measure() })
  } catch (error) {
    fail(error as Error)
  }
}

function fail(error: Error, ofGroup = false): void {
  try {
    file?.close()
  } catch {
    // the file is given up anyway
  }
  file = undefined
  insert = undefined
  answer({ is: 'failed', cause: error.message, ofGroup, isDiskFull: isDiskFull(error) })
  // One attempt at a time: while the disk is broken every measurement fails too, and every attempt that succeeds creates a file.
  reopening ??= setTimeout(open, reopenMs)
}

function measure(): SpoolMeasures {
  const bytes = spoolBytes(folder)
  const { bavail, blocks, bsize } = statfsSync(folder)
  const minFree = Math.min(minFreeBytes, blocks * bsize * (1 - fullShare))
  // SQLite reuses the pages of shipped groups, so only the pages in use count.
  isFull = usedBytes(bytes) > maxBytes * fullShare || bavail * bsize < minFree
  return { isFull, bytes, oldest: age.oldest() }
}

function usedBytes(bytes: number): number {
  if (!file) return bytes
  const { freelist_count: free } = file.prepare('PRAGMA freelist_count').get() as { freelist_count: number }
  const { page_size: size } = file.prepare('PRAGMA page_size').get() as { page_size: number }
  return bytes - free * size
}

port.on('message', (message: SpoolGroup | 'close') => {
  if (message === 'close') {
    clearInterval(timer)
    clearTimeout(reopening)
    file?.close()
    age.close()
    lock.close()
    answer({ is: 'closed' })
    return port.close()
  }
  if (!file) return answer({ is: 'failed', cause: 'The spool is not open', ofGroup: true })
  try {
    inTransaction(file, () => store(message))
  } catch (error) {
    return fail(error as Error, true)
  }
  answer({ is: 'stored', isFull })
})

function store({ parts, lines }: SpoolGroup): void {
  let at = 0
  const placed = parts.map((part) => {
    const from = at
    at += part.bytes
    return { ...part, lines: lines.subarray(from, at - 1) } // without the last end of line
  })
  for (const [shard, some] of Map.groupBy(placed, (part) => part.shard)) {
    const events = some.reduce((sum, part) => sum + part.events, 0)
    insert?.run(++lastGroup, shard, events, joined(some.map((part) => part.lines)))
  }
}

/** Without a copy if there is nothing to join, as with one shard. */
const joined = (lines: readonly Uint8Array[]): Uint8Array =>
  lines.length === 1
    ? (lines[0] as Uint8Array)
    : Buffer.concat(lines.flatMap((some, index) => (index === 0 ? [some] : [endOfLine, some])))

const timer = setInterval(() => {
  try {
    answer({ is: 'measured', ...measure() })
  } catch (error) {
    fail(error as Error)
  }
}, measureMs)
open()
