// Dates of a custom range that make no sense: the form comes again with what was typed, and a sentence.
import { readQueryString } from '../../stats/query-string.ts'
import { type DashboardContext, type DashboardState, defaultState, readState } from './state.ts'

export interface DateMistake {
  start: string
  end: string
  sentence: string
  /** The same days in their order, if only that was wrong. */
  swapped?: { firstDay: Temporal.PlainDate; lastDay: Temporal.PlainDate }
}

/** The rest of the address stays. */
export function mistakeInDates(
  context: DashboardContext,
  url: string,
): { state: DashboardState; mistake: DateMistake } {
  const query = readQueryString(url)
  const text = (name: string) => query.get(name)?.[0] ?? ''
  return { state: withoutRange(context, url), mistake: mistakeOf(text('start'), text('end')) }
}

function mistakeOf(start: string, end: string): DateMistake {
  const typed = { start, end }
  if (start === '' || end === '') return { ...typed, sentence: 'Choose a first and a last day.' }
  const [firstDay, lastDay] = [dayOf(end), dayOf(start)]
  if (!firstDay || !lastDay) return { ...typed, sentence: 'One of these days does not exist.' }
  if (Temporal.PlainDate.compare(firstDay, lastDay) >= 0)
    return { ...typed, sentence: 'A range may be at most 100 years long.' }
  return { ...typed, sentence: 'The first day is after the last one.', swapped: { firstDay, lastDay } }
}

function dayOf(text: string): Temporal.PlainDate | undefined {
  try {
    return Temporal.PlainDate.from(text)
  } catch {
    return undefined
  }
}

function withoutRange(context: DashboardContext, url: string): DashboardState {
  const [path, query] = url.split('?')
  const fields = new URLSearchParams(query)
  for (const name of ['range', 'start', 'end']) fields.delete(name)
  try {
    return readState(context, `${path}?${fields}`)
  } catch {
    return defaultState(context) // something else is wrong, too
  }
}
