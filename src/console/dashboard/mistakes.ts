// Dates or a filter that make no sense: their form comes again with what was typed, and a sentence. The rest of the address stays.
import type { ApiError } from '../../errors.ts'
import { readQueryString } from '../../stats/query-string.ts'
import { dayOf, typedDays } from './comparison.ts'
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
  /** In the days to compare with. */
  compared?: DateMistake
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
  if (code === 'invalid_date') {
    const days = typedDays(query)
    const [dates, compared] = [mistakeOf(text('start'), text('end')), days && mistakeOf(...days)]
    const isRangeRight = text('range') !== 'custom' || dates === undefined
    if (compared && isRangeRight) return { state: without('compare', 'compare_start', 'compare_end'), compared }
    return {
      state: without('range', 'start', 'end'),
      dates: dates ?? { start: text('start'), end: text('end'), sentence: noSuchDay },
    }
  }
  if (code !== 'invalid_filter' || !isTyped(url)) return undefined
  const typed = { field: text('field'), operator: text('operator'), value: text('value') }
  return { state: without('field', 'operator', 'value'), filter: { ...typed, sentence: message } }
}

const noSuchDay = 'One of these days does not exist.'

function mistakeOf(start: string, end: string): DateMistake | undefined {
  const typed = { start, end }
  if (start === '' || end === '') return { ...typed, sentence: 'Choose a first and a last day.' }
  const [firstDay, lastDay] = [dayOf(end), dayOf(start)]
  if (!firstDay || !lastDay) return { ...typed, sentence: noSuchDay }
  if (Temporal.PlainDate.compare(firstDay, lastDay) < 0)
    return { ...typed, sentence: 'The first day is after the last one.', swapped: { firstDay, lastDay } }
  const isLong = Temporal.PlainDate.compare(firstDay, lastDay.add({ years: 100 })) >= 0
  return isLong ? { ...typed, sentence: 'A range may be at most 100 years long.' } : undefined
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
