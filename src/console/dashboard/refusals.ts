// A question that the API refuses for its range: what the page says instead, and a range that works.
import { dayCount, rollingDays } from '../../calendar/periods.ts'
import { shortDay } from '../../display/formats.ts'
import { forPeople } from '../../display/labels.ts'
import { rangeTexts } from '../../display/ranges.ts'
import type { ApiError } from '../../errors.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Answer, Moment } from './answers.ts'
import { comparisonOf } from './comparison.ts'
import { addressOf, type Changes, type DashboardState } from './state.ts'

/** `isCompared`: the question was also about the period before, which may be the reason. */
export function failed(
  { fault, refusal }: Extract<Answer<unknown>, { fault: string }>,
  state: DashboardState,
  moment: Moment,
  isCompared = false,
): Html {
  const { text, offers } = (refusal && explained(refusal, state, moment)) ?? { text: forPeople(fault), offers: [] }
  const all = refusal && isCompared && comparisonOf(state) ? [...offers, withoutComparison] : offers
  return html`<p class="fault panel-fault" role="alert">${text}${all.map(
    ({ name, changes }): HtmlValue => html` <a href="${addressOf(state, changes)}">${name}</a>`,
  )}</p>`
}

interface Offer {
  name: string
  changes: Changes
}

const withoutComparison: Offer = { name: 'Without the comparison', changes: { compare: undefined } }

function explained(
  { code }: ApiError,
  state: DashboardState,
  { local, periods: { current } }: Moment,
): { text: string; offers: Offer[] } | undefined {
  if (code === 'query_too_expensive') {
    const shorter = (['90d', '30d', '7d'] as const).find((name) => rollingDays[name] < dayCount(current))
    const offers: Offer[] = shorter ? [{ name: rangeTexts[shorter], changes: { range: { name: shorter } } }] : []
    return { text: 'There are too many visits in this range to count this at once.', offers }
  }
  if (code !== 'range_not_kept') return undefined
  const from = Temporal.PlainDate.from(state.site.coverage.eventsFrom)
  const { firstDay, lastDay } = current
  const isWithin = (day: Temporal.PlainDate, other: Temporal.PlainDate) => Temporal.PlainDate.compare(day, other) <= 0
  const day = shortDay(from, local.year)
  const text = `Only numbers are kept of the days before ${day}, and this needs single visits.`
  if (isWithin(from, firstDay) || !isWithin(from, lastDay)) return { text, offers: [] }
  const range = { name: 'custom', firstDay: from, lastDay } as const
  return { text, offers: [{ name: `${day} – ${shortDay(lastDay, local.year)}`, changes: { range } }] }
}
