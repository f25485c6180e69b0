// One note of a site: change its day or its text, or remove it.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { changeNote, type Note } from '../../users/notes.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout, settingsHead } from '../layout/layout.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { cameFrom, namedNote, noteFields, notesPath } from './notes.ts'

export const noteRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/notes/change',
    access: 'site-owner',
    handle: async (visit) => notePage(visit, await namedNote(visit, visit.query.get('note'))),
  },
  { method: 'POST', path: '/sites/:domain/settings/notes/change', access: 'site-owner', handle: saveNote },
]

async function saveNote(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const note = await namedNote(visit, form.get('note'))
  try {
    const entered = { day: form.get('day') ?? '', text: form.get('text') ?? '' }
    await changeNote(services.postgres, actor, site, note, entered)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return notePage(visit, note, `${error.message} ${error.advice}`)
  }
  return goTo(cameFrom(visit, form.get('back'), 'changed'))
}

function notePage(visit: SiteVisit, note: Note, wrong?: string): Reply {
  const { site, form, query, formToken } = visit
  const back = form.get('back') ?? query.get('back')
  const named = html`<input type="hidden" name="note" value="${note.id}">`
  const body = html`${settingsHead(site, '/settings/notes')}
<p class="back"><a href="${notesPath(visit)}"><span aria-hidden="true">← </span>All notes</a></p>
<h2>Change a note</h2>
${wrong && fault(wrong)}
<form class="card form people-form" method="post" action="${notesPath(visit, '/change')}">
  ${named}${noteFields(visit, { day: form.get('day') ?? note.day, text: form.get('text') ?? note.text, back })}
  <div class="row"><button class="button first">Save note</button><a class="button" href="${cameFrom(visit, back)}">Cancel</a></div>
</form>
<form method="post" action="${notesPath(visit, '/remove')}">
  ${tokenField(formToken)}${named}<input type="hidden" name="back" value="${back}">
  <p><button class="button danger">Remove note</button></p>
</form>`
  return show(layout({ title: `Change a note · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}
