// The five numbers at the top, each with its change. Visitors and pageviews choose what the chart draws.

import { inFull } from '../../display/formats.ts'
import { metrics } from '../../display/metrics.ts'
import { meanings } from '../../stats/meanings.ts'
import type { Metrics } from '../../stats/reports/overview.ts'
import { type Html, html } from '../../web/html.ts'
import type { Totals } from './answers.ts'
import { addressOf, type ChartMetric, chartMetrics, type DashboardState } from './state.ts'

const names = Object.keys(metrics) as (keyof Metrics)[]

const chartMetricOf = (name: string): ChartMetric | undefined => chartMetrics.find((one) => one === name)

export function numbers(state: DashboardState, { previous, change, ...current }: Totals): Html {
  return html`<div class="metrics">${names.map((name) => {
    const { name: title, text, full } = metrics[name]
    const metric = chartMetricOf(name)
    const content = html`<span class="name">${title}</span><span class="number" title="${full(current[name])}. ${meanings[name]}">${text(current[name])}</span>${previous && change && changeOf(name, change[name], previous[name], vsPrevious)}`
    return metric
      ? html`<a class="metric" id="metric-${name}" href="${addressOf(state, { metric })}" data-stay${metric === state.metric && html` aria-current="true"`}>${content}</a>`
      : html`<div class="metric" id="metric-${name}">${content}</div>`
  })}</div>`
}

const vsPrevious = html` <span class="hide">vs previous</span>`

export function changeOf(name: keyof Metrics, change: number | null, previous: number, beside?: Html): Html {
  const { full, lessIsBetter } = metrics[name]
  const before = `${full(previous)} in the previous period`
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
