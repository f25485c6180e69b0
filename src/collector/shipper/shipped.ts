// What the shipper remembers of batches that ClickHouse has, in `shipped.sqlite` in the spool folder. It is written after a batch
// was recorded and before the spool forgets it, so that nothing of it is lost wherever the process ends (decisions D-97 and D-140).
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TrafficEvent } from '../../traffic/event.ts'
import { writeWithReserve } from '../spool-file.ts'

export interface Shipped {
  /** Whether all of it is in ClickHouse, and only its removal from the spool is missing. */
  hasBatch(id: string): boolean
  /** Whether an event with this key was shipped lately. */
  hasKey(key: string): boolean
  keep(batchId: string, keys: Iterable<string>, events: readonly TrafficEvent[]): void
  /** The oldest notes that PostgreSQL has not been told yet, at most `notesAtOnce`. */
  notes(): Note[]
  /** Forgets these, unless more events have come for their days meanwhile. */
  forget(notes: readonly Note[]): void
  close(): void
}

/** Events were recorded for this day of this site. */
interface Note {
  number: number
  siteId: string
  day: string
  events: number
}

export const notesAtOnce = 1_000

/** Two generations of so many keys are in memory, and on disk 16 bytes each: 13 MB. */
const mostInGeneration = 400_000
const keyBytes = 16
const keptMs = 3_600_000

/** What the same event has again: its site and its id, as 16 characters of one byte. The id has a fixed length. */
export const keyOf = ({ siteId, eventId }: Pick<TrafficEvent, 'siteId' | 'eventId'>): string =>
  hash('sha256', siteId + eventId, 'buffer').toString('latin1', 0, keyBytes)

export function openShipped(folder: string, now: () => number = Date.now, most = mostInGeneration): Shipped {
  const file = new DatabaseSync(join(folder, 'shipped.sqlite'))
  file.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS batches
      (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, shipped_at INTEGER NOT NULL, keys BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS notes
      (number INTEGER PRIMARY KEY, site_id TEXT NOT NULL, day TEXT NOT NULL, events INTEGER NOT NULL, UNIQUE (site_id, day)) STRICT;`)
  const findBatch = file.prepare('SELECT 1 FROM batches WHERE id = ?')
  const addBatch = file.prepare('INSERT INTO batches (id, shipped_at, keys) VALUES (?, ?, ?) RETURNING number')
  const dropBatches = file.prepare('DELETE FROM batches WHERE shipped_at < ? OR number < ?')
  // A new number, so that whoever forgets the note as it was does not forget this one.
  const addNote = file.prepare(`
    INSERT INTO notes (site_id, day, events) VALUES (?, ?, ?)
    ON CONFLICT (site_id, day) DO UPDATE
    SET number = (SELECT max(number) + 1 FROM notes), events = events + excluded.events`)
  const readNotes = file.prepare('SELECT number, site_id AS siteId, day, events FROM notes ORDER BY number LIMIT ?')
  const dropNotes = file.prepare('DELETE FROM notes WHERE number <= ?')

  let young = new Set<string>()
  let old = new Set<string>()
  // The batches in which the last two generations began: what lies before the first is not in memory any more.
  let [firstBatch, youngBatch] = [0, 0]

  function remember(key: string, batch: number): void {
    young.add(key)
    if (young.size < most) return
    old = young
    young = new Set()
    firstBatch = youngBatch
    youngBatch = batch
  }

  const kept = file.prepare('SELECT number, keys FROM batches WHERE shipped_at >= ? ORDER BY number')
  for (const { number, keys } of kept.iterate(now() - keptMs) as Iterable<{ number: number; keys: Uint8Array }>) {
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
        dropBatches.run(now() - keptMs, firstBatch)
      }
      // On a full disk without the keys: of all that is written they take the most space, and cost the least if they are missing.
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
    const known = days.get(siteId + day)
    if (known) known.count++
    else days.set(siteId + day, { siteId, day, count: 1 })
  }
  return days.values()
}
