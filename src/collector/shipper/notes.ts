// An outbox for PostgreSQL, which must learn which days of which sites got events. Shipping does not wait for PostgreSQL: the notes stay
// on disk (shipped.ts) until they are delivered, through outages and restarts (decision D-140).
import type { SiteDay } from '../../rollups/invalidation.ts'
import { notesAtOnce, type Shipped } from './shipped.ts'

export interface NoteReaders {
  invalidateDays(days: readonly SiteDay[]): Promise<void>
  /** Requests the erasure of sites that were deleted while their events were in the spool, and returns those sites. */
  eraseDeleted(siteIds: readonly string[]): Promise<readonly string[]>
}

/** Returns how many events belong to deleted sites. Throws when the delivery must be tried again. */
export async function deliverNotes(shipped: Shipped, readers: NoteReaders): Promise<number> {
  let orphaned = 0
  for (let notes = shipped.notes(); notes.length > 0; notes = notes.length < notesAtOnce ? [] : shipped.notes()) {
    await readers.invalidateDays(notes)
    // Checked when the events are in ClickHouse: if a site is deleted later, the deletion erases them.
    const deleted = new Set(await readers.eraseDeleted([...new Set(notes.map(({ siteId }) => siteId))]))
    shipped.forget(notes)
    for (const { siteId, events } of notes) if (deleted.has(siteId)) orphaned += events
  }
  return orphaned
}
