// Segments in the bar: a menu of those of the site, the name of the one whose filters hold, and what can be done with other filters.
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { sitePath } from '../layout/layout.ts'
import { areSame, queryOfFilters, type ShownSegment } from './filter-texts.ts'
import { chevron } from './icons.ts'
import { goalOfFilters } from './new-goals.ts'
import { addressOf, type DashboardState, fieldsOf, queryOf } from './state.ts'

const holding = ({ segments = [], filters }: DashboardState): ShownSegment | undefined =>
  segments.find((segment) => areSame(segment.filters, filters))

export function segmentMenu(state: DashboardState): Html | false {
  const { segments = [], site } = state
  const current = holding(state)
  if (segments.length === 0) return false
  return html`<details class="menu segments"><summary class="chip${current && ' holds'}"${current && html` aria-label="Segment ${current.name}: choose another"`}>${funnel}<b>${current?.name ?? 'Segments'}</b>${chevron}</summary>
<div class="menu-body links"><div class="names">${segments.map(
    ({ name, filters }) =>
      html`<a class="item" href="${addressOf(state, { filters })}"${name === current?.name && html` aria-current="true"`} data-stay>${name}</a>`,
  )}</div><a class="item" href="${sitePath(site, '/settings/segments')}">All segments</a></div></details>`
}

/** What an owner can do with the filters. */
export function filterActions(state: DashboardState): HtmlValue {
  const { site, filters, isOwner } = state
  if (!isOwner || filters.length === 0) return false
  const save = `${sitePath(site, '/settings/segments/new')}?${queryOf(fieldsOf(state, { more: undefined }))}`
  return html`${goalOfFilters(state)}${!holding(state) && html`<a class="of-filters" href="${save}">Save as a segment</a>`}<a class="of-filters" href="${sitePath(site, '/settings/links/new')}?${queryOfFilters(filters)}">Share</a>`
}

const funnel = html`<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M1 3h10M3 6h6M5 9h2"/></svg>`
