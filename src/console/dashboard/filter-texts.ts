// Filters as segments, shared links and reports store them: texts as in the API.

import { filterWords, forPeople } from '../../display/labels.ts'
import { ApiError } from '../../errors.ts'
import { type Filter, filterText, readFilters } from '../../stats/questions/filters.ts'
import type { Segment } from '../../users/segments.ts'
import { type Html, html } from '../../web/html.ts'

/** In an address. A question may have three times as many (locks.ts), and questions have limits, too. */
const maxLength = 1_500

export const textOf = ({ dimension, operator, values }: Filter): string => filterText(dimension.name, operator, values)

/** `filter=page:is:/blog&filter=country:is:DE`, percent-encoded. */
export const queryOfFilters = (filters: readonly Filter[]): string =>
  String(new URLSearchParams(filters.map((filter) => ['filter', textOf(filter)])))

/** What a form sent. */
export function enteredFilters(texts: readonly string[]): { filters: Filter[] } | { wrong: string } {
  try {
    const filters = readFilters([...new Set(texts)])
    const isLong = queryOfFilters(filters).length > maxLength
    return isLong ? { wrong: 'These filters are too long to be stored. Use fewer values.' } : { filters }
  } catch (error) {
    if (error instanceof ApiError) return { wrong: forPeople(error.message) }
    throw error
  }
}

export interface ShownSegment {
  name: string
  filters: readonly Filter[]
}

/** Without those that cannot be read any more. */
export const readSegments = (segments: readonly Segment[]): ShownSegment[] =>
  segments.flatMap(({ name, filters }) => {
    const read = enteredFilters(filters)
    return 'wrong' in read ? [] : [{ name, filters: read.filters }]
  })

/** Whether they ask the same, in whatever order. */
export const areSame = (one: readonly Filter[], other: readonly Filter[]): boolean => keyOf(one) === keyOf(other)

const keyOf = (filters: readonly Filter[]): string =>
  JSON.stringify(filters.map((filter) => textOf({ ...filter, values: filter.values.toSorted() })).toSorted())

/** In words. */
export const filterList = (filters: readonly Filter[]): Html =>
  html`<span class="filter-list">${filters.map((filter) => html`<span>${filterWords(filter)}</span>`)}</span>`
