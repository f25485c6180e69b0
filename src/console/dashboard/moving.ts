// What moves on an open dashboard: who is there now, and numbers and chart. Every open page asks for the same moment, so that however many are
// open, the cache answers all but the first (decision D-241).
import { minuteMs } from '../../durations.ts'
import { readQueryString } from '../../stats/query-string.ts'
import { html } from '../../web/html.ts'
import { Refusal } from '../refusals.ts'
import { type Reply, show } from '../route.ts'
import type { Answer, Moment } from './answers.ts'
import { askForCard, card } from './card.ts'
import { numbersAt } from './note.ts'
import { type DashboardState, defaultState } from './state.ts'
import { askingOf, nowText, readNotes, type Viewing, withState } from './view.ts'

/** As often as moving.js asks. */
const numbersEveryMs = minuteMs
const nowEveryMs = minuteMs / 4

const since = (viewing: Viewing, everyMs: number): Viewing => {
  const { services } = viewing
  const clock = services.now()
  return { ...viewing, services: { ...services, now: () => clock - (clock % everyMs) } }
}

/** The part of the page with the numbers and the chart, and the line that says of when they are. */
export async function showNumbers(given: Viewing): Promise<Reply> {
  const viewing = since(given, numbersEveryMs)
  const first = readQueryString(viewing.url).get('first')?.[0]
  return withState(
    viewing,
    async (state, moment) => {
      const ask = askingOf(viewing, state, moment, new AbortController().signal)
      const asked = { ...askForCard(state, ask, moment), notes: readNotes(viewing, moment) }
      const [totals, intervals, conversions] = await Promise.all([asked.totals, asked.intervals, asked.conversions])
      // What the page shows is better than what cannot be read now. A refusal is always the same.
      const mayMove = conversions === undefined || isFresh(conversions) || 'refusal' in conversions
      if (!isFresh(totals) || !isFresh(intervals) || !mayMove) throw new Refusal('failed')
      const { publicUrl } = viewing.services
      const firstDay = firstDayAfter(state, moment, first)
      const pieces = await Array.fromAsync(card({ ...asked, totals, state, moment, publicUrl, firstDay }))
      return show(html`${pieces}${numbersAt(moment)}`)
    },
    dayOf(first),
  )
}

const isFresh = (answer: Answer<unknown>): boolean => 'value' in answer && answer.result?.staleMs === undefined

/** The page knew it already, so no statement looks for it again. */
const firstDayAfter = (
  { range }: DashboardState,
  { periods: { compared } }: Moment,
  first: string | null | undefined,
): Temporal.PlainDate | undefined => {
  const day = range.name === 'all' ? undefined : dayOf(first)
  return day && compared && Temporal.PlainDate.compare(compared.firstDay, day) < 0 ? day : undefined
}

function dayOf(text: string | null | undefined): Temporal.PlainDate | undefined {
  try {
    return text ? Temporal.PlainDate.from(text) : undefined
  } catch {
    return undefined
  }
}

export async function showNow(given: Viewing): Promise<Reply> {
  const viewing = since(given, nowEveryMs)
  const state = defaultState(viewing.context)
  return withState(viewing, async (_state, moment) => {
    const ask = askingOf(viewing, state, moment, new AbortController().signal)
    const visitors = await ask.currentVisitors()
    if ('fault' in visitors) throw new Refusal('failed')
    return show(nowText(viewing, visitors) || html``)
  })
}
