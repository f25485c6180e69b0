// The numbers at the top, each with its change. Each is a link that lets the chart show it.

import { counted, inFull } from '../../display/formats.ts'
import { displayOf, metrics } from '../../display/metrics.ts'
import { meanings } from '../../stats/meanings.ts'
import { metrics as described } from '../../stats/questions/metrics.ts'
import type { Metrics } from '../../stats/reports/overview.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Answer, Conversions, Totals } from './answers.ts'
import { comparedPeriod } from './comparison.ts'
import { chevron } from './icons.ts'
import { addressOf, type ChartMetric, type DashboardState, goalNames, shownGoal } from './state.ts'

const names = Object.keys(metrics) as (keyof Metrics)[]

interface Beside {
  /** Undefined: the site has no goals that this reader may see. */
  conversions?: Promise<Answer<Conversions>> | undefined
  /** Instead of changes, because they would say nothing. */
  whyNoChange?: string | undefined
}

/** In pieces, because conversions may take longer than all the others. */
export async function* numbers(
  state: DashboardState,
  { previous, change, ...current }: Totals,
  { conversions, whyNoChange }: Beside = {},
): AsyncGenerator<Html> {
  const [visitors, ...others] = names.map((name) => {
    const { name: title, text, full } = metrics[name]
    const shown = previous && change && changeFrom(name, change[name], previous[name])
    const content = html`<span class="name">${title}</span><span class="number" title="${full(current[name])}. ${meanings[name]}">${text(current[name])}</span>${shown && (whyNoChange ? noChange(whyNoChange) : shown)}`
    return html`<a class="metric" id="metric-${name}" ${choosing(state, name)}>${content}</a>`
  })
  yield html`<div class="metrics${conversions && ' six'}">${visitors}`
  if (conversions) yield conversionsCell(state, await conversions, whyNoChange)
  yield html`${others}</div>`

  function changeFrom(name: keyof Metrics, percent: number | null, before: number): Html {
    const beside = html` <span class="hide">from ${metrics[name].text(before)}</span>`
    return changeOf(metrics[name], percent, before, { beside, period: comparedPeriod(state.compare) })
  }
}

const choosing = (state: DashboardState, metric: ChartMetric): Html =>
  html`href="${addressOf(state, { metric })}" data-stay${metric === state.metric && html` aria-current="true"`}`

const meaningOfConversions = described.find(({ name }) => name === 'conversions')?.meaning

/** Beside visitors, because conversions are a share of them. Another goal is chosen in a menu, which cannot be inside of the link. */
function conversionsCell(state: DashboardState, answer: Answer<Conversions>, whyNoChange: string | undefined): Html {
  const { name, text } = displayOf('conversions')
  const goal = shownGoal(state) as string
  const others = goalNames(state)
  const link = html`<a class="metric" id="metric-conversions" ${choosing(state, 'conversions')}><span class="name">${name}<span class="unseen"> of ${goal}</span></span>${
    'fault' in answer
      ? html`<span class="number" title="${answer.fault}">–</span>`
      : html`<span class="number" title="${counted(answer.value.conversions, 'conversion')}. ${meaningOfConversions}">${text(answer.value.conversions)}</span>${changeOfConversions(state, answer.value, whyNoChange)}`
  }</a>`
  const chosen = (one: string) =>
    html`<a class="item" href="${addressOf(state, { metric: 'conversions', goal: one })}"${one === goal && html` aria-current="true"`} data-stay>${one}</a>`
  return html`<div class="of-goal">${link}${
    others.length > 1
      ? html`<details class="menu goals"><summary aria-label="Goal ${goal}: choose another" title="${goal}"><span>${goal}</span>${chevron}</summary><div class="menu-body links">${others.map(chosen)}</div></details>`
      : html`<span class="goals" title="${goal}" aria-hidden="true"><span>${goal}</span></span>`
  }</div>`
}

function changeOfConversions(
  { compare }: DashboardState,
  { conversion_rate, previous, change }: Conversions,
  whyNoChange: string | undefined,
): HtmlValue {
  const rate = `${displayOf('conversion_rate').text(conversion_rate)} of visitors`
  if (!previous || !change) return html`<span class="change">${rate}</span>`
  if (whyNoChange) return noChange(whyNoChange)
  const full = (value: number) => counted(value, 'conversion')
  return changeOf({ full }, change.conversions, previous.conversions, {
    beside: html` <span class="hide">· ${rate}</span>`,
    period: comparedPeriod(compare),
  })
}

/** The reason stands where the pointer or the keyboard is. */
const noChange = (reason: string): Html =>
  html`<span class="change why"><span aria-hidden="true">–</span><span class="reason">${reason}</span></span>`

interface ChangeOptions {
  /** After the change. */
  beside?: Html
  /** The numbers before are those of the … */
  period?: string
}

export function changeOf(
  { full, lessIsBetter }: Pick<(typeof metrics)[keyof Metrics], 'full' | 'lessIsBetter'>,
  change: number | null,
  previous: number,
  { beside, period = 'previous period' }: ChangeOptions = {},
): Html {
  const before = `${full(previous)} in the ${period}`
  if (change === null)
    return html`<span class="change" title="${before}"><span aria-hidden="true">–</span><span class="unseen">nothing to compare with</span></span>`
  if (change === 0) return html`<span class="change" title="${before}">0%${beside}</span>`
  const isGood = change > 0 !== (lessIsBetter === true)
  const arrow = change > 0 ? '▲' : '▼'
  return html`<span class="change" title="${before}"><span class="${isGood ? 'up' : 'down'}"><span aria-hidden="true">${arrow}</span><span class="unseen">${change > 0 ? 'up' : 'down'}</span> ${inFull(Math.abs(change))}%</span>${beside}</span>`
}

/** What each number means, for everybody who cannot hover. */
export const glossary = html`<details class="numbers glossary"><summary>What the numbers mean</summary><dl>${names.map(
  (name) => html`<dt>${metrics[name].name}</dt><dd>${meanings[name]}</dd>`,
)}<dt>Conversions</dt><dd>${meaningOfConversions}</dd></dl></details>`
