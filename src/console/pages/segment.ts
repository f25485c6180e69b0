// One segment of a site: change its name, or give it the filters of the dashboard.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { changeSegment, maxSegmentName, type Segment } from '../../users/segments.ts'
import { html } from '../../web/html.ts'
import { enteredFilters, filterList, queryOfFilters, textOf } from '../dashboard/filter-texts.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout, settingsHead, sitePath } from '../layout/layout.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { dashboardOf, namedSegment, segmentsPath } from './segments.ts'

/** The name of a segment is any text, so it is a parameter and no part of the path. */
export const segmentRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/segments/change',
    access: 'site-owner',
    handle: async (visit) => segmentPage(visit, await namedSegment(visit, visit.query.get('segment'))),
  },
  { method: 'POST', path: '/sites/:domain/settings/segments/change', access: 'site-owner', handle: saveSegment },
]

/** A form sends the name or the filters; the other stays. */
async function saveSegment(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const segment = await namedSegment(visit, form.get('segment'))
  const entered = enteredFilters(form.has('filter') ? form.getAll('filter') : segment.filters)
  if ('wrong' in entered) return segmentPage(visit, segment, entered.wrong)
  try {
    const changed = { name: form.get('name') ?? segment.name, filters: entered.filters.map(textOf) }
    await changeSegment(services.postgres, actor, site, segment, changed)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return segmentPage(visit, segment, `${error.message} ${error.advice}`)
  }
  return goTo(form.has('back') ? dashboardOf(visit) : segmentsPath(visit, '?done=changed'))
}

function segmentPage(visit: SiteVisit, segment: Segment, wrong?: string): Reply {
  const { site, form, formToken } = visit
  const read = enteredFilters(segment.filters)
  const filters = 'wrong' in read ? [] : read.filters
  const body = html`${settingsHead(site, '/settings/segments')}
<p class="back"><a href="${segmentsPath(visit)}"><span aria-hidden="true">← </span>All segments</a></p>
<h2 class="key-name">${segment.name}</h2>
${wrong && fault(wrong)}
<p class="lead">${'wrong' in read ? segment.filters.join(', ') : filterList(filters)}</p>
<form class="card form people-form" method="post" action="${segmentsPath(visit, '/change')}">
  ${tokenField(formToken)}<input type="hidden" name="segment" value="${segment.name}">
  <label>Name <input name="name" required maxlength="${maxSegmentName}" autocomplete="off" value="${form.get('name') ?? segment.name}"></label>
  <p class="hint">To give it other filters, <a href="${sitePath(site)}?${queryOfFilters(filters)}">open it</a>, change the filters of the dashboard and choose “Save as a segment”.</p>
  <div class="row"><button class="button first">Save segment</button><a class="button" href="${segmentsPath(visit)}">Cancel</a></div>
</form>`
  return show(layout({ title: `${segment.name} · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}
