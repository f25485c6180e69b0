// The chart as SVG. Its parts have coordinates in percent and its lines are stretched, so it fits any width without a script and its texts
// keep their size. The table below it has all its numbers; chart.js reads them there.

import { axisDuration, axisText } from '../../display/formats.ts'
import { displayOf } from '../../display/metrics.ts'
import { countTicks, durationTicks } from '../../display/scale.ts'
import type { LeftOutDays } from '../../rollups/imported-days.ts'
import type { Note } from '../../users/notes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Moment } from './answers.ts'
import { intervalName } from './intervals.ts'
import { type Hatched, hatchedNote, hatchedOf, hatching, isHatched, leftOutMark } from './left-out.ts'
import { strip } from './legend.ts'
import { addressOfNewNote, flags, type Mark, marksOf, marksText, noteList } from './notes.ts'
import type { Point, Series } from './series.ts'
import { addressOf, type ChartMetric, type DashboardState } from './state.ts'

const top = 8
/** With flags at the top, which hide no line. */
const topWithNotes = 30
const below = 26
const width = 1000
const bottom = 224

interface ChartOptions {
  moment: Moment
  publicUrl: string
  /** Of the days that it shows. */
  notes: readonly Note[]
  /** Imported days that are not in the numbers. */
  leftOut: readonly LeftOutDays[]
}

export function chart(state: DashboardState, series: Series, options: ChartOptions): Html {
  const { moment, publicUrl, notes } = options
  if (series.points.length === 0)
    return html`<div class="chart"><p class="nothing">This range has not begun yet.</p></div>`
  const marks = marksOf(series.points, notes)
  const hatched = hatchedOf(series.points, options.leftOut)
  const add = addressOfNewNote(state, moment.periods.current.lastDay)
  return html`${strip(state, series, { moment, publicUrl, notes })}${drawing(state, series, marks, hatched)}
${hatchedNote(hatched)}${noteList(state, notes, moment)}<div class="foot chart-foot">${table(state, series, marks, hatched)}${state.isOwner && html`<a href="${add}">Add a note</a>`}</div>`
}

/** Where things are: points in percent of the width, numbers in pixels from the top. */
interface Scale {
  x(index: number): number
  y(value: number): number
  /** The room of one point, in percent. */
  step: number
}

function drawing(state: DashboardState, series: Series, marks: readonly Mark[], hatched: readonly Hatched[]): Html {
  const { unit, points, room, ticks } = series
  const largest = Math.max(...points.flatMap(({ value, previous }) => [value, previous?.value ?? 0]))
  const { counts, axis } = axisOf(state.metric, largest)
  const max = counts.at(-1) as number
  const highest = marks.length > 0 ? topWithNotes : top
  const height = bottom - highest
  const isBars = unit === 'hour'
  const gaps = isBars ? room : Math.max(1, room - 1)
  const scale: Scale = {
    x: (index) => (isBars ? (100 * (index + 0.5)) / gaps : points.length === 1 ? 50 : (100 * index) / gaps),
    y: (value) => bottom - (value / max) * height,
    step: 100 / gaps,
  }
  const canDrag = points.some(({ days }) => days)
  return html`<div class="chart">
<svg class="scale" width="44" height="${bottom + below}" aria-hidden="true">${counts.map((count) => html`<text x="36" y="${round(scale.y(count) + 4)}">${axis(count)}</text>`)}</svg>
<div class="plot" data-unit="${unit}" data-metric="${displayOf(state.metric).name}" data-gaps="${gaps}" data-most="${max}" data-top="${highest}" data-height="${height}"${canDrag && html` data-range="${addressOf(state, { range: { name: '7d' } })}"`}>
<svg class="lines" width="100%" height="${bottom + below}" role="img" aria-label="${description(state, points)}">
${counts.map((count) => html`<line class="grid" x1="0" x2="100%" y1="${round(scale.y(count))}" y2="${round(scale.y(count))}"/>`)}
${hatching(hatched, scale, { top: highest, bottom })}${marks.length > 0 && flags(marks, scale.x, bottom)}${isBars ? bars(series, scale) : lines(series, scale)}
${ticks.map(({ index, text, onlyWide }) => html`<text class="${isBars ? 'at-middle' : anchor(scale.x(index))}${onlyWide && ' only-wide'}" x="${round(scale.x(index))}%" y="${bottom + 20}">${text}</text>`)}
</svg>${canDrag && links(state, points, scale)}</div></div>`
}

/** The numbers at the side, and how they are written. */
function axisOf(metric: ChartMetric, largest: number): { counts: number[]; axis(count: number): string } {
  if (metric === 'avg_duration') return { counts: durationTicks(largest), axis: axisDuration }
  return { counts: countTicks(largest), axis: metric === 'bounce_rate' ? (count) => `${count}%` : axisText }
}

