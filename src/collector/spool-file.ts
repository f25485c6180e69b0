// The spool on disk: SQLite files in one folder, numbered. Only the newest is written to, the older ones are drained and removed.
// A file that once failed to take a write is never written to again: after a failed fsync nobody knows what of it is on disk.
import { closeSync, ftruncateSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const nameForm = /^spool-(\d{6,})\.sqlite$/
const busyMs = 5_000

/** The numbers of the spool files there are, oldest first. */
export const spoolFiles = (folder: string): number[] =>
  readdirSync(folder)
    .flatMap((name) => (nameForm.test(name) ? [Number(nameForm.exec(name)?.[1])] : []))
    .sort((one, other) => one - other)

export const spoolFilePath = (folder: string, number: number): string =>
  join(folder, `spool-${String(number).padStart(6, '0')}.sqlite`)

export function openSpoolFile(folder: string, number: number): DatabaseSync {
  const file = new DatabaseSync(spoolFilePath(folder, number), { timeout: busyMs })
  // FULL: a commit is on disk when it returns. `groups` has one row for all requests that were waiting together, its events as
  // JSON lines; `batch` is the batch under way to the engine, written down before the first attempt.
  file.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS groups (number INTEGER PRIMARY KEY, events INTEGER NOT NULL, lines TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS batch (id TEXT NOT NULL, last_group INTEGER NOT NULL) STRICT;`)
  return file
}

export function removeSpoolFile(folder: string, number: number): void {
  const path = spoolFilePath(folder, number)
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

export function spoolBytes(folder: string): number {
  return readdirSync(folder)
    .filter((name) => name.startsWith('spool-'))
    .reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

/**
 * Space kept for the shipper: also on a full disk it must be able to write down what it ships and what it has shipped, or the disk
 * would stay full for ever.
 */
const reserveBytes = 2 * 1024 * 1024
const reserveName = 'reserve'

/** Throws when there is no room for it. */
export function keepReserve(folder: string): void {
  const path = join(folder, reserveName)
  if (statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return
  const reserve = openSync(path, 'w')
  try {
    // Written, not just declared: a hole takes no space.
    const block = Buffer.alloc(64 * 1024, 1)
    for (let at = 0; at < reserveBytes; at += block.length) {
      if (writeSync(reserve, block) < block.length) throw new Error('The disk of the spool is full')
    }
  } catch (error) {
    ftruncateSync(reserve)
    throw error
  } finally {
    closeSync(reserve)
  }
}

const useReserve = (folder: string): void => rmSync(join(folder, reserveName), { force: true })

const sqliteFull = 13

/** In one transaction. On a full disk with the space that is kept for this, and then `inNeed`. */
export function writeWithReserve(file: DatabaseSync, folder: string, work: () => void, inNeed = work): void {
  try {
    inTransaction(file, work)
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== sqliteFull) throw error
    useReserve(folder)
    inTransaction(file, inNeed)
  }
}

function inTransaction(file: DatabaseSync, work: () => void): void {
  file.exec('BEGIN IMMEDIATE')
  try {
    work()
    file.exec('COMMIT')
  } catch (error) {
    if (file.isTransaction) file.exec('ROLLBACK')
    throw error
  }
}
