// The chart as SVG. Its parts have coordinates in percent and its lines are stretched, so it fits any width without a script and its texts
// keep their size. The table below it has all its numbers; chart.js reads them there.

import { axisText, clockTime, inFull, shortDay } from '../../display/formats.ts'
import { countTicks } from '../../display/scale.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { comparison, type Moment } from './answers.ts'
import { curlOf, rowEnd } from './curl.ts'
import { moreMenu } from './more-menu.ts'
import { askedByChart, type Point, type Series } from './series.ts'
import { addressOf, type DashboardState } from './state.ts'

const height = 216
const top = 8
const below = 26
const width = 1000

export function chart(state: DashboardState, series: Series, moment: Moment, publicUrl: string): Html {
  if (series.points.length === 0)
    return html`<div class="chart"><p class="nothing">This range has not begun yet.</p></div>`
  return html`${drawing(state, series)}${legend(state, series, moment)}
<div class="foot chart-foot">${table(state, series)}${commands(state, moment, publicUrl)}${rowEnd}</div>`
}

function drawing(state: DashboardState, { unit, points, ticks, isOpen }: Series): Html {
  const values = points.flatMap(({ value, previous }) => [value, previous?.value ?? 0])
  const counts = countTicks(Math.max(...values))
  const max = counts.at(-1) as number
  const y = (value: number) => top + height - (value / max) * height
  const share = (index: number) => (points.length === 1 ? 50 : (100 * index) / (points.length - 1))
  const line = (all: readonly (readonly [index: number, value: number])[]) =>
    all
      .map(([index, value], nth) => `${nth === 0 ? 'M' : 'L'}${round((share(index) * width) / 100)} ${round(y(value))}`)
      .join('')
  const all = points.map(({ value }, index) => [index, value] as const)
  const solid = isOpen && all.length > 1 ? all.slice(0, -1) : all
  const previous = points.flatMap((point, index) => (point.previous ? [[index, point.previous.value] as const] : []))
  const bottom = top + height
  const last = round((share(solid.length - 1) * width) / 100)
  const first = round((share(0) * width) / 100)
  return html`<div class="chart">
<svg class="scale" width="44" height="${bottom + below}" aria-hidden="true">${counts.map((count) => html`<text x="36" y="${round(y(count) + 4)}">${axisText(count)}</text>`)}</svg>
<div class="plot" data-unit="${unit}" data-most="${max}" data-top="${top}" data-height="${height}"${unit !== 'hour' && html` data-range="${addressOf(state, { range: { name: '7d' } })}"`}>
<svg class="lines" width="100%" height="${bottom + below}" role="img" aria-label="${description(state, points)}">
${counts.map((count) => html`<line class="grid" x1="0" x2="100%" y1="${round(y(count))}" y2="${round(y(count))}"/>`)}
<svg width="100%" height="${bottom + 4}" viewBox="0 0 ${width} ${bottom + 4}" preserveAspectRatio="none">
<path class="area" d="${line(solid)}L${last} ${bottom}L${first} ${bottom}Z"/>
${previous.length > 0 && html`<path class="previous" d="${line(previous)}${previous.length === 1 && 'h0'}"/>`}
<path class="current" d="${line(solid)}${solid.length === 1 && 'h0'}"/>
${solid.length < all.length && html`<path class="open" d="${line(all.slice(-2))}"/>`}
</svg>
${ticks.map(({ index, text, onlyWide }) => html`<text class="${anchor(share(index))}${onlyWide && ' only-wide'}" x="${round(share(index))}%" y="${bottom + 20}">${text}</text>`)}
</svg></div></div>`
}

const round = (number: number): string => String(Math.round(number * 10) / 10)

/** A label at the right edge ends there, so that it stays inside. */
const anchor = (share: number): string => (share > 97 ? 'at-end' : 'at-middle')

function description({ metric }: DashboardState, points: readonly Point[]): string {
  const [first, last] = [points[0] as Point, points.at(-1) as Point]
  const name = metric === 'visitors' ? 'Visitors' : 'Pageviews'
  return points.length === 1 ? `${name}: ${first.name}` : `${name}: ${first.name} to ${last.name}`
}

function legend(
  { compares }: DashboardState,
  { unit, points, isOpen, previousUntil }: Series,
  { local, periods }: Moment,
): Html {
  const { current, previous } = periods
  const day = (date: Temporal.PlainDate) => shortDay(date, local.year)
  const days = ({ firstDay, lastDay }: typeof current) =>
    firstDay.equals(lastDay) ? day(firstDay) : `${day(firstDay)} – ${day(lastDay)}`
  const time = (at: Temporal.ZonedDateTime) => `${day(at.toPlainDate())}, ${clockTime(at)}`
  const isHourly = unit === 'hour'
  const shown: HtmlValue[] = [
    html`<span><i></i>${isHourly ? `${time(current.start)} – ${time(current.end)}` : days(current)}</span>`,
  ]
  if (compares && points.some((point) => point.previous))
    shown.push(
      html`<span><i class="previous"></i>${isHourly ? `${time(previous.start)} – ${time(previous.end)}` : `${days(previous)}${previousUntil === undefined ? '' : `, until ${previousUntil}`}`}</span>`,
    )
  if (isOpen)
    shown.push(html`<span><i class="open"></i>${unit === 'day' ? 'today so far' : 'this month so far'}</span>`)
  if (isHourly) shown.push(html`<span>a visitor counts in every hour with an event</span>`)
  return html`<p class="legend">${shown}</p>`
}

function commands(state: DashboardState, moment: Moment, publicUrl: string): HtmlValue {
  const numbers = { kind: 'totals', fields: comparison(state) } as const
  const chart = askedByChart(state, moment, comparison(state))
  return (
    !state.isShared &&
    moreMenu('the numbers', [
      curlOf(state, publicUrl, numbers, { id: 'totals', text: 'Numbers as curl', label: 'totals' }),
      curlOf(state, publicUrl, chart, { id: 'timeseries', text: 'Chart as curl', label: 'timeseries' }),
    ])
  )
}

function table({ metric }: DashboardState, { unit, points }: Series): Html {
  const name = metric === 'visitors' ? 'Visitors' : 'Pageviews'
  const isCompared = points.some(({ previous }) => previous)
  const before = ({ previous }: Point): HtmlValue =>
    isCompared && html`<td class="right">${previous && inFull(previous.value)}</td><td>${previous?.name}</td>`
  return html`<details class="numbers"><summary>Numbers of the chart</summary>
<div class="scrolled" tabindex="0" role="region" aria-label="Numbers of the chart"><table id="chart-numbers">
<thead><tr><th scope="col">${{ day: 'Day', month: 'Month', hour: 'Hour' }[unit]}</th><th scope="col" class="right">${name}</th>${isCompared && html`<th scope="col" class="right">Before</th><th scope="col">was</th>`}</tr></thead>
<tbody>${points.map((point) => html`<tr data-value="${point.value}"${point.previous && html` data-previous="${point.previous.value}"`}${point.days && html` data-first="${point.days.first}" data-last="${point.days.last}"`}><th scope="row">${point.name}</th><td class="right">${inFull(point.value)}</td>${before(point)}</tr>`)}</tbody>
</table></div></details>`
}
