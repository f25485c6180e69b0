// The five numbers at the top, each with its change. Visitors and pageviews choose what the chart draws.

import { inFull } from '../../display/formats.ts'
import { metrics } from '../../display/metrics.ts'
import { meanings } from '../../stats/meanings.ts'
import type { Metrics } from '../../stats/reports/overview.ts'
import { type Html, html } from '../../web/html.ts'
import type { Totals } from './answers.ts'
import { comparedPeriod } from './comparison.ts'
import { addressOf, type ChartMetric, chartMetrics, type DashboardState } from './state.ts'

const names = Object.keys(metrics) as (keyof Metrics)[]

const chartMetricOf = (name: string): ChartMetric | undefined => chartMetrics.find((one) => one === name)

/** `whyNoChange`: instead of changes, because they would say nothing. */
export function numbers(state: DashboardState, { previous, change, ...current }: Totals, whyNoChange?: string): Html {
  return html`<div class="metrics">${names.map((name) => {
    const { name: title, text, full } = metrics[name]
    const metric = chartMetricOf(name)
    const shown = previous && change && changeFrom(name, change[name], previous[name])
    const content = html`<span class="name">${title}</span><span class="number" title="${full(current[name])}. ${meanings[name]}">${text(current[name])}</span>${shown && (whyNoChange ? noChange(whyNoChange, metric !== undefined) : shown)}`
    return metric
      ? html`<a class="metric" id="metric-${name}" href="${addressOf(state, { metric })}" data-stay${metric === state.metric && html` aria-current="true"`}>${content}</a>`
      : html`<div class="metric" id="metric-${name}">${content}</div>`
  })}</div>`

  function changeFrom(name: keyof Metrics, percent: number | null, before: number): Html {
    const beside = html` <span class="hide">from ${metrics[name].text(before)}</span>`
    return changeOf(name, percent, before, { beside, period: comparedPeriod(state.compare) })
  }
}

/** The reason stands where the pointer or the keyboard is. A link has the focus already. */
const noChange = (reason: string, isInLink: boolean): Html =>
  html`<span class="change why"${!isInLink && html` tabindex="0"`}><span aria-hidden="true">–</span><span class="reason">${reason}</span></span>`

interface Beside {
  beside?: Html
  /** The numbers before are those of the … */
  period?: string
}

export function changeOf(
  name: keyof Metrics,
  change: number | null,
  previous: number,
  { beside, period = 'previous period' }: Beside = {},
): Html {
  const { full, lessIsBetter } = metrics[name]
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
)}</dl></details>`
