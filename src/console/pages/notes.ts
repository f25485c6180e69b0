// Notes in the settings of a site: the list, adding one, and removing one. note.ts changes one.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { addNote, maxNoteLength, type Note, notesOf, removeNote } from '../../users/notes.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { dayText } from '../layout/times.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const notesRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/settings/notes', access: 'site-member', handle: (visit) => notesPage(visit) },
  {
    method: 'GET',
    path: '/sites/:domain/settings/notes/new',
    access: 'site-owner',
    handle: (visit) => newNotePage(visit, visit.query),
  },
  { method: 'POST', path: '/sites/:domain/settings/notes', access: 'site-owner', handle: createNote },
  { method: 'POST', path: '/sites/:domain/settings/notes/remove', access: 'site-owner', handle: deleteNote },
]

const done = new Map([
  ['added', 'The note is added.'],
  ['changed', 'The note is changed.'],
  ['removed', 'The note is removed.'],
])

/** An address below the list. */
export const notesPath = ({ site }: SiteVisit, rest = ''): string => sitePath(site, `/settings/notes${rest}`)

/** The note that the request names. */
export async function namedNote({ services, site }: SiteVisit, id: string | null): Promise<Note> {
  const note = (await notesOf(services.postgres, site.id)).find((one) => one.id === id)
  if (!note) throw new Refusal('not_found')
  return note
}

/** Where the form came from: the dashboard as it was, or the list. */
export const cameFrom = (visit: SiteVisit, back: string | null, result?: 'added' | 'changed' | 'removed'): string =>
  back === null || back === ''
    ? notesPath(visit, result && `?done=${result}`)
    : `${sitePath(visit.site)}?${new URLSearchParams(back)}`

async function createNote(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const entered = { day: form.get('day') ?? '', text: form.get('text') ?? '' }
  try {
    await addNote(services.postgres, actor, site, entered)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return newNotePage(visit, form, `${error.message} ${error.advice}`)
  }
  return goTo(cameFrom(visit, form.get('back'), 'added'))
}

async function deleteNote(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const note = await namedNote(visit, form.get('note'))
  try {
    await removeNote(services.postgres, actor, site, note)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return notesPage(visit, `${error.message} ${error.advice}`)
  }
  return goTo(cameFrom(visit, form.get('back'), 'removed'))
}

const isOwner = ({ account }: SiteVisit): boolean => account.role === 'owner'

async function notesPage(visit: SiteVisit, wrong?: string): Promise<Reply> {
  const { services, site, query, account } = visit
  const notes = await notesOf(services.postgres, site.id)
  const message = wrong ? undefined : done.get(query.get('done') ?? '')
  const body = html`${settingsHead(site, '/settings/notes')}
${message && notice(message)}${wrong && fault(wrong)}
<p class="lead">A note says what happened on a day, such as a new price. The chart of ${site.domain} shows it to everybody who sees the site. Footfall notes imports and changes of the time zone and the excluded countries itself.</p>
${
  isOwner(visit)
    ? html`<p><a class="button first" href="${notesPath(visit, '/new')}">Add a note</a></p>`
    : html`<p class="note">Owners of ${account.name} can change the notes.</p>`
}
${notes.length > 0 ? noteTable(visit, notes) : html`<p class="card padded no-reports">${site.domain} has no notes yet.</p>`}`
  return show(layout({ title: `Notes of ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}

const noteTable = (visit: SiteVisit, notes: readonly Note[]): Html => html`
<section aria-labelledby="notes"><h2 id="notes">${notes.length === 1 ? '1 note' : `${notes.length} notes`}</h2>
<div class="card"><table class="people reports">
<thead><tr><th scope="col">Day</th><th scope="col">Note</th>${isOwner(visit) && html`<th scope="col"><span class="unseen">Change</span></th>`}</tr></thead>
<tbody>${notes.map((note) => noteRow(visit, note))}</tbody></table></div></section>`

/** Opens the dashboard of the day. */
function noteRow(visit: SiteVisit, { id, day, text, cause, createdBy }: Note): Html {
  const named = html`<span class="unseen"> the note ${text}</span>`
  const query = new URLSearchParams({ range: 'custom', start: day, end: day })
  return html`<tr><th scope="row"><a class="of-segment" href="${sitePath(visit.site)}?${String(query)}"><time datetime="${day}">${dayText(new Date(day))}</time></a></th>
<td>${text}<span class="sub">${cause ? `noted by Footfall, changed by ${createdBy}` : `by ${createdBy}`}</span></td>${
    isOwner(visit) &&
    html`
<td class="right"><div class="reports-buttons"><a class="button small" href="${notesPath(visit, `/change?${new URLSearchParams({ note: id })}`)}">Change${named}</a>
<form method="post" action="${notesPath(visit, '/remove')}">${tokenField(visit.formToken)}<input type="hidden" name="note" value="${id}"><button class="button small danger">Remove${named}</button></form></div></td>`
  }</tr>`
}

/** `back`: what the address of the dashboard said that the form leads back to. */
export const noteFields = (
  { formToken }: SiteVisit,
  { day, text, back }: { day: string; text: string; back: string | null },
): Html => html`${tokenField(formToken)}<input type="hidden" name="back" value="${back}">
  <label>Day <input type="date" name="day" required min="1970-01-01" max="9999-12-31" value="${day}"></label>
  <label>Note <input name="text" required maxlength="${maxNoteLength}" autocomplete="off" autofocus placeholder="Launched the new pricing" value="${text}"><span class="hint">Everybody who sees the site can read it. Shared links show notes only if you choose so for the link.</span></label>`

/** `sent`: what the address or the form says. */
function newNotePage(visit: SiteVisit, sent: URLSearchParams, wrong?: string): Reply {
  const { services, site } = visit
  const today = Temporal.Instant.fromEpochMilliseconds(services.now()).toZonedDateTimeISO(site.timeZone).toPlainDate()
  const back = sent.get('back')
  const body = html`${settingsHead(site, '/settings/notes')}
<p class="back"><a href="${notesPath(visit)}"><span aria-hidden="true">← </span>All notes</a></p>
<h2>Add a note</h2>
${wrong && fault(wrong)}
<form class="card form people-form" method="post" action="${notesPath(visit)}">
  ${noteFields(visit, { day: sent.get('day') ?? String(today), text: sent.get('text') ?? '', back })}
  <div class="row"><button class="button first">Save note</button><a class="button" href="${cameFrom(visit, back)}">Cancel</a></div>
</form>`
  return show(layout({ title: `Add a note · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}
