import { shortDayRange } from '../../display/formats.ts'
import type { Comparison } from '../../stats/questions/question.ts'
import { windowsOf } from '../../stats/questions/windows.ts'
import { type Html, html } from '../../web/html.ts'
import { fault } from '../layout/layout.ts'
import type { Moment } from './answers.ts'
import { comparisonName, comparisonOf, previousPeriod } from './comparison.ts'
import { hiddenFields } from './filters.ts'
import { chevron } from './icons.ts'
import type { DateMistake } from './mistakes.ts'
import { asApiRange } from './range-choice.ts'
import { addressOf, type DashboardState } from './state.ts'

/** A link for each comparison with the days it means, and a form for others. */
export function comparisonMenu(state: DashboardState, moment: Moment, mistake: DateMistake | undefined): Html {
  const { local, periods } = moment
  const compare = comparisonOf(state)
  const name = comparisonName(compare, periods.compared, local.year)
  const matchWeekday = compare !== undefined && compare.to !== 'days' && compare.matchWeekday
  const [first, last] =
    compare?.to === 'days'
      ? [compare.firstDay, compare.lastDay]
      : [periods.compared ?? periods.current].flatMap(({ firstDay, lastDay }) => [firstDay, lastDay])
  return html`<details class="menu right-menu"${mistake && html` open`}><summary class="pick">${compare && html`<span>vs </span>`}<b title="${name}">${mistake ? 'Chosen days' : name}</b>${chevron}</summary>
<div class="menu-body dates"><div>${
    state.range.name === 'all'
      ? html`<p class="hint">Before all time there is nothing to compare with.</p>`
      : [
          item('Previous period', { to: 'previous', matchWeekday }),
          item('Same period last year', { to: 'year', matchWeekday }),
        ]
  }
<a class="item" href="${addressOf(state, { compare: undefined })}"${compare && html` data-key="x"`}${!compare && html` aria-current="true"`} data-stay>No comparison${compare && html` <kbd>X</kbd>`}</a>
${compare && compare.to !== 'days' && html`<a class="item match" href="${addressOf(state, { compare: { ...compare, matchWeekday: !matchWeekday } })}"${matchWeekday && html` aria-current="true"`} data-stay>Match weekdays <small>${matchWeekday ? 'on' : 'off'}</small></a>`}</div>
<form method="get" action="${state.path}">
${hiddenFields(state, ['compare', 'match'])}
<input type="hidden" name="compare" value="days">
${mistake && fault(html`${mistake.sentence}${mistake.swapped && html` <a href="${addressOf(state, { compare: { to: 'days', ...mistake.swapped } })}">Swap them</a>`}`)}
<label>First day <input type="date" name="compare_start" value="${mistake?.start ?? String(first)}" required></label>
<label>Last day <input type="date" name="compare_end" value="${mistake?.end ?? String(last)}" required></label>
<button class="button first">Compare</button>
</form></div></details>`

  function item(text: string, other: Comparison): Html {
    const isChosen = compare?.to === other.to && !mistake
    const { compared } = windowsOf(asApiRange(state.range), other, local)
    return html`<a class="item" href="${addressOf(state, { compare: other })}"${!compare && other.to === previousPeriod.to && html` data-key="x"`}${isChosen && html` aria-current="true"`} data-stay>${text} <small>${compared && shortDayRange(compared.firstDay, compared.lastDay, local.year)}</small></a>`
  }
}
