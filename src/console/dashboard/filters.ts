// Filters: those that hold as chips, and the form of another one. Everything is a link or a form that asks for another address.

import { fields, forPeople, operatorsOf, operatorTexts, wordsOf } from '../../display/labels.ts'
import { type Dimension, dimensionOf } from '../../stats/questions/dimensions.ts'
import type { Filter } from '../../stats/questions/filters.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { fault } from '../layout/layout.ts'
import { isLocked, isLockedToHosts } from './locks.ts'
import type { FilterMistake } from './mistakes.ts'
import { filterActions, segmentMenu } from './segments.ts'
import { addressOf, type DashboardState, fieldsOf, filtersWith, isFull, mayFilterBy } from './state.ts'

export const filterChips = (state: DashboardState, mistake?: FilterMistake): HtmlValue => [
  segmentMenu(state),
  state.locked.map(lockedChip),
  state.filters.map((filter) => chip(state, filter)),
  newFilter(state, mistake),
  filterActions(state),
]

/** Whoever has a link learns what it shows, but not the names of what it leaves out. */
function lockedChip(filter: Filter): Html {
  const { field, operator, value } = wordsOf(filter)
  if (filter.operator === 'is_not') return html`<span class="chip">${field} <b>some left out</b></span>`
  return html`<span class="chip">${field} ${operator} <b title="${value}">${value}</b></span>`
}

function chip(state: DashboardState, filter: Filter): Html {
  const { field, operator, value } = wordsOf(filter)
  const others = state.filters.filter((one) => one !== filter)
  const changed = (one: Filter) => state.filters.map((each) => (each === filter ? one : each))
  const choices = operatorsOf(filter).map(
    (name) =>
      html`<a class="item" href="${addressOf(state, { filters: changed({ ...filter, operator: name }) })}"${name === filter.operator && html` aria-current="true"`} data-stay>${operatorTexts[name]}</a>`,
  )
  return html`<span class="chip">${field} <details class="menu operator"><summary aria-label="${field} ${operator} ${value}: change">${operator}</summary><div class="menu-body links">${choices}</div></details> <b title="${value}">${value}</b><a class="remove" href="${addressOf(state, { filters: others })}" aria-label="Remove the filter ${field} ${operator} ${value}" data-stay>${cross}</a></span>`
}

/** Drawn, because the character may come from another font, which arrives late. */
const cross = html`<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><path d="M1 1l8 8M9 1l-8 8"/></svg>`

function newFilter(state: DashboardState, mistake: FilterMistake | undefined): HtmlValue {
  const option = (name: string, text: string, typed: string | undefined) =>
    html`<option value="${name}"${name === typed && html` selected`}>${text}</option>`
  if (isFull(state)) return false
  const offered = fields.filter(
    ([name]) => !isLocked(state, name) && mayFilterBy(state, dimensionOf(name) as Dimension),
  )
  return html`<details class="menu filters"${mistake && html` open`}><summary class="chip add" data-key="/">+ Filter</summary>
<div class="menu-body">
${!isLockedToHosts(state) && hostnames(state)}
<form method="get" action="${state.path}">
${hiddenFields(state)}${mistake && fault(forPeople(mistake.sentence))}
<label>Field <select name="field">${offered.map(([name, text]) => option(name, text, mistake?.field))}</select></label>
<label>Operator <select name="operator">${Object.entries(operatorTexts).map(([name, text]) => option(name, text, mistake?.operator))}</select></label>
<label>Value <input name="value" value="${mistake?.value}" required maxlength="2000" autocomplete="off"></label>
<button class="button first">Show</button>
</form></div></details>`
}

/** Each host of the site also answers under `www.` */
function hostnames(state: DashboardState): Html {
  const hosts = state.site.hostnames.flatMap((host) => (host.startsWith('www.') ? [host] : [host, `www.${host}`]))
  const isChosen = (hostname: string) =>
    state.filters.some(
      ({ dimension, operator, values }) =>
        dimension.name === 'hostname' && operator === 'is' && values.includes(hostname),
    )
  return html`<div class="hosts"><span id="hosts-label">Hostname</span><ul aria-labelledby="hosts-label">${hosts.map(
    (hostname) =>
      html`<li><a href="${addressOf(state, { filters: filtersWith(state, 'hostname', hostname) ?? state.filters })}"${isChosen(hostname) && html` aria-current="true"`} data-stay>${hostname}</a></li>`,
  )}</ul></div>`
}

/** What a form does not change. */
export const hiddenFields = (state: DashboardState, except: readonly string[] = []): Html[] =>
  fieldsOf(state)
    .filter(([name]) => !except.includes(name))
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
