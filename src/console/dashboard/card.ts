// Numbers and chart: the part of a dashboard that moves while today is in its range (moving.ts).
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Answer, Interval, Moment, Totals } from './answers.ts'
import { chart } from './chart.ts'
import { tooEarly } from './comparison.ts'
import { numbers } from './numbers.ts'
import { failed } from './refusals.ts'
import { seriesOf } from './series.ts'
import { type DashboardState, fieldsOf, queryOf } from './state.ts'

export interface Card {
  state: DashboardState
  moment: Moment
  publicUrl: string
  /** Of the traffic, if it is later than what is compared with. */
  firstDay: Temporal.PlainDate | undefined
}

/** Sent before the chart is there. */
export const cardBegin = (totals: Answer<Totals>, { state, moment, firstDay }: Card): Html =>
  html`<section class="card" id="card" aria-label="Numbers and chart"${movingData(totals, state, moment, firstDay)}>${'fault' in totals ? failed(totals, state, moment, true) : numbers(state, totals.value, firstDay && tooEarly(firstDay, moment.local.year))}`

export const cardEnd = (
  totals: Answer<Totals>,
  intervals: Answer<Interval[]>,
  { state, moment, publicUrl, firstDay }: Card,
): Html =>
  html`${
    'fault' in intervals
      ? 'value' in totals && failed(intervals, state, moment, true)
      : chart(
          state,
          seriesOf(state, intervals.value, intervals.result?.previousPeriod, moment, firstDay),
          moment,
          publicUrl,
        )
  }</section>`

/** What moving.js reads. Shared links stay as they are: their limits are for people who open them. */
function movingData(
  totals: Answer<Totals>,
  state: DashboardState,
  { now, local, periods: { current } }: Moment,
  firstDay: Temporal.PlainDate | undefined,
): HtmlValue {
  const endsNow = Temporal.ZonedDateTime.compare(current.end, local) === 0
  if (state.isShared || !endsNow) return false
  const known = state.range.name === 'all' ? current.firstDay : firstDay
  const query = queryOf([...fieldsOf(state), ['first', String(known ?? '')]])
  return html` data-moving="${state.path}/numbers?${query}" data-at="${now}" data-day="${String(local.toPlainDate())}" data-visitors="${'value' in totals && totals.value.visitors}"`
}
