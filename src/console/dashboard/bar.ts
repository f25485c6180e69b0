// The bar above the numbers: filters, comparison and range.
import { type Html, html } from '../../web/html.ts'
import { fault } from '../layout/layout.ts'
import type { Moment } from './answers.ts'
import { filterChips, hiddenFields } from './filters.ts'
import type { DateMistake, Mistake } from './mistakes.ts'
import { rangeKeys } from './shortcuts.ts'
import { addressOf, type DashboardState, rollingRanges } from './state.ts'

export function bar(state: DashboardState, moment: Moment, mistake?: Mistake): Html {
  return html`<div class="bar" id="bar">
<div class="chips">${filterChips(state, mistake?.filter)}${compared(state)}</div>
${ranges(state, moment, mistake?.dates)}
</div>`
}

const compared = (state: DashboardState): Html =>
  html`<a class="chip compare" href="${addressOf(state, { compares: !state.compares })}" data-key="x" data-stay${state.compares && html` aria-current="true"`}>vs previous<span class="unseen">${state.compares ? ' period is shown. Hide it' : ' period is hidden. Show it'}</span></a>`

function ranges(state: DashboardState, { local }: Moment, mistake: DateMistake | undefined): Html {
  const { range } = state
  const today = local.toPlainDate()
  const [first, last] =
    range.name === 'custom' ? [range.firstDay, range.lastDay] : [today.subtract({ days: 29 }), today]
  const isCustom = range.name === 'custom' || mistake !== undefined
  return html`<div class="segments" role="group" aria-label="Range">
${rollingRanges.map((name) => html`<a href="${addressOf(state, { range: { name } })}"${rangeKeys.get(name) && html` data-key="${rangeKeys.get(name)}"`}${name === range.name && !mistake && html` aria-current="true"`} data-stay>${name}</a>`)}
<details class="menu right-menu"${mistake && html` open`}><summary${isCustom && html` aria-current="true"`} data-key="c">Custom</summary>
<form class="menu-body" method="get" action="${state.path}">
${hiddenFields(state, ['range', 'start', 'end', 'interval'])}
<input type="hidden" name="range" value="custom">
${mistake && dateMistake(state, mistake)}
<label>First day <input type="date" name="start" value="${mistake?.start ?? String(first)}" max="${String(today)}" required></label>
<label>Last day <input type="date" name="end" value="${mistake?.end ?? String(last)}" required></label>
<button class="button first">Show</button>
</form></details></div>`
}

const dateMistake = (state: DashboardState, { sentence, swapped }: DateMistake): Html =>
  fault(
    html`${sentence}${swapped && html` <a href="${addressOf(state, { range: { name: 'custom', ...swapped } })}">Swap them</a>`}`,
  )
