// Dates or a filter that make no sense: their form comes again with what was typed, and a sentence. The rest of the address stays.
import type { ApiError } from '../../errors.ts'
import { readQueryString } from '../../stats/query-string.ts'
import { type DashboardContext, type DashboardState, defaultState, isTyped, readState } from './state.ts'

export interface DateMistake {
  start: string
  end: string
  sentence: string
  /** The same days in their order, if only that was wrong. */
  swapped?: { firstDay: Temporal.PlainDate; lastDay: Temporal.PlainDate }
}

export interface FilterMistake {
  field: string
  operator: string
  value: string
  sentence: string
}

export interface Mistake {
  state: DashboardState
  dates?: DateMistake
  filter?: FilterMistake
}

/** Undefined: the mistake was not made in a form. */
export function mistakeIn(
  context: DashboardContext,
  url: string,
  clock: number,
  { code, message }: ApiError,
): Mistake | undefined {
  const without = (...names: string[]) => stateWithout(names, context, url, clock)
  const query = readQueryString(url)
  const text = (name: string) => query.get(name)?.[0] ?? ''
  if (code === 'invalid_date')
    return { state: without('range', 'start', 'end'), dates: mistakeOf(text('start'), text('end')) }
  if (code !== 'invalid_filter' || !isTyped(url)) return undefined
  const typed = { field: text('field'), operator: text('operator'), value: text('value') }
  return { state: without('field', 'operator', 'value'), filter: { ...typed, sentence: message } }
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

function stateWithout(names: readonly string[], context: DashboardContext, url: string, clock: number): DashboardState {
  const [path, query] = url.split('?')
  const fields = new URLSearchParams(query)
  for (const name of [...names, 'cursor']) fields.delete(name)
  try {
    return readState(context, `${path}?${fields}`, { clock })
  } catch {
    return defaultState(context) // something else is wrong, too
  }
}
