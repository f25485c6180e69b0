// The line above the chart: what is drawn, what it is compared with, by which interval, and what can be done with the numbers.
import type { Period } from '../../calendar/periods.ts'
import { clockTime, inFull, longDay, shortDay } from '../../display/formats.ts'
import type { Note } from '../../users/notes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { comparison, fieldsOfConversions, type Moment } from './answers.ts'
import { curlOf, rowEnd } from './curl.ts'
import { intervalChoices } from './intervals.ts'
import { moreMenu } from './more-menu.ts'
import { notesInLegend } from './notes.ts'
import { askedByChart, type Series } from './series.ts'
import { type DashboardState, shownGoal } from './state.ts'

interface StripOptions {
  moment: Moment
  publicUrl: string
  notes: readonly Note[]
}

export const strip = (state: DashboardState, series: Series, { moment, publicUrl, notes }: StripOptions): Html =>
  html`<div class="strip"><p class="legend">${legend(state, series, moment)}${notesInLegend(notes)}</p>${intervalChoices(state, moment)}${commands(state, moment, publicUrl)}${rowEnd}</div>`

function legend(
  { range, metric }: DashboardState,
  { unit, points, isOpen, previousUntil, firstDay }: Series,
  { local, periods: { current, compared } }: Moment,
): HtmlValue[] {
  const isHourly = unit === 'hour'
  const day = (date: Temporal.PlainDate) => shortDay(date, local.year)
  const days = ({ start, end, firstDay, lastDay }: Period) => {
    if (range.name === '24h') return [start, end].map((at) => `${day(at.toPlainDate())}, ${clockTime(at)}`).join(' – ')
    return firstDay.equals(lastDay) ? longDay(firstDay, local.year) : `${day(firstDay)} – ${day(lastDay)}`
  }
  const until = range.name === '24h' || previousUntil === undefined ? '' : `, until ${previousUntil}`
  const sum = points.reduce((total, { value }) => total + value, 0)
  return [
    html`<span><i${isHourly && html` class="block"`}></i>${days(current)}</span>`,
    compared &&
      points.some((point) => point.previous) &&
      html`<span data-short="before"><i class="${isHourly ? 'tick' : 'previous'}"></i><span class="wide">${days(compared)}${until}${firstDay && `, first event ${day(firstDay)}`}</span></span>`,
    isOpen &&
      html`<span class="wide"><i class="${isHourly ? 'open block' : 'open'}"></i>${unit === 'day' ? 'today' : `this ${unit}`} so far</span>`,
    isHourly &&
      metric === 'visitors' &&
      html`<span class="wide">The hours add up to ${inFull(sum)}: who stays past the hour counts in both</span>`,
  ]
}

function commands(state: DashboardState, moment: Moment, publicUrl: string): HtmlValue {
  const numbers = { kind: 'totals', fields: comparison(state) } as const
  const chart = askedByChart(state, moment, comparison(state))
  const goal = shownGoal(state)
  const conversions = goal !== undefined && ({ kind: 'totals', fields: fieldsOfConversions(goal, state) } as const)
  return (
    !state.isShared &&
    moreMenu('the numbers', [
      curlOf(state, publicUrl, numbers, { id: 'totals', text: 'Numbers as curl', label: 'totals' }),
      conversions &&
        curlOf(state, publicUrl, conversions, { id: 'conversions', text: 'Conversions as curl', label: 'totals' }),
      curlOf(state, publicUrl, chart, { id: 'timeseries', text: 'Chart as curl', label: 'timeseries' }),
    ])
  )
}
