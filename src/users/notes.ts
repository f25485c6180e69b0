// Notes on days of a site, which the chart of its dashboard shows (decision D-242). Each change by a person comes together with its entry in
// the audit log; what Footfall notes itself is the trace of a change that has an entry already.
import { lineOf } from '../accounts/goal-rules.ts'
import { newId } from '../accounts/ids.ts'
import { InvalidSetting } from '../accounts/site-rules.ts'
import type { Site } from '../accounts/sites.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Actor } from './audit-log.ts'
import { changeOfSite } from './change-of-site.ts'

export interface Note {
  id: string
  /** `2026-11-14`, in the time zone that the site had. */
  day: string
  text: string
  /** What made Footfall write it. Null: a person did. */
  cause: 'import' | 'time_zone' | 'exclusions' | null
  createdBy: string
}

/** What a person enters. */
export type EnteredNote = Pick<Note, 'day' | 'text'>

export const maxNoteLength = 200
/** The oldest of Footfall's own notes go. */
const maxOwnNotes = 100

const columns = (postgres: Postgres) => postgres`id, day::text, text, cause, created_by AS "createdBy"`

/** The latest first. */
export const notesOf = (postgres: Postgres, siteId: string): Promise<Note[]> =>
  postgres<
    Note[]
  >`SELECT ${columns(postgres)} FROM notes WHERE site_id = ${siteId} ORDER BY notes.day DESC, created_at DESC, id`

/** Those of some days, the earliest first. */
export const notesOfDays = (
  postgres: Postgres,
  siteId: string,
  { first, last }: { first: string; last: string },
): Promise<Note[]> => postgres<Note[]>`
  SELECT ${columns(postgres)} FROM notes
  WHERE site_id = ${siteId} AND notes.day BETWEEN ${first} AND ${last}
  ORDER BY notes.day, created_at, id`

/** Throws `InvalidSetting` if the site has too many notes. */
export async function addNote(postgres: Postgres, actor: Actor, site: Site, entered: EnteredNote): Promise<Note> {
  const { day, text } = checked(entered)
  const note = { id: newId('note'), day, text, cause: null, createdBy: actor.actor }
  await changeOfSite(postgres, actor, site, {
    action: 'note.created',
    details: textOf(note),
    apply: (transaction) =>
      stored(transaction`
      INSERT INTO notes (id, site_id, day, text, created_by) VALUES (${note.id}, ${site.id}, ${day}, ${text}, ${actor.actor})`),
  })
  return note
}

/** Does nothing if the note stays the same, so that the log has only real changes. */
export async function changeNote(postgres: Postgres, actor: Actor, site: Site, before: Note, entered: EnteredNote) {
  const { day, text } = checked(entered)
  const [from, to] = [textOf(before), textOf({ day, text })]
  if (from === to) return
  await changeOfSite(postgres, actor, site, {
    action: 'note.changed',
    details: `${from} → ${to}`,
    apply: (transaction) =>
      stored(
        transaction`UPDATE notes SET day = ${day}, text = ${text} WHERE site_id = ${site.id} AND id = ${before.id}`,
      ),
  })
}

export const removeNote = (postgres: Postgres, actor: Actor, site: Site, note: Note): Promise<void> =>
  changeOfSite(postgres, actor, site, {
    action: 'note.deleted',
    details: textOf(note),
    apply: (transaction) => stored(transaction`DELETE FROM notes WHERE site_id = ${site.id} AND id = ${note.id}`),
  })

/** A note of Footfall about a change. Call it in the transaction of the change, after the row of the site is locked. */
export async function noteChange(
  transaction: Postgres,
  { actor }: Actor,
  site: Pick<Site, 'id'>,
  { day, text, cause, importId }: EnteredNote & { cause: NonNullable<Note['cause']>; importId?: string },
): Promise<void> {
  await transaction`
    INSERT INTO notes (id, site_id, day, text, cause, created_by, import_id)
    VALUES (${newId('note')}, ${site.id}, ${day}, ${text.slice(0, maxNoteLength)}, ${cause}, ${actor}, ${importId ?? null})`
  await transaction`
    DELETE FROM notes WHERE id IN (
      SELECT id FROM notes WHERE site_id = ${site.id} AND cause IS NOT NULL ORDER BY created_at DESC, id OFFSET ${maxOwnNotes}
    )`
}

/** On the first imported day: there the numbers change. Without a number of events it has daily sums. */
export async function noteImport(
  transaction: Postgres,
  actor: Actor,
  site: Pick<Site, 'id'>,
  { id, events, days }: { id: string; events: number | undefined; days: readonly string[] },
): Promise<void> {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined) return
  const count =
    events === undefined
      ? 'Imported daily sums'
      : `${events.toLocaleString('en')} imported ${events === 1 ? 'event' : 'events'}`
  const text = first === last ? count : `${count}, until ${last}`
  await noteChange(transaction, actor, site, { day: first, text, cause: 'import', importId: id })
}

/** Also if somebody has changed it: what it is about is gone. */
export const removeNoteOfImport = (transaction: Postgres, siteId: string, importId: string) =>
  transaction`DELETE FROM notes WHERE import_id = ${importId} AND site_id = ${siteId}`

function checked({ day, text }: EnteredNote): EnteredNote {
  const advice = 'Use a few words, such as Launched the new pricing.'
  return { day: dayOf(day), text: lineOf(text, { what: 'The note', max: maxNoteLength, advice }) }
}

function dayOf(text: string): string {
  const day = text.trim()
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(day) && day >= '1970-01-01') return String(Temporal.PlainDate.from(day))
  } catch {} // no such day
  throw new InvalidSetting(
    day === '' ? 'The day of the note is missing.' : 'There is no such day.',
    'Write it like 2026-11-14.',
  )
}

const textOf = ({ day, text }: EnteredNote): string => `${day}: ${text}`

async function stored(statement: Promise<{ count: number }>): Promise<void> {
  try {
    const { count } = await statement
    if (count === 0) throw new InvalidSetting('This note was removed.', 'Look at the list again.')
  } catch (error) {
    const { code, constraint_name: constraint } = error as { code?: string; constraint_name?: string }
    if (constraint === 'notes_at_most_500')
      throw new InvalidSetting('A site has at most 500 notes.', 'Remove one that nobody needs any more.')
    if (code === '23503') throw new InvalidSetting('The site was deleted.', 'Choose another site.')
    throw error
  }
}
