// What the page of imports shows about uploaded files: how far they are read, what would be imported, and what became of them.

import type { Site } from '../../accounts/sites.ts'
import type { Upload, UploadPreview } from '../../importing/uploads.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { sitePath } from '../layout/layout.ts'
import { dayText } from '../layout/times.ts'
import type { SiteVisit } from '../route.ts'

/** An address below the page of imports. */
export const importsPath = (site: Site, rest = ''): string => sitePath(site, `/settings/imports${rest}`)

export const count = (number: number): string => number.toLocaleString('en')

export const isRunning = (state: string): boolean => ['checking', 'confirmed', 'importing'].includes(state)

const eventsText = (events: number): string => `${count(events)} ${events === 1 ? 'event' : 'events'}`

export const daysText = (first: string, last: string): string =>
  first === last ? dayText(new Date(first)) : `${dayText(new Date(first))} to ${dayText(new Date(last))}`

/** `data-done`: nothing moves any more, so the script does not ask again. */
export function uploadCard(visit: SiteVisit, upload: Upload): Html {
  const { state, progress, files, fault, outcome, preview } = upload
  const named = files.length === 1 ? (files[0] as string) : `${files.length} files`
  const discardForm = (name: string) =>
    visit.account.role === 'owner' &&
    html`<form method="post" action="${importsPath(visit.site, '/discard')}">${ofUpload(visit, upload)}<button class="button">${name}</button></form>`
  if (isRunning(state))
    return html`<div class="card padded"><h2>${state === 'checking' ? `Reading ${named}` : `Importing ${named}`}</h2>
<div class="upload-progress"><progress max="1" value="${progress}" aria-label="Progress"></progress> <span>${Math.floor(progress * 100)} %</span></div>
<p class="note">${state === 'checking' ? 'Nothing is imported before you say so.' : 'You may leave this page. Owners get a mail at the end, if this Footfall sends mail.'}</p>
${state === 'checking' && discardForm('Stop and delete the files')}</div>`
  if (state === 'waiting' && preview) return previewCard(visit, upload, preview, discardForm('Delete the files'))
  if (state === 'imported' && outcome)
    return html`<p class="notice" data-done>${
      outcome.wasThere
        ? `${named}: imported before, so nothing was done.`
        : html`Imported ${eventsText(outcome.events)} on ${count(outcome.days)} ${outcome.days === 1 ? 'day' : 'days'} from ${named}.`
    }</p>`
  return html`<div class="card padded" data-done><h2>${named}: not imported</h2>
<p class="fault upload-fault">${
    state === 'abandoned'
      ? 'The server was restarted or lost its database, so the files are gone. Upload them again: what is imported already is not imported twice, and an import that had begun goes on where it ended.'
      : fault
  }</p>${discardForm('Close')}</div>`
}

const ofUpload = ({ formToken }: SiteVisit, { id }: Upload): Html =>
  html`${tokenField(formToken)}<input type="hidden" name="upload" value="${id}">`

function previewCard(visit: SiteVisit, upload: Upload, preview: UploadPreview, discardForm: Html | false): Html {
  const { events, days, leftOut, broken } = preview
  const reasons = Object.entries(leftOut).sort(([, one], [, other]) => other - one)
  return html`<div class="card padded upload-preview" data-done><h2>${events === 0 ? 'No event to import' : `${eventsText(events)} to import`}</h2>
<p class="days">${days && html`<b>${daysText(days.first, days.last)}</b>, `}from ${upload.files.join(', ')}</p>
${
  reasons.length > 0 &&
  html`<table class="left-out"><caption>Lines that are left out</caption><tbody>${reasons.map(
    ([reason, lines]) =>
      html`<tr><th scope="row" class="left-out-cell">${reason}</th><td class="left-out-cell lines">${count(lines)}</td></tr>`,
  )}</tbody></table>`
}${
  broken.length > 0 &&
  html`<details><summary>The first lines that cannot be read</summary><ul class="broken">${broken.map((one) => html`<li>${one}</li>`)}</ul></details>`
}${visit.account.role === 'owner' && ownerForms(visit, upload, preview, discardForm)}</div>`
}

const ownerForms = (
  visit: SiteVisit,
  upload: Upload,
  { events }: UploadPreview,
  discardForm: Html | false,
): Html => html`
<form class="until-form" method="post" action="${importsPath(visit.site, '/check')}">${ofUpload(visit, upload)}
  <label>Last day <input type="date" name="until" min="1970-01-01" max="9999-12-31" value="${upload.until}"></label><button class="button">Preview again</button>
  <p class="until-hint">${
    upload.until === null
      ? 'All days of the files are imported.'
      : 'Later days are left out. The default is the day before your first own event, because visitors of a day that both have counted would count twice.'
  }</p></form>
<div class="row">${
  events > 0 &&
  html`<form method="post" action="${importsPath(visit.site, '/start')}">${ofUpload(visit, upload)}<button class="button first">Import ${eventsText(events)}</button></form>`
}${discardForm}</div>`
