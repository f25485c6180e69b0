// Query parameters of the statistics endpoints (docs/contract.md 4.1), checked in the contract's order: unsupported_filter,
// then invalid_parameter, then invalid_date. No value is coerced or clamped (decisions D-48 to D-56).

import { type Range, type RangeName, rangeNames } from '../calendar/periods.ts'
import { ApiError } from '../errors.ts'
import { isCountryCode } from '../traffic/country.ts'
import { devices } from '../traffic/device.ts'
import { readCursor } from './cursor.ts'
import { readHostname } from './hostname.ts'
import type { QueryString } from './query-string.ts'
import type { StatsParameters } from './report.ts'

export const parameterNames = [
  'range',
  'start',
  'end',
  'limit',
  'country',
  'device',
  'hostname',
  'utm_source',
  'site_id',
] as const

export type ParameterName = (typeof parameterNames)[number] | 'cursor'

/** The parameters of an endpoint. All are checked, even those without effect (decision D-49). */
export interface Accepted {
  names: readonly ParameterName[]
  limit: { default: number; max: number }
}

const reportParameters: Accepted = { names: parameterNames, limit: { default: 10, max: 100 } }

/** A page of 200 sites costs little more than a page of ten (decision D-191). */
export const sitesParameters: Accepted = { names: [...parameterNames, 'cursor'], limit: { default: 200, max: 200 } }

/** Without a limit, the list of sites has all of them. */
export const siteListParameters: Accepted = {
  ...sitesParameters,
  limit: { ...sitesParameters.limit, default: Infinity },
}

const unsupported = ['browser', 'os', 'channel']
export const maxParameters = 32

export interface ReadParameters extends StatsParameters {
  /** From the cursor: the domain after which the page begins. */
  after?: string
}

export function readParameters(query: QueryString, accepted = reportParameters): ReadParameters {
  refuseUnsupportedFilters(query)
  refuseVariants(query, accepted.names)
  if (query.size > maxParameters) {
    throw new ApiError('invalid_parameter', `At most ${maxParameters} parameters may be sent.`)
  }
  const range = one(query, 'range', readRange) ?? '30d'
  const limit = one(query, 'limit', (text) => readLimit(text, accepted.limit.max)) ?? accepted.limit.default
  const country = one(query, 'country', readCountry)
  const device = one(query, 'device', readDevice)
  const hostname = one(query, 'hostname', readHostname)
  const utmSource = one(query, 'utm_source', readUtmSource)
  const after = accepted.names.includes('cursor') ? one(query, 'cursor', readCursor) : undefined
  return {
    range: rangeOf(query, range),
    limit,
    ...(after !== undefined && { after }),
    filters: {
      ...(country && { country }),
      ...(device && { device }),
      ...(hostname && { hostname }),
      ...(utmSource && { utmSource }),
    },
  }
}

/** Dates are checked even where they have no effect. */
export function rangeOf(query: QueryString, name: RangeName): Range {
  const start = oneDate(query, 'start')
  const end = oneDate(query, 'end')
  return name === 'custom' ? customRange(start, end) : { name }
}

function customRange(start: Temporal.PlainDate | undefined, end: Temporal.PlainDate | undefined): Range {
  if (!(start && end)) throw new ApiError('invalid_date', 'A custom range needs both start and end.')
  if (Temporal.PlainDate.compare(start, end) > 0) {
    throw new ApiError('invalid_date', 'start must not be after end.')
  }
  return { name: 'custom', firstDay: start, lastDay: end }
}

export function refuseUnsupportedFilters(query: QueryString): void {
  for (const name of query.keys()) if (unsupported.includes(plainName(name))) throw new ApiError('unsupported_filter')
}

/** Refuses names like `Country` and `range[]`. Ignoring them would answer a different query with 200 (decision D-56). */
export function refuseVariants(query: QueryString, names: readonly string[]): void {
  for (const name of query.keys()) {
    const parameter = names.find((one) => one !== name && one === plainName(name))
    if (parameter)
      throw new ApiError(
        'invalid_parameter',
        `${parameter} must be written as ${parameter}=…, in lower case and without brackets.`,
      )
  }
}

/** The name in lower case, without trailing brackets and their content. */
export function plainName(name: string): string {
  const bracket = name.endsWith(']') ? name.indexOf('[') : -1
  return (bracket === -1 ? name : name.slice(0, bracket)).toLowerCase()
}

/**
 * Sentences for the Stats-Warning header about parameters without effect (decision D-30). `unused` are valid parameters that have no effect
 * on this endpoint.
 */
