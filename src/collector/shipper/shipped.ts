// Remembers two things about shipped batches: the ids of their events, and notes for PostgreSQL. It writes them to `shipped.sqlite` in the
// spool folder, after ClickHouse has the batch and before the spool removes it, so that a crash loses nothing (decisions D-97 and D-140).
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { hourMs } from '../../durations.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import { openDurableFile, writeWithReserve } from '../spool/files.ts'

export interface Shipped {
  /** Whether ClickHouse has the whole batch, so that it only has to be removed from the spool. */
  hasBatch(id: string): boolean
  /** Whether an event with this key was shipped recently. */
  hasKey(key: string): boolean
  keep(batchId: string, keys: Iterable<string>, events: readonly TrafficEvent[]): void
  /** The oldest undelivered notes, at most `notesAtOnce`. */
  notes(): Note[]
  /** Removes delivered notes, except for days that got more events meanwhile. */
  forget(notes: readonly Note[]): void
  close(): void
}

/** This day of this site got events. */
interface Note {
  number: number
  siteId: string
  day: string
  events: number
}

export const notesAtOnce = 1_000

/** Two generations of this many keys are in memory, and on disk with 16 bytes each: 13 MB. */
const maxInGeneration = 400_000
const keyBytes = 16
const retentionMs = hourMs

/** Identifies an event that is sent again: a hash of its site and id, as 16 characters of one byte. The id has a fixed length. */
export const keyOf = ({ siteId, eventId }: Pick<TrafficEvent, 'siteId' | 'eventId'>): string =>
  hash('sha256', siteId + eventId, 'buffer').toString('latin1', 0, keyBytes)

export function openShipped(folder: string, now: () => number = Date.now, max = maxInGeneration): Shipped {
  const file = openDurableFile(
    join(folder, 'shipped.sqlite'),
    `CREATE TABLE IF NOT EXISTS batches
      (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, shipped_at INTEGER NOT NULL, keys BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS notes
      (number INTEGER PRIMARY KEY, site_id TEXT NOT NULL, day TEXT NOT NULL, events INTEGER NOT NULL, UNIQUE (site_id, day)) STRICT;`,
  )
  const findBatch = file.prepare('SELECT 1 FROM batches WHERE id = ?')
  const addBatch = file.prepare('INSERT INTO batches (id, shipped_at, keys) VALUES (?, ?, ?) RETURNING number')
  const dropBatches = file.prepare('DELETE FROM batches WHERE shipped_at < ? OR number < ?')
  // A new number, so that removing the delivered note does not remove this one.
  const addNote = file.prepare(`
    INSERT INTO notes (site_id, day, events) VALUES (?, ?, ?)
    ON CONFLICT (site_id, day) DO UPDATE
    SET number = (SELECT max(number) + 1 FROM notes), events = events + excluded.events`)
  const readNotes = file.prepare('SELECT number, site_id AS siteId, day, events FROM notes ORDER BY number LIMIT ?')
  const dropNotes = file.prepare('DELETE FROM notes WHERE number <= ?')

  // Two generations instead of an LRU cache: what memory forgets, the file forgets too, and it can only drop whole batches.
  let young = new Set<string>()
  let old = new Set<string>()
  // The batches in which the two generations begin. Keys of batches before the first are no longer in memory.
  let [firstBatch, youngBatch] = [0, 0]

  function remember(key: string, batch: number): void {
    young.add(key)
    if (young.size < max) return
    old = young
    young = new Set()
    firstBatch = youngBatch
    youngBatch = batch
  }

  const readKeys = file.prepare('SELECT number, keys FROM batches WHERE shipped_at >= ? ORDER BY number')
  for (const { number, keys } of readKeys.iterate(now() - retentionMs) as Iterable<{
    number: number
    keys: Uint8Array
  }>) {
    const text = Buffer.from(keys).toString('latin1')
    for (let at = 0; at < text.length; at += keyBytes) remember(text.slice(at, at + keyBytes), number)
  }

  return {
    hasBatch: (id) => findBatch.get(id) !== undefined,
    hasKey: (key) => young.has(key) || old.has(key),
    keep(batchId, keys, events) {
      const text = [...keys].join('')
      let number = 0
      const write = (blob: Buffer) => {
        number = (addBatch.get(batchId, now(), blob) as { number: number }).number
        for (const { siteId, day, count } of countByDay(events)) addNote.run(siteId, day, count)
        dropBatches.run(now() - retentionMs, firstBatch)
      }
      // On a full disk it writes no keys: they take the most space, and missing them does the least harm.
      writeWithReserve(
        file,
        folder,
        () => write(Buffer.from(text, 'latin1')),
        () => write(Buffer.alloc(0)),
      )
      for (let at = 0; at < text.length; at += keyBytes) remember(text.slice(at, at + keyBytes), number)
    },
    notes: () => readNotes.all(notesAtOnce) as unknown as Note[],
    forget: (notes) => void dropNotes.run(notes.at(-1)?.number ?? 0),
    close: () => file.close(),
  }
}

function countByDay(events: readonly TrafficEvent[]): Iterable<{ siteId: string; day: string; count: number }> {
  const days = new Map<string, { siteId: string; day: string; count: number }>()
  for (const { siteId, day } of events) {
    const entry = days.get(siteId + day)
    if (entry) entry.count++
    else days.set(siteId + day, { siteId, day, count: 1 })
  }
  return days.values()
}
