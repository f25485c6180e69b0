// What PostgreSQL is told of events that ClickHouse has. Shipping does not wait for it: the notes lie on disk until they are
// delivered, through outages and restarts (decision D-140).
import type { SiteDay } from '../../traffic/late-days.ts'
import { notesAtOnce, type Shipped } from './shipped.ts'

export interface NoteReaders {
  noteLateDays(days: readonly SiteDay[]): Promise<void>
  /** Has the events of those sites erased that were deleted while the events were on their way; returns these sites. */
  eraseDeleted(siteIds: readonly string[]): Promise<readonly string[]>
}

/** Returns how many events of deleted sites were among them. Throws when it has to be tried again. */
export async function deliverNotes(shipped: Shipped, readers: NoteReaders): Promise<number> {
  let orphaned = 0
  for (let notes = shipped.notes(); notes.length > 0; notes = notes.length < notesAtOnce ? [] : shipped.notes()) {
    await readers.noteLateDays(notes)
    // Asked once the events are in ClickHouse: whoever deletes a site later than that erases them with it.
    const deleted = new Set(await readers.eraseDeleted([...new Set(notes.map(({ siteId }) => siteId))]))
    shipped.forget(notes)
    for (const { siteId, events } of notes) if (deleted.has(siteId)) orphaned += events
  }
  return orphaned
}
