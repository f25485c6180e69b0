// Numbers and chart: the part of a dashboard that moves while today is in its range (moving.ts).
import type { Note } from '../../users/notes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import {
  type Answer,
  type Ask,
  type Conversions,
  comparison,
  fieldsOfConversions,
  type Interval,
  type Moment,
  type Totals,
} from './answers.ts'
import { chart } from './chart.ts'
import { tooEarly } from './comparison.ts'
import { numbers } from './numbers.ts'
import { failed } from './refusals.ts'
import { askedByChart, seriesOf } from './series.ts'
import { type DashboardState, fieldsOf, queryOf, shownGoal } from './state.ts'

export function askForCard(state: DashboardState, ask: Ask, moment: Moment) {
  const { kind, fields } = askedByChart(state, moment, comparison(state))
  const goal = shownGoal(state)
  return {
    totals: ask.ask<Totals>('totals', comparison(state)),
    /** Undefined: the site has no goals that this reader may see. */
    conversions: goal === undefined ? undefined : ask.ask<Conversions>('totals', fieldsOfConversions(goal, state)),
    intervals: ask.ask<Interval[]>(kind, fields),
  }
}

export interface Card {
  state: DashboardState
  moment: Moment
  publicUrl: string
  /** Of the traffic, if it is later than what is compared with. */
  firstDay: Temporal.PlainDate | undefined
  totals: Answer<Totals>
  conversions: Promise<Answer<Conversions>> | undefined
  intervals: Promise<Answer<Interval[]>>
  notes: Promise<readonly Note[]>
}

/** In pieces: the numbers are sent before the chart is there. */
export async function* card(given: Card): AsyncGenerator<Html> {
  const { state, moment, publicUrl, firstDay, totals, conversions } = given
  yield html`<section class="card" id="card" aria-label="Numbers and chart"${movingData(given)}>`
  const whyNoChange = firstDay && tooEarly(firstDay, moment.local.year)
  if ('fault' in totals) yield failed(totals, state, moment, true)
  else yield* numbers(state, totals.value, { conversions, whyNoChange })
  const intervals = await given.intervals
  yield html`${
    'fault' in intervals
      ? 'value' in totals && failed(intervals, state, moment, true)
      : chart(state, seriesOf(state, intervals.value, intervals.result?.previousPeriod, moment, firstDay), {
          moment,
          publicUrl,
          notes: await given.notes,
          leftOut: intervals.result?.leftOut ?? [],
        })
  }</section>`
}

/** What moving.js reads. Shared links stay as they are: their limits are for people who open them. */
function movingData({ totals, state, moment, firstDay }: Card): HtmlValue {
  const {
    now,
    local,
    periods: { current },
  } = moment
  const endsNow = Temporal.ZonedDateTime.compare(current.end, local) === 0
  if (state.isShared || !endsNow) return false
  const known = state.range.name === 'all' ? current.firstDay : firstDay
  const query = queryOf([...fieldsOf(state), ['first', String(known ?? '')]])
  return html` data-moving="${state.path}/numbers?${query}" data-at="${now}" data-day="${String(local.toPlainDate())}" data-visitors="${'value' in totals && totals.value.visitors}"`
}
