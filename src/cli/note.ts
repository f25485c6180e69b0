import type { Site } from '../accounts/sites.ts'
import type { Postgres } from '../stores/postgres.ts'
import { commandLine } from '../users/audit-log.ts'
import { addNote, type Note, notesOf, removeNote } from '../users/notes.ts'
import { type Command, CommandError, positionals, text } from './command.ts'
import { asCommandError } from './invalid-setting.ts'
import { siteOf } from './site-reference.ts'

const add: Command = {
  summary: 'Add a note to a day of a site; the chart of its dashboard shows it',
  usage: '<site> <text> [--day <day>]',
  options: { day: { type: 'string' } },
  optionHelp: { day: 'such as 2026-11-14; the default is today in the time zone of the site' },
  examples: [
    "footfall note add example.com 'Launched the new pricing'",
    "footfall note add example.com 'Newsletter' --day 2026-11-14",
  ],
  async run(input, { postgres }) {
    const [reference, entered] = positionals(input, ['site', 'text']) as [string, string]
    const site = await siteOf(postgres, reference)
    const day = text(input, 'day') ?? String(Temporal.Now.plainDateISO(site.timeZone))
    const note = await checked(() => addNote(postgres, commandLine, site, { day, text: entered }))
    return { data: note, show: () => `${site.domain} has a new note on ${note.day}: ${note.text}` }
  },
}

const list: Command = {
  summary: 'Show the notes of a site, the latest first',
  usage: '<site>',
  async run(input, { postgres }) {
    const [reference] = positionals(input, ['site']) as [string]
    const { id, domain } = await siteOf(postgres, reference)
    const notes = await notesOf(postgres, id)
    return {
      data: notes,
      show: (terminal) =>
        notes.length === 0
          ? `${domain} has no notes yet. Next: footfall note add ${domain} <text>`
          : terminal.table(
              ['DAY', 'NOTE', 'BY', 'ID'],
              notes.map((note) => [note.day, note.text, note.createdBy, note.id]),
            ),
    }
  },
}

const remove: Command = {
  summary: 'Remove a note',
  usage: '<site> <note>',
  examples: ['footfall note remove example.com note_a2b3c4d5e6f7g2h3'],
  async run(input, { postgres }) {
    const [reference, id] = positionals(input, ['site', 'note']) as [string, string]
    const site = await siteOf(postgres, reference)
    const note = await noteOf(postgres, site, id)
    await checked(() => removeNote(postgres, commandLine, site, note))
    return {
      data: { ...note, removed: true },
      show: () => `${site.domain} has lost its note on ${note.day}: ${note.text}`,
    }
  },
}

async function noteOf(postgres: Postgres, { id: siteId, domain }: Site, id: string): Promise<Note> {
  const note = (await notesOf(postgres, siteId)).find((one) => one.id === id)
  if (!note) throw new CommandError(`${domain} has no note ${id}.`, `See them all with: footfall note list ${domain}`)
  return note
}

const checked = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work()
  } catch (error) {
    throw asCommandError(error)
  }
}

export const note = { add, list, remove }