export function warningsOf(
  query: QueryString,
  { range }: Pick<StatsParameters, 'range'>,
  unused: readonly string[],
  { names }: { names: readonly string[] } = reportParameters,
): string[] {
  const warnings = [...query.keys()]
    .filter((name) => !names.includes(name))
    .map((name) =>
      name === ''
        ? 'a parameter without a name was ignored'
        : `unknown parameter ${encodeURIComponent(name.toWellFormed()).slice(0, 64)} was ignored`,
    )
  for (const name of ['start', 'end'] as const) {
    const [value] = unused.includes(name) ? [] : (query.get(name) ?? [])
    if (value && range.name !== 'custom') warnings.push(`${name} has no effect without range=custom`)
    else if (value && dateTime.test(value))
      warnings.push(`the time in ${name} has no effect, only its date as written counts`)
  }
  for (const name of unused) if (query.has(name)) warnings.push(`${name} has no effect on this endpoint`)
  return warnings
}

/** The single value of a parameter, or undefined if it was not sent. Refuses repeated, empty and undecodable values. */
export function one<Value>(query: QueryString, name: string, read: (text: string) => Value): Value | undefined {
  const values = query.get(name)
  if (!values) return undefined
  if (values.length > 1) throw new ApiError('invalid_parameter', `${name} may be sent only once.`)
  const [value] = values
  if (value === null) {
    throw new ApiError(
      'invalid_parameter',
      `The %-escapes of ${name} are not UTF-8 text: write its value in UTF-8, then percent-encode it.`,
    )
  }
  if (!value) throw new ApiError('invalid_parameter', `${name} needs a value.`)
  return read(value)
}

const rangeMessage = `range must be one of ${rangeNames.join(', ')}.`

export function readRange(text: string): RangeName {
  if (!(rangeNames as readonly string[]).includes(text)) throw new ApiError('invalid_parameter', rangeMessage)
  return text as RangeName
}

export function readLimit(text: string, max: number): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text) || Number(text) > max) {
    throw new ApiError('invalid_parameter', `limit must be a whole number from 1 to ${max}.`)
  }
  return Number(text)
}

/** Tests the original text, because some other letters become ASCII letters in upper or lower case: the upper case of a dotless ı is I. */
const ascii = /^[A-Za-z]+$/

function readCountry(text: string) {
  const code = text.toUpperCase()
  if (code === 'UK')
    throw new ApiError('invalid_parameter', 'country must be a code of ISO 3166-1; for the UK it is GB.')
  if (!ascii.test(text) || !isCountryCode(code)) {
    throw new ApiError('invalid_parameter', 'country must be a two-letter code of ISO 3166-1, such as DE.')
  }
  return code
}

function readDevice(text: string) {
  const device = devices.find((label) => label !== 'Unknown' && label.toLowerCase() === text.toLowerCase())
  if (!device || !ascii.test(text)) throw new ApiError('invalid_parameter', 'device must be desktop, mobile or tablet.')
  return device
}

function readUtmSource(text: string): string {
  if ([...text].length > 255) throw new ApiError('invalid_parameter', 'utm_source may have at most 255 characters.')
  if (/\p{Cc}/u.test(text)) throw new ApiError('invalid_parameter', 'utm_source may not hold control characters.')
  return text
}

/** Years begin with 0001: our calendar has no year 0. */
const plainDate = /^(?!0000)(\d{4}-\d{2}-\d{2}|\d{8})$/
/** ISO 8601, with or without separators; the groups capture the date. */
const dateTime =
  /^(?:(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3])(?::[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d{1,9})?)?)?|(\d{8})[Tt](?:[01]\d|2[0-3])(?:[0-5]\d(?:(?:[0-5]\d|60)(?:[.,]\d{1,9})?)?)?)(?:[Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/

/** A calendar date, or the date part of a date-time as written (decision D-54). */
export function oneDate(query: QueryString, name: 'start' | 'end' | 'day'): Temporal.PlainDate | undefined {
  const values = query.get(name)
  if (!values) return undefined
  const fault = new ApiError('invalid_date', `${name} must be one existing date, such as 2026-01-31 or 20260131.`)
  const [value] = values
  if (values.length > 1 || !value) throw fault
  const [, extended, basic] = dateTime.exec(value) ?? []
  const date = extended ?? basic ?? value
  if (value.includes(' ') && dateTime.test(value.replace(' ', '+')))
    throw new ApiError('invalid_date', `A + in an address means a space: write %2B in ${name}.`)
  if (!plainDate.test(date)) throw fault
  try {
    return Temporal.PlainDate.from(date)
  } catch {
    throw fault // right shape, but no such day
  }
}