function lines({ points, isOpen }: Series, { x, y }: Scale): Html {
  const line = (all: readonly (readonly [index: number, value: number])[]) =>
    all
      .map(([index, value], nth) => `${nth === 0 ? 'M' : 'L'}${round((x(index) * width) / 100)} ${round(y(value))}`)
      .join('')
  const all = points.map(({ value }, index) => [index, value] as const)
  const solid = isOpen && all.length > 1 ? all.slice(0, -1) : all
  const previous = points.flatMap(({ previous }, index) =>
    previous?.isCounted ? [[index, previous.value] as const] : [],
  )
  const last = round((x(solid.length - 1) * width) / 100)
  const first = round((x(0) * width) / 100)
  return html`<svg width="100%" height="${bottom + 4}" viewBox="0 0 ${width} ${bottom + 4}" preserveAspectRatio="none">
<path class="area" d="${line(solid)}L${last} ${bottom}L${first} ${bottom}Z"/>
${previous.length > 0 && html`<path class="previous" d="${line(previous)}${previous.length === 1 && 'h0'}"/>`}
<path class="current" d="${line(solid)}${solid.length === 1 && 'h0'}"/>
${solid.length < all.length && html`<path class="open" d="${line(all.slice(-2))}"/>`}
</svg>`
}

/** An hour is a bar, and the hour that it is compared with a tick over it: lines between hours would be read as numbers. */
function bars({ points, isOpen }: Series, { x, y, step }: Scale): HtmlValue {
  const part = (index: number, share: number) => [x(index) - (share * step) / 2, share * step].map(fine)
  return [
    points.map(({ value }, index) => {
      const [left, wide] = part(index, 0.68)
      const isUnfinished = isOpen && index === points.length - 1
      return html`<rect class="hour${isUnfinished && ' open'}" x="${left}%" width="${wide}%" y="${round(y(value))}" height="${round(bottom - y(value))}" rx="2"/>`
    }),
    points.map(({ previous }, index) => {
      const [left, wide] = part(index, 0.86)
      return (
        previous?.isCounted &&
        html`<rect class="was" x="${left}%" width="${wide}%" y="${round(y(previous.value) - 1)}" height="2"/>`
      )
    }),
  ]
}

/** A click on a point opens its days. Keyboards and screen readers find the same links in the table. */
function links(state: DashboardState, points: readonly Point[], { x, step }: Scale): Html {
  return html`<svg class="opens" width="100%" height="${bottom}" aria-hidden="true">${points.map((point, index) => {
    const left = Math.max(0, x(index) - step / 2)
    const wide = Math.min(100, x(index) + step / 2) - left
    return html`<a href="${addressOfPoint(state, point)}" tabindex="-1"><rect class="slot" x="${fine(left)}%" width="${fine(wide)}%" height="100%"/></a>`
  })}</svg>`
}

const addressOfPoint = (state: DashboardState, { days }: Point): string | undefined =>
  days && addressOf(state, { range: { name: 'custom', firstDay: days.first, lastDay: days.last } })

const round = (number: number): string => String(Math.round(number * 10) / 10)
const fine = (number: number): string => String(Math.round(number * 100) / 100)

/** A label at the right edge ends there, so that it stays inside. */
const anchor = (share: number): string => (share > 97 ? 'at-end' : 'at-middle')

function description({ metric }: DashboardState, points: readonly Point[]): string {
  const [first, last] = [points[0] as Point, points.at(-1) as Point]
  const { name } = displayOf(metric)
  return points.length === 1 ? `${name}: ${first.name}` : `${name}: ${first.name} to ${last.name}`
}

function table(
  state: DashboardState,
  { unit, points }: Series,
  marks: readonly Mark[],
  hatched: readonly Hatched[],
): Html {
  const { name, text } = displayOf(state.metric)
  const isCompared = points.some(({ previous }) => previous)
  const before = ({ previous }: Point): HtmlValue =>
    isCompared && html`<td class="right">${previous && text(previous.value)}</td><td>${previous?.name}</td>`
  const noteOf = new Map(marks.map(({ index, notes }) => [points[index], marksText(notes)]))
  const canNote = state.isOwner && points.some(({ days }) => days)
  return html`<details class="numbers"><summary>Numbers of the chart</summary>
<div class="scrolled" tabindex="0" role="region" aria-label="Numbers of the chart"><table id="chart-numbers">
<thead><tr><th scope="col">${intervalName(unit)}</th><th scope="col" class="right">${name}</th>${isCompared && html`<th scope="col" class="right">Before</th><th scope="col">was</th>`}${canNote && html`<th scope="col"><span class="unseen">Notes</span></th>`}</tr></thead>
<tbody>${points.map((point, index) => html`<tr${dataOf(point, noteOf.get(point))}><th scope="row">${point.days ? html`<a href="${addressOfPoint(state, point)}">${point.name}</a>` : point.name}${isHatched(hatched, index) && leftOutMark}</th><td class="right">${text(point.value)}</td>${before(point)}${canNote && html`<td class="right"><a href="${addressOfNewNote(state, point.slot.first)}">Add a note<span class="unseen"> on ${point.name}</span></a></td>`}</tr>`)}</tbody>
</table></div></details>`
}

/** What chart.js reads. */
const dataOf = ({ value, share, previous, days }: Point, note: string | undefined): Html =>
  html` data-value="${value}"${previous && html` data-previous="${previous.value}"`}${previous && previous.change !== null && html` data-change="${previous.change}"`}${share && html` data-share="${share}"`}${note && html` data-note="${note}"`}${days && html` data-first="${String(days.first)}" data-last="${String(days.last)}"`}`
