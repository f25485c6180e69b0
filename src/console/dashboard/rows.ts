// A row of a list: its label, the link that filters by it, the link to the page that it is about, and its share.
import type { Site } from '../../accounts/sites.ts'
import { countText, shareText } from '../../display/formats.ts'
import { isPath, valueText } from '../../display/labels.ts'
import { displayOf } from '../../display/metrics.ts'
import { type Dimension, dimensionOf } from '../../stats/questions/dimensions.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Row, Totals } from './answers.ts'
import { columnName, type ListName, lists, wordsOfNumbers } from './lists.ts'
import { goalLink, newGoalAddress } from './new-goals.ts'
import { addressOf, type DashboardState, filtersWith } from './state.ts'

export interface ListOptions {
  state: DashboardState
  /** Undefined if they could not be read: then there are no shares. */
  totals: Totals | undefined
  titles: ReadonlyMap<string, string>
}

/** A missing value is null in the API and empty in a filter. */
const filterValue = (name: ListName, row: Row): string => String(row[name] ?? '')

export interface Labelled {
  label: Html
  /** The label as plain text, for a place that is too narrow for it. */
  text: string
  /** Where a click on the row leads; undefined if there is no such filter, or it holds already. */
  href: string | undefined
  /** The page itself. */
  page: string | undefined
  /** The form that makes it a goal. */
  goal: string | undefined
}

export function labelled(name: ListName, row: Row, { state, titles }: ListOptions): Labelled {
  const value = filterValue(name, row)
  const shown = valueText(dimensionOf(name) as Dimension, value)
  const title = isPath(name) ? titles.get(value) : undefined
  const label =
    value === ''
      ? html`<i class="path">${shown}</i>`
      : // A name of blanks would be invisible.
        html`<span class="path">${shown.trim() === '' ? html`<code>${JSON.stringify(shown)}</code>` : shown}</span>${title && html` <small>${title}</small>`}`
  return {
    label,
    text: title ? `${shown} – ${title}` : shown,
    href: filterAddress(state, name, value),
    page: isPath(name) ? livePage(state, value) : undefined,
    goal: newGoalAddress(state, name, value),
  }
}

function filterAddress(state: DashboardState, name: ListName, value: string): string | undefined {
  const holds = state.filters.some(
    ({ dimension, operator, values }) =>
      dimension.name === name && operator === 'is' && values.length === 1 && values[0] === value,
  )
  const filters = holds ? undefined : filtersWith(state, name, value)
  return filters && addressOf(state, { more: undefined, filters })
}

/** The row `(other)` is no page. */
function livePage(state: DashboardState, pathname: string): string | undefined {
  const { hostnames, domain }: Site = state.site
  const chosen = [...state.locked, ...state.filters].find(
    ({ dimension, operator }) => dimension.name === 'hostname' && operator === 'is',
  )
  const hostname = chosen?.values[0] ?? hostnames[0] ?? domain
  return pathname.startsWith('/') ? `https://${hostname}${pathname}` : undefined
}

export const rowLinks = (labels: Labelled): HtmlValue => [pageLink(labels), goalLink(labels.goal, labels.text)]

const pageLink = ({ page, text }: Labelled): HtmlValue =>
  page !== undefined &&
  html`<a class="to-page" href="${page}" rel="noopener noreferrer" target="_blank" aria-label="Open ${text}" title="Open the page">${arrow}</a>`

const arrow = html`<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M3 9l6-6M4 3h5v5"/></svg>`

/** The percentage of a row: of the views for pages, a rate for goals, otherwise of the visitors. */
export const shareName = (name: ListName): string => (name === 'goal' ? columnName('conversion_rate') : 'Share')

export function shareOf(name: ListName, row: Row, totals: Totals | undefined): string | undefined {
  if (name === 'goal') return displayOf('conversion_rate').text(Number(row.conversion_rate))
  const metric = name === 'page' ? 'pageviews' : 'visitors'
  return totals && shareText(Number(row[metric]), totals[metric])
}

export function bar(value: number, largest: number): Html {
  const share = largest === 0 ? 0 : Math.max(1.5, (100 * value) / largest)
  return html`<svg class="share" aria-hidden="true"><rect width="${share.toFixed(1)}%" height="100%" rx="5"/></svg>`
}

export function rows(name: ListName, all: readonly Row[], options: ListOptions): Html {
  const { metrics, heading } = lists[name]
  const [metric] = metrics
  const largest = Math.max(0, ...all.map((row) => Number(row[metric])))
  return html`<p class="heads"><span>${heading}</span><span>${columnName(metric)}</span><span>${shareName(name)}</span></p>
<ol class="rows">${all.map((row) => {
    const labels = labelled(name, row, options)
    const number = Number(row[metric])
    const content = html`${bar(number, largest)}<span class="label" title="${labels.text}">${labels.label}</span> <span class="value" title="${wordsOfNumbers(metrics, row)}">${countText(number)}</span> <span class="part">${shareOf(name, row, options.totals)}</span>`
    return html`<li>${labels.href ? html`<a class="line" href="${labels.href}" data-stay>${content}</a>` : html`<div class="line">${content}</div>`}${rowLinks(labels)}</li>`
  })}</ol>`
}
