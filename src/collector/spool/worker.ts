// The thread that writes the spool. One message is one group of requests and one transaction; the thread replies when the group is on
// disk. Requests that arrive during an fsync share the next one.
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { openSpoolAge } from './age.ts'
import { keepReserve, openSpoolFile, spoolBytes, spoolFiles } from './files.ts'

export interface SpoolWorkerData {
  folder: string
  mostBytes: number
}

export interface SpoolGroup {
  events: number
  /** JSON lines in UTF-8, in memory that both threads share, so nothing is copied. */
  lines: Uint8Array
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
  | { is: 'failed'; cause: string; ofGroup: boolean }
  | ({ is: 'open' } & SpoolMeasures)
  | ({ is: 'measured' } & SpoolMeasures)
  | { is: 'closed' }

const { folder, mostBytes } = workerData as SpoolWorkerData
const port = parentPort as NonNullable<typeof parentPort>
const answer = (message: SpoolAnswer) => port.postMessage(message)

/** The spool refuses events before its budget or the disk is used up, so that accepted events can still be shipped. */
const fullShare = 0.85
const leastFreeBytes = 64 * 1024 * 1024
const measureMs = 200
const reopenMs = 500

let file: DatabaseSync | undefined
let insert: StatementSync | undefined
/** Group numbers are counted here, because SQLite would reuse the numbers of shipped groups, and age.ts would confuse the two. */
let lastGroup = 0
let isFull = false
let reopening: NodeJS.Timeout | undefined

const age = openSpoolAge(folder)

/** Held for the life of the process; the kernel releases it however the process ends. */
const lock = lockFolder()

function lockFolder(): DatabaseSync {
  try {
    const held = new DatabaseSync(join(folder, 'lock.sqlite'))
    held.exec('BEGIN EXCLUSIVE')
    return held
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
    insert = file.prepare('INSERT INTO groups (number, events, lines) VALUES (?, ?, CAST(? AS TEXT))')
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
  answer({ is: 'failed', cause: error.message, ofGroup })
  // One attempt at a time: while the disk is broken every measurement fails too, and every attempt that succeeds creates a file.
  reopening ??= setTimeout(open, reopenMs)
}

function measure(): SpoolMeasures {
  const bytes = spoolBytes(folder)
  const { bavail, blocks, bsize } = statfsSync(folder)
  const leastFree = Math.min(leastFreeBytes, blocks * bsize * (1 - fullShare))
  // SQLite reuses the pages of shipped groups, so only the pages in use count.
  isFull = usedBytes(bytes) > mostBytes * fullShare || bavail * bsize < leastFree
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
  if (!insert) return answer({ is: 'failed', cause: 'The spool is not open', ofGroup: true })
  try {
    insert.run(++lastGroup, message.events, message.lines)
  } catch (error) {
    return fail(error as Error, true)
  }
  answer({ is: 'stored', isFull })
})

const timer = setInterval(() => {
  try {
    answer({ is: 'measured', ...measure() })
  } catch (error) {
    fail(error as Error)
  }
}, measureMs)
open()
