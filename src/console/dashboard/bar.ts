// The bar above the numbers: filters on the left, when on the right.
import { longDay } from '../../display/formats.ts'
import { type Html, html } from '../../web/html.ts'
import { fault } from '../layout/layout.ts'
import type { Moment } from './answers.ts'
import { weekdayAndDay } from './comparison.ts'
import { comparisonMenu } from './comparison-menu.ts'
import { filterChips, hiddenFields } from './filters.ts'
import { arrowAfter, arrowBefore, chevron } from './icons.ts'
import type { DateMistake, Mistake } from './mistakes.ts'
import { rangeText, rangeTexts, singleDay } from './range-choice.ts'
import { rangeKeys } from './shortcuts.ts'
import { addressOf, type DashboardState } from './state.ts'

export function bar(state: DashboardState, moment: Moment, mistake?: Mistake): Html {
  return html`<div class="bar" id="bar">
<div class="chips">${filterChips(state, mistake?.filter)}</div>
<div class="when">${ranges(state, moment, mistake?.dates)}${comparisonMenu(state, moment, mistake?.compared)}</div>
</div>`
}

function ranges(state: DashboardState, moment: Moment, mistake: DateMistake | undefined): Html {
  const { range } = state
  const today = moment.local.toPlainDate()
  const day = mistake ? undefined : singleDay(range)
  const items = (from: number, to?: number) =>
    html`<div>${[...rangeKeys]
      .slice(from, to)
      .map(
        ([name, key]) =>
          html`<a class="item" href="${addressOf(state, { range: { name } })}" data-key="${key}"${name === range.name && !mistake && html` aria-current="true"`} data-stay>${rangeTexts[name]} <kbd>${key.toUpperCase()}</kbd></a>`,
      )}</div>`
  const [first, last] =
    range.name === 'custom' ? [range.firstDay, range.lastDay] : [today.subtract({ days: 29 }), today]
  return html`<div class="range">${day && beside(state, day.subtract({ days: 1 }), 'before', today)}
<details class="menu right-menu"${mistake && html` open`}><summary class="pick" data-key="c">${rangeName(state, moment, mistake)}${chevron}</summary>
<div class="menu-body dates">${items(0, 7)}${items(7)}
<form method="get" action="${state.path}">
${hiddenFields(state, ['range', 'start', 'end', 'interval'])}
<input type="hidden" name="range" value="custom">
${mistake && dateMistake(state, mistake)}
<label>First day <input type="date" name="start" value="${mistake?.start ?? String(first)}" max="${String(today)}" required></label>
<label>Last day <input type="date" name="end" value="${mistake?.end ?? String(last)}" required></label>
<button class="button first">Show</button>
</form></div></details>${day && beside(state, day.add({ days: 1 }), 'after', today)}</div>`
}

function rangeName(state: DashboardState, { local, periods }: Moment, mistake: DateMistake | undefined): Html {
  const day = mistake ? undefined : singleDay(state.range)
  const [before, text] = day
    ? [['Today ', 'Yesterday '][day.until(local.toPlainDate()).days] ?? '', longDay(day, local.year)]
    : ['Range ', mistake ? 'Custom' : rangeText(state.range, periods.current, local)]
  return html`<span>${before}</span><b title="${text}">${day ? weekdayAndDay(day, local.year) : text}</b>`
}

/** The day beside the one that is shown; none after today. */
function beside(
  state: DashboardState,
  day: Temporal.PlainDate,
  which: 'before' | 'after',
  today: Temporal.PlainDate,
): Html {
  const arrow = which === 'before' ? arrowBefore : arrowAfter
  if (Temporal.PlainDate.compare(day, today) > 0) return html`<span class="pick beside">${arrow}</span>`
  const range = { name: 'custom', firstDay: day, lastDay: day } as const
  return html`<a class="pick beside" href="${addressOf(state, { range })}" aria-label="The day ${which}: ${longDay(day, today.year)}" data-stay>${arrow}</a>`
}

const dateMistake = (state: DashboardState, { sentence, swapped }: DateMistake): Html =>
  fault(
    html`${sentence}${swapped && html` <a href="${addressOf(state, { range: { name: 'custom', ...swapped } })}">Swap them</a>`}`,
  )
