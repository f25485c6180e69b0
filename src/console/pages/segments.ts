// Segments in the settings of a site: the list, saving filters as one, and removing one. segment.ts changes one.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { addSegment, maxSegmentName, removeSegment, type Segment, segmentsOf } from '../../users/segments.ts'
import { type Html, html } from '../../web/html.ts'
import { enteredFilters, filterList, queryOfFilters, textOf } from '../dashboard/filter-texts.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const segmentsRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/segments',
    access: 'site-member',
    handle: (visit) => segmentsPage(visit),
  },
  {
    method: 'GET',
    path: '/sites/:domain/settings/segments/new',
    access: 'site-owner',
    handle: (visit) => newSegmentPage(visit, { sent: visit.query, back: visit.query }),
  },
  { method: 'POST', path: '/sites/:domain/settings/segments', access: 'site-owner', handle: createSegment },
  { method: 'POST', path: '/sites/:domain/settings/segments/remove', access: 'site-owner', handle: deleteSegment },
]

const done = new Map([
  ['changed', 'The segment is changed. Shared links and reports that were made from it keep their filters.'],
  ['removed', 'The segment is removed. Shared links and reports that were made from it keep their filters.'],
])

/** An address below the list. */
export const segmentsPath = ({ site }: SiteVisit, rest = ''): string => sitePath(site, `/settings/segments${rest}`)

/** The segment that the request names. */
export async function namedSegment({ services, site }: SiteVisit, name: string | null): Promise<Segment> {
  const segment = (await segmentsOf(services.postgres, site.id)).find((one) => one.name === name)
  if (!segment) throw new Refusal('not_found')
  return segment
}

/** The dashboard that the form came from. */
export const dashboardOf = ({ site, form }: SiteVisit): string =>
  `${sitePath(site)}?${new URLSearchParams(form.get('back') ?? '')}`

async function createSegment(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const entered = enteredFilters(form.getAll('filter'))
  const back = new URLSearchParams(form.get('back') ?? '')
  const again = (wrong: string) => newSegmentPage(visit, { sent: form, back, wrong })
  if ('wrong' in entered) return again(entered.wrong)
  try {
    const segment = { name: form.get('name') ?? '', filters: entered.filters.map(textOf) }
    await addSegment(services.postgres, actor, site, segment)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return again(`${error.message} ${error.advice}`)
  }
  return goTo(dashboardOf(visit))
}

async function deleteSegment(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const { name } = await namedSegment(visit, form.get('segment'))
  try {
    await removeSegment(services.postgres, actor, site, name)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return segmentsPage(visit, `${error.message} ${error.advice}`)
  }
  return goTo(segmentsPath(visit, '?done=removed'))
}

const isOwner = ({ account }: SiteVisit): boolean => account.role === 'owner'

