// The spool on disk: numbered SQLite files in one folder. Only the newest file is written to; older files are shipped and removed.
// After a failed write a file is never written to again: after a failed fsync nobody knows which parts of it are on disk.
import { closeSync, ftruncateSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const nameForm = /^spool-(\d{6,})\.sqlite$/
const busyMs = 5_000

/** The numbers of the existing spool files, oldest first. */
export const spoolFiles = (folder: string): number[] =>
  readdirSync(folder)
    .flatMap((name) => (nameForm.test(name) ? [Number(nameForm.exec(name)?.[1])] : []))
    .sort((one, other) => one - other)

export const spoolFilePath = (folder: string, number: number): string =>
  join(folder, `spool-${String(number).padStart(6, '0')}.sqlite`)

/** A SQLite file whose commits are on disk when they return (FULL). */
export function openDurableFile(path: string, tables: string): DatabaseSync {
  const file = new DatabaseSync(path, { timeout: busyMs })
  file.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    ${tables}`)
  return file
}

/**
 * A row of `groups` holds the events for one shard of all requests that were stored together, as JSON lines (spooled-event.ts). It is
 * `kept` when it was shipped, but only one replica of the shard has it. Groups with shard 0 wait until their site has moved
 * (shipper/set-aside.ts). `batches` has the batch that is being shipped to each shard, written before the first attempt.
 */
export function openSpoolFile(folder: string, number: number): DatabaseSync {
  const file = openDurableFile(
    spoolFilePath(folder, number),
    `CREATE TABLE IF NOT EXISTS groups
      (number INTEGER PRIMARY KEY, shard INTEGER NOT NULL, events INTEGER NOT NULL, lines TEXT NOT NULL,
        kept INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE IF NOT EXISTS batches
      (shard INTEGER PRIMARY KEY, id TEXT NOT NULL, last_group INTEGER NOT NULL) STRICT;`,
  )
  if (!hasColumn(file, 'shard') || !hasColumn(file, 'kept')) inTransaction(file, () => bringUpToDate(file))
  return file
}

/** A file of an earlier version may hold events that are not shipped yet. The first version knew one shard. */
function bringUpToDate(file: DatabaseSync): void {
  if (!hasColumn(file, 'shard')) {
    file.exec(`
      ALTER TABLE groups ADD COLUMN shard INTEGER NOT NULL DEFAULT 1;
      INSERT INTO batches (shard, id, last_group) SELECT 1, id, last_group FROM batch;
      DROP TABLE batch;`)
  }
  if (!hasColumn(file, 'kept')) file.exec('ALTER TABLE groups ADD COLUMN kept INTEGER NOT NULL DEFAULT 0')
}

const hasColumn = (file: DatabaseSync, name: string): boolean =>
  file.prepare("SELECT 1 FROM pragma_table_info('groups') WHERE name = ?").get(name) !== undefined

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
 * Disk space reserved for the shipper: on a full disk it must still be able to write what it ships and has shipped, or the disk would
 * stay full for ever.
 */
const reserveBytes = 2 * 1024 * 1024
const reserveName = 'reserve'

/** Throws when the disk has no room for the reserve. */
export function keepReserve(folder: string): void {
  const path = join(folder, reserveName)
  if (statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return
  const reserve = openSync(path, 'w')
  try {
    // Written in full, because a sparse file takes no space.
    const block = Buffer.alloc(64 * 1024, 1)
    for (let at = 0; at < reserveBytes; at += block.length) {
      if (writeSync(reserve, block) < block.length) throw new DiskFull('The disk of the spool is full')
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

class DiskFull extends Error {}

export const isDiskFull = (error: Error & { code?: string; errcode?: number }): boolean =>
  error instanceof DiskFull || error.code === 'ENOSPC' || error.errcode === sqliteFull

/** Runs `work` in one transaction. On a full disk it frees the reserve and runs `workWhenFull` instead. */
export function writeWithReserve(file: DatabaseSync, folder: string, work: () => void, workWhenFull = work): void {
  try {
    inTransaction(file, work)
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== sqliteFull) throw error
    useReserve(folder)
    inTransaction(file, workWhenFull)
  }
}

export function inTransaction(file: DatabaseSync, work: () => void): void {
  file.exec('BEGIN IMMEDIATE')
  try {
    work()
    file.exec('COMMIT')
  } catch (error) {
    if (file.isTransaction) file.exec('ROLLBACK')
    throw error
  }
}
