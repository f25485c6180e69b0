// Imports in the settings of a site: sending files, starting an import, and taking one back. What is shown about an upload is in upload.ts.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { formats } from '../../importing/formats/formats.ts'
import { isOfSums } from '../../importing/sums/formats.ts'
import { CannotUndo, type ImportSummary, listImports, undoImport } from '../../importing/undo.ts'
import { checkAgain, confirmUpload, discardUpload, forgetImported, uploadOf } from '../../importing/uploads.ts'
import { whileOnItsShard } from '../../moving/writing.ts'
import { importUndone } from '../../users/imports.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { siteScript } from '../layout/assets.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { dayText } from '../layout/times.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { closeFiles } from '../uploads/receiving.ts'
import { count, daysText, importsPath, isRunning, uploadCard } from './upload.ts'

export const importsRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/imports',
    access: 'site-member',
    handle: (visit) => importsPage(visit),
  },
  { method: 'GET', path: '/sites/:domain/settings/imports/state', access: 'site-member', handle: stateReply },
  {
    method: 'POST',
    path: '/sites/:domain/settings/imports',
    access: 'site-owner',
    takesFiles: true,
    handle: takeFiles,
  },
  { method: 'POST', path: '/sites/:domain/settings/imports/check', access: 'site-owner', handle: lookAgain },
  { method: 'POST', path: '/sites/:domain/settings/imports/start', access: 'site-owner', handle: start },
  { method: 'POST', path: '/sites/:domain/settings/imports/discard', access: 'site-owner', handle: discard },
  { method: 'POST', path: '/sites/:domain/settings/imports/undo', access: 'site-owner', handle: undo },
]

const done = new Map([
  ['discarded', 'The files are deleted. Nothing was imported.'],
  ['undone', 'The import is taken back. Its files may be imported again.'],
  ['undoing', 'The import is being taken back. This can take some minutes.'],
])

const otherUpload = 'Files of this site wait below. Import or delete them first.'
const goneUpload = 'These files are no longer there, or their import has begun already. See below.'

/** Names of the kinds of files for people. Kinds that are not here are called what the command calls them. */
const kindNames: Readonly<Record<string, string>> = {
  plausible: 'Plausible',
  ga4: 'Google Analytics 4',
  umami: 'Umami',
  goatcounter: 'GoatCounter',
  matomo: 'Matomo',
  'access-log': 'Access log of a server',
  csv: 'CSV written for Footfall',
  jsonl: 'JSON Lines written for Footfall',
}

async function stateReply(visit: SiteVisit): Promise<Reply> {
  const upload = await uploadOf(visit.services.postgres, visit.site.id)
  return show(upload ? uploadCard(visit, upload) : html`<span data-done></span>`)
}

async function takeFiles(visit: SiteVisit): Promise<Reply> {
  const { services, site, actor } = visit
  const before = await uploadOf(services.postgres, site.id)
  const { fields, files } = await visit.receive()
  if (files.length === 0) return importsPage(visit, 'Choose at least one file.')
  const kind = fields.get('kind') ?? ''
  if (before && isOpen(before.state)) {
    closeFiles(files)
    return importsPage(visit, otherUpload)
  }
  if (!(await services.uploads.add(site, actor, { files, kind }))) {
    closeFiles(files)
    return importsPage(visit, otherUpload)
  }
  return goTo(importsPath(site))
}

const isOpen = (state: string): boolean => isRunning(state) || state === 'waiting'

async function lookAgain(visit: SiteVisit): Promise<Reply> {
  const { services, site, form } = visit
  let until: string | null
  try {
    until = dayOf(form.get('until') ?? '')
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return importsPage(visit, `${error.message} ${error.advice}`)
  }
  const isDone = await checkAgain(services.postgres, site.id, form.get('upload') ?? '', until)
  return isDone ? goTo(importsPath(site)) : importsPage(visit, goneUpload)
}

/** Null: the default. */
function dayOf(text: string): string | null {
  if (text === '') return null
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return String(Temporal.PlainDate.from(text))
  } catch {} // no such day
  throw new InvalidSetting('There is no such day.', 'Write it like 2026-11-14.')
}

async function start(visit: SiteVisit): Promise<Reply> {
  const { services, site, form, actor } = visit
  const starter = { createdBy: actor.actor, address: visit.address }
  const isDone = await confirmUpload(services.postgres, site.id, form.get('upload') ?? '', starter)
  return isDone ? goTo(importsPath(site)) : importsPage(visit, goneUpload)
}

async function discard(visit: SiteVisit): Promise<Reply> {
  const { services, site, form } = visit
  const isDone = await discardUpload(services.postgres, site.id, form.get('upload') ?? '')
  return isDone ? goTo(importsPath(site, '?done=discarded')) : importsPage(visit, goneUpload)
}

/** A person waits for the page. What takes longer goes on, and the list says so. */
const maxUndoMs = 5_000

async function undo(visit: SiteVisit): Promise<Reply> {
  const { services, site, form, actor } = visit
  const { postgres, cluster, log } = services
  const undoing = whileOnItsShard(postgres, site.id, () =>
    undoImport(
      {
        postgres,
        clickhouse: cluster.of(site),
        onUndone: (transaction, undone) => importUndone(transaction, actor, site, undone),
      },
      site,
      form.get('import') ?? '',
    ),
  )
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), maxUndoMs)
  })
  try {
    const isLate = (await Promise.race([undoing, late])) === 'late'
    await forgetImported(postgres, site.id)
    if (isLate) undoing.catch((err) => log.error({ err, siteId: site.id }, 'an import was not taken back'))
    return goTo(importsPath(site, isLate ? '?done=undoing' : '?done=undone'))
  } catch (error) {
    if (!(error instanceof CannotUndo)) throw error
    return importsPage(visit, `The import was not taken back. ${error.message}`)
  } finally {
    clearTimeout(timer)
  }
}

