// Filters as text: `page:is:/pricing,/prices`. A comma ends a value; `\,` is a comma in it and `\\` a backslash.
import { ApiError } from '../../errors.ts'
import { isCountryCode } from '../../traffic/country.ts'
import { devices } from '../../traffic/device.ts'
import type { Goal } from '../../traffic/goals.ts'
import { readHostname } from '../hostname.ts'
import { type Dimension, dimensionNames, dimensionOf, isAction } from './dimensions.ts'

export const operators = ['is', 'is_not', 'contains', 'starts_with'] as const

type Operator = (typeof operators)[number]

/** Several values are alternatives. An empty value means "has none". */
export interface Filter {
  dimension: Dimension
  operator: Operator
  values: readonly string[]
}

export const maxFilters = 8
export const maxValues = 100

export function readFilters(texts: readonly (string | null)[]): Filter[] {
  if (texts.length > maxFilters) throw new ApiError('invalid_filter', `At most ${maxFilters} filters may be sent.`)
  return texts.map(readFilter)
}

/** Stored filters. Undefined: they cannot be read any more, or are about a goal that the site no longer has. */
export function readStoredFilters(
  texts: readonly string[],
  { goals }: { goals: readonly Goal[] },
): Filter[] | undefined {
  try {
    const filters = readFilters(texts)
    const named = filters.filter(({ dimension }) => dimension.name === 'goal').flatMap(({ values }) => values)
    return named.every((name) => name === '' || goals.some((goal) => goal.name === name)) ? filters : undefined
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** `prop:plan:is:pro` has one more colon than the others. Values may have colons. */
const parts = /^(prop:[^:]*|[^:]*):([^:]*):(.*)$/s

function readFilter(text: string | null): Filter {
  if (text === null) throw refused('The %-escapes of a filter are not UTF-8 text.')
  const [, name = '', operator = '', list = ''] = parts.exec(text) ?? []
  if (!parts.test(text)) throw refused(`${quoted(text)} must be written as dimension:operator:value.`)
  const dimension = dimensionOf(name)
  if (!dimension) throw refused(`${quoted(name)} is not one of ${dimensionNames}.`)
  if (!isOperator(operator)) throw refused(`${quoted(operator)} is not one of ${operators.join(', ')}.`)
  const filter = { dimension, operator, values: valuesOf(list) }
  refuseContradictions(filter)
  return { ...filter, values: filter.values.map((value) => normalised(filter, value)) }
}

/** The text of a filter. */
export const filterText = (dimension: string, operator: string, values: readonly string[]): string =>
  `${dimension}:${operator}:${values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',')}`

const isOperator = (text: string): text is Operator => (operators as readonly string[]).includes(text)

function valuesOf(list: string): string[] {
  if (/^(?:[^\\]|\\[\\,])*\\(?![\\,])/s.test(list))
    throw refused('A backslash in a value is written as \\\\, and a comma as \\,.')
  const values = ['']
  for (const [text, escaped] of list.matchAll(/\\([\\,])|,|[^\\,]+/g)) {
    if (text === ',') values.push('')
    else values.push(values.pop() + (escaped ?? text))
  }
  if (values.length > maxValues) throw refused(`A filter may have at most ${maxValues} values.`)
  return values
}

function refuseContradictions({ dimension, operator, values }: Filter): void {
  const hasEmpty = values.includes('')
  const isExact = operator === 'is' || operator === 'is_not'
  if (!isExact && hasEmpty) throw refused(`${operator} of ${dimension.name} needs a value.`)
  if (!isExact && dimension.name === 'goal') throw refused('goal takes is and is_not only.')
  if (hasEmpty && values.length > 1 && isAction(dimension))
    throw refused(`The empty value of ${dimension.name} means that it has none, and stands alone.`)
  if (values.some((value) => /\p{Cc}/u.test(value))) throw refused('A value may not hold control characters.')
}

function normalised({ dimension: { name }, operator }: Filter, value: string): string {
  const isExact = operator === 'is' || operator === 'is_not'
  if (!isExact || value === '') return value
  if (name === 'country') return countryOf(value)
  if (name === 'device') return deviceOf(value)
  if (name === 'hostname') return hostOf(value)
  return value
}

function countryOf(value: string): string {
  const code = value.toUpperCase()
  if (!/^[A-Za-z]{2}$/.test(value) || !isCountryCode(code))
    throw refused(`country must be a two-letter code of ISO 3166-1, such as DE, not ${quoted(value)}.`)
  return code
}

function deviceOf(value: string): string {
  const device = /^[A-Za-z]+$/.test(value) ? value.toLowerCase() : ''
  if (!devices.some((label) => label.toLowerCase() === device))
    throw refused(`device must be desktop, mobile, tablet or unknown, not ${quoted(value)}.`)
  return device
}

function hostOf(value: string): string {
  try {
    return readHostname(value)
  } catch (error) {
    throw error instanceof ApiError ? refused(error.message) : error
  }
}

const refused = (sentence: string) => new ApiError('invalid_filter', `filter: ${sentence}`)

const quoted = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