async function segmentsPage(visit: SiteVisit, wrong?: string): Promise<Reply> {
  const { services, site, query, account } = visit
  const segments = await segmentsOf(services.postgres, site.id)
  const message = wrong ? undefined : done.get(query.get('done') ?? '')
  const body = html`${settingsHead(site, '/settings/segments')}
${message && notice(message)}${wrong && fault(wrong)}
<p class="lead">A segment is a name for filters of the dashboard, such as the blog or one campaign. Everybody who sees ${site.domain} can choose it there.</p>
${segments.length > 0 ? segmentTable(visit, segments) : html`<p class="card padded no-reports">${site.domain} has no segments yet.</p>`}
<p class="note">${
    isOwner(visit)
      ? html`To save one, filter <a href="${sitePath(site)}">the dashboard</a> and choose “Save as a segment”.`
      : `Owners of ${account.name} can change the segments.`
  }</p>`
  return show(layout({ title: `Segments of ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}

const segmentTable = (visit: SiteVisit, segments: readonly Segment[]): Html => html`
<section aria-labelledby="segments"><h2 id="segments">${segments.length === 1 ? '1 segment' : `${segments.length} segments`}</h2>
<div class="card"><table class="people reports">
<thead><tr><th scope="col">Name</th><th scope="col">Filters</th>${isOwner(visit) && html`<th scope="col"><span class="unseen">Change</span></th>`}</tr></thead>
<tbody>${segments.map((segment) => segmentRow(visit, segment))}</tbody></table></div></section>`

function segmentRow(visit: SiteVisit, { name, filters }: Segment): Html {
  const named = html`<span class="unseen"> the segment ${name}</span>`
  const query = new URLSearchParams({ segment: name })
  const read = enteredFilters(filters)
  return html`<tr><th scope="row">${'wrong' in read ? name : html`<a class="of-segment" href="${sitePath(visit.site)}?${queryOfFilters(read.filters)}">${name}</a>`}</th>
<td>${'wrong' in read ? filters.join(', ') : filterList(read.filters)}${!('wrong' in read) && visit.services.outbox && html`<a class="of-segment sub" href="${reportAddress(visit, queryOfFilters(read.filters))}">Report by email<span class="unseen"> about ${name}</span></a>`}</td>${
    isOwner(visit) &&
    html`
<td class="right"><div class="reports-buttons"><a class="button small" href="${segmentsPath(visit, `/change?${query.toString()}`)}">Change${named}</a>
<form method="post" action="${segmentsPath(visit, '/remove')}">${tokenField(visit.formToken)}<input type="hidden" name="segment" value="${name}"><button class="button small danger">Remove${named}</button></form></div></td>`
  }</tr>`
}

const reportAddress = ({ account, site }: SiteVisit, filters: string): string =>
  `/account/reports?account=${account.accountId}&site=${site.domain}&${filters}#add`

interface Saving {
  /** What the address or the form says. */
  sent: URLSearchParams
  /** What the address of the dashboard said. */
  back: URLSearchParams
  wrong?: string
}

async function newSegmentPage(visit: SiteVisit, { sent, back, wrong }: Saving): Promise<Reply> {
  const { services, site, form, formToken } = visit
  const entered = enteredFilters(sent.getAll('filter'))
  const filters = 'wrong' in entered ? [] : entered.filters
  const segments = await segmentsOf(services.postgres, site.id)
  const mistake = wrong ?? ('wrong' in entered ? entered.wrong : undefined)
  const hidden = html`${tokenField(formToken)}<input type="hidden" name="back" value="${String(back)}">${filters.map((filter) => html`<input type="hidden" name="filter" value="${textOf(filter)}">`)}`
  const cancel = html`<a class="button" href="${sitePath(site)}?${String(back)}">Cancel</a>`
  const body = html`${settingsHead(site, '/settings/segments')}
<p class="back"><a href="${segmentsPath(visit)}"><span aria-hidden="true">← </span>All segments</a></p>
<h2>Save as a segment</h2>
${mistake && fault(mistake)}
${
  filters.length === 0
    ? html`<p class="card padded no-reports">A segment needs a filter. <a href="${sitePath(site)}?${String(back)}">Filter the dashboard</a> first.</p>`
    : html`<p class="lead">${filterList(filters)}</p>
<form class="card form people-form" method="post" action="${segmentsPath(visit)}">
  ${hidden}
  <label>Name <input name="name" required maxlength="${maxSegmentName}" autocomplete="off" autofocus placeholder="Pricing from Google" value="${form.get('name')}"><span class="hint">Everybody who sees ${site.domain} can choose it.</span></label>
  <div class="row"><button class="button first">Save segment</button>${cancel}</div>
</form>
${
  segments.length > 0 &&
  html`<form class="card form people-form" method="post" action="${segmentsPath(visit, '/change')}">
  ${hidden}
  <label>Or let an existing segment have these filters <select name="segment">${segments.map(({ name }) => html`<option>${name}</option>`)}</select></label>
  <div><button class="button">Change segment</button></div>
</form>`
}`
}`
  const status = wrong || 'wrong' in entered ? 422 : 200
  return show(layout({ title: `Save as a segment · ${site.domain}`, visit, site, body }), status)
}