async function importsPage(visit: SiteVisit, wrong?: string): Promise<Reply> {
  const { services, site, query, account } = visit
  const [upload, imports] = await Promise.all([
    uploadOf(services.postgres, site.id),
    listImports(services.postgres, site.id),
  ])
  const isOwner = account.role === 'owner'
  const message = wrong ? undefined : done.get(query.get('done') ?? '')
  const mayUpload = isOwner && services.uploads.maxBytes > 0 && !(upload && isOpen(upload.state))
  // Without the script the page loads again; with it, only what moves is fetched.
  const head = html`<script type="module" src="${siteScript.path}"></script>${
    upload && isRunning(upload.state) && html`<noscript><meta http-equiv="refresh" content="3"></noscript>`
  }`
  const body = html`${settingsHead(site, '/settings/imports')}
${message && notice(message)}${wrong && fault(wrong)}
<p class="lead">Bring the past of ${site.domain}: files of Umami, GoatCounter or Matomo, access logs of a server, or files that you write yourself. You see what they hold before anything is imported, and can take an import back within 30 days.</p>
${upload && html`<div class="upload" role="status"${isRunning(upload.state) && html` data-poll="${importsPath(site, '/state')}" data-then-reload="0"`}>${uploadCard(visit, upload)}</div>`}
${mayUpload && uploadForm(visit)}
${isOwner && services.uploads.maxBytes === 0 && html`<p class="note">Whoever runs this Footfall allows no uploads. They can import files with the command <code>footfall import</code>.</p>`}
${!isOwner && html`<p class="note">Owners of ${account.name} can import files.</p>`}
${imports.length > 0 && importTable(visit, imports)}`
  return show(layout({ title: `Import · ${site.domain}`, visit, site, head, body }), wrong ? 422 : 200)
}

const uploadForm = ({ services, site, formToken }: SiteVisit): Html => html`
<form class="card form people-form" method="post" enctype="multipart/form-data" action="${importsPath(site)}" data-upload="${services.uploads.maxBytes}">
  ${tokenField(formToken)}
  <label>Kind <select name="kind"><option value="">Recognise it</option>${formats.map(
    ({ name }) => html`<option value="${name}">${kindNames[name] ?? name}</option>`,
  )}</select></label>
  <label>Files <input type="file" name="files" multiple required><span class="hint">Up to ${count(services.uploads.maxBytes / 1e6)} MB at once, packed by gzip or not, in any order. They are deleted when they are imported, after an hour at the latest.</span></label>
  <p class="fault" role="alert" hidden></p>
  <progress max="1" value="0" aria-label="Sent" hidden></progress>
  <div class="row"><button class="button first">Send and preview</button></div>
</form>`

const stateNames: Readonly<Record<ImportSummary['state'], string>> = {
  finished: 'Imported',
  unfinished: 'Stopped on the way: send the same files again to go on',
  'being undone': 'Being taken back',
  undone: 'Taken back',
}

const importTable = (visit: SiteVisit, imports: readonly ImportSummary[]): Html => html`
<section aria-labelledby="imports"><h2 id="imports">${imports.length === 1 ? '1 import' : `${imports.length} imports`}</h2>
<div class="card"><table class="people reports imports">
<thead><tr><th scope="col">Files</th><th scope="col">Imported</th>${visit.account.role === 'owner' && html`<th scope="col"><span class="unseen">Take back</span></th>`}</tr></thead>
<tbody>${imports.map((one) => importRow(visit, one))}</tbody></table></div></section>`

const undoDays = 30

function importRow(
  visit: SiteVisit,
  { id, files, kind, events, firstDay, lastDay, startedAt, state }: ImportSummary,
): Html {
  const { services, site, account, formToken } = visit
  const name = files[0] ?? kind
  const hasSums = isOfSums(kind)
  const isOld = services.now() - startedAt.getTime() > undoDays * 86_400_000
  const mayUndo = state === 'being undone' || (state !== 'undone' && !isOld)
  return html`<tr><th scope="row"><span class="name">${name}${files.length > 1 && ` and ${files.length - 1} more`}</span><span class="sub">${kindNames[kind] ?? kind}, ${dayText(startedAt)}</span></th>
<td>${events === null && !hasSums ? stateNames[state] : html`${events === null ? 'Daily sums' : `${count(events)} ${events === 1 ? 'event' : 'events'}`}${firstDay && lastDay && html`, <a href="${sitePath(site)}?${String(new URLSearchParams({ range: 'custom', start: firstDay, end: lastDay }))}">${daysText(firstDay, lastDay)}</a>`}${state !== 'finished' && html`<span class="sub">${stateNames[state]}</span>`}`}</td>${
    account.role === 'owner' &&
    html`
<td class="right">${
      mayUndo &&
      html`<details class="undo"><summary class="button small">Take back<span class="unseen"> the import of ${name}</span></summary>
<form method="post" action="${importsPath(site, '/undo')}">${tokenField(formToken)}<input type="hidden" name="import" value="${id}"><p>${hasSums ? 'Its daily sums go, and its note.' : 'Its events and its note go.'} Other events stay.</p><button class="button small danger">Take it back</button></form></details>`
    }</td>`
  }</tr>`
}
