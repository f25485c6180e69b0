// By which intervals the chart can be drawn and read: hours, days, weeks or months.
import { dayCount, type Period } from '../../calendar/periods.ts'
import type { Interval } from '../../stats/questions/question.ts'
import { type Html, html } from '../../web/html.ts'
import type { Moment } from './answers.ts'
import { addressOf, type DashboardState } from './state.ts'

/** Two points are no line, and more than these are a blur. */
const minPoints = 3
const maxPoints = 400
/** The bars of these hours are wider than a pixel on a phone. */
const maxDaysOfHours = 7

/** Those that can be shown. A single day is only shown by the hour. */
function intervalsOf({ range, site }: DashboardState, { periods }: Moment): readonly Interval[] {
  const { current, compared } = periods
  const days = dayCount(current)
  if (range.name === '24h' || days === 1) return ['hour']
  const isKept = (period: Period | undefined) => !period || String(period.firstDay) >= site.coverage.eventsFrom
  const offered: Interval[] = days > 0 && days <= maxDaysOfHours && isKept(current) && isKept(compared) ? ['hour'] : []
  for (const [interval, points] of Object.entries(pointsOf(current, days)))
    if (points >= minPoints && points <= maxPoints) offered.push(interval as Interval)
  return offered.length > 0 ? offered : [days < minPoints ? 'day' : 'month']
}

const pointsOf = ({ firstDay, lastDay }: Period, days: number) => ({
  day: days,
  week: Math.ceil((days + firstDay.dayOfWeek - 1) / 7),
  month: 12 * (lastDay.year - firstDay.year) + lastDay.month - firstDay.month + 1,
})

/** The interval that was chosen if it can be shown, otherwise one that is easily read. */
export function intervalOf(state: DashboardState, moment: Moment): Interval {
  const offered = intervalsOf(state, moment)
  return (
    offered.find((one) => one === state.interval) ??
    offered.find((one) => one === usual(dayCount(moment.periods.current))) ??
    (offered[0] as Interval)
  )
}

function usual(days: number): Interval {
  if (days <= 2) return 'hour'
  if (days <= 92) return 'day'
  return days <= 731 ? 'week' : 'month'
}

const names = { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' } as const

export const intervalName = (interval: Interval): string => names[interval]

export function intervalChoices(state: DashboardState, moment: Moment): Html {
  const offered = intervalsOf(state, moment)
  const chosen = intervalOf(state, moment)
  if (offered.length === 1) return html`<span class="by-interval">by the ${chosen}</span>`
  return html`<nav class="intervals" aria-label="Interval">${offered.map(
    (interval) =>
      html`<a class="interval" href="${addressOf(state, { interval })}"${interval === chosen && html` aria-current="true"`} data-stay>${names[interval]}</a>`,
  )}</nav>`
}
