// Query parameters of the statistics endpoints (docs/contract.md 4.1), checked in the contract's order: unsupported_filter,
// then invalid_parameter, then invalid_date. No value is coerced or clamped (decisions D-48 to D-56).
import { ApiError } from '../errors.ts'
import { type RangeName, rangeNames } from '../stats/period.ts'
import type { Filters } from '../stats/query.ts'
import { isCountryCode } from '../traffic/country.ts'
import { devices } from '../traffic/device.ts'
import { readHostname } from './hostname.ts'
import type { QueryString } from './query-string.ts'

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

export type ParameterName = (typeof parameterNames)[number]

const unsupported = ['browser', 'os', 'channel']
const mostParameters = 32

export interface Parameters {
  range: RangeName
  start: Temporal.PlainDate | undefined
  end: Temporal.PlainDate | undefined
  limit: number
  filters: Filters
}

export function readParameters(query: QueryString): Parameters {
  refuseUnsupportedFilters(query)
  refuseVariants(query)
  if (query.size > mostParameters) {
    throw new ApiError('invalid_parameter', `At most ${mostParameters} parameters may be sent.`)
  }
  const range = one(query, 'range', readRange) ?? '30d'
  const limit = one(query, 'limit', readLimit) ?? 10
  const country = one(query, 'country', readCountry)
  const device = one(query, 'device', readDevice)
  const hostname = one(query, 'hostname', readHostname)
  const utmSource = one(query, 'utm_source', readUtmSource)
  const start = oneDate(query, 'start')
  const end = oneDate(query, 'end')
  if (range === 'custom' && !(start && end)) {
    throw new ApiError('invalid_date', 'A custom range needs both start and end.')
  }
  if (range === 'custom' && start && end && Temporal.PlainDate.compare(start, end) > 0) {
    throw new ApiError('invalid_date', 'start must not be after end.')
  }
  return {
    range,
    start,
    end,
    limit,
    filters: {
      ...(country && { country }),
      ...(device && { device }),
      ...(hostname && { hostname }),
      ...(utmSource && { utmSource }),
    },
  }
}

export function refuseUnsupportedFilters(query: QueryString): void {
  for (const name of query.keys()) if (unsupported.includes(plainName(name))) throw new ApiError('unsupported_filter')
}

/** `Country` and `range[]` mean a parameter of ours: ignored, they would answer another question with 200 (decision D-56). */
function refuseVariants(query: QueryString): void {
  for (const name of query.keys()) {
    const known = parameterNames.find((one) => one !== name && one === plainName(name))
    if (known)
      throw new ApiError(
        'invalid_parameter',
        `${known} must be written as ${known}=…, in lower case and without brackets.`,
      )
  }
}

/** In lower case and without brackets at its end, whatever is in them. */
function plainName(name: string): string {
  const bracket = name.endsWith(']') ? name.indexOf('[') : -1
  return (bracket === -1 ? name : name.slice(0, bracket)).toLowerCase()
}

/** What was sent without effect, in sentences for the Stats-Warning header (decision D-30). */
export function warningsOf(query: QueryString, { range }: Parameters, limited: boolean): string[] {
  const warnings = [...query.keys()]
    .filter((name) => !(parameterNames as readonly string[]).includes(name))
    .map((name) => `unknown parameter ${encodeURIComponent(name.toWellFormed()).slice(0, 64)} was ignored`)
  for (const name of ['start', 'end']) {
    const [value] = query.get(name) ?? []
    if (value && range !== 'custom') warnings.push(`${name} has no effect without range=custom`)
    else if (value && dateTime.test(value))
      warnings.push(`the time in ${name} has no effect, only its date as written counts`)
  }
  if (!limited && query.has('limit')) warnings.push('limit has no effect on this endpoint')
  return warnings
}

/** The single value of a parameter, or undefined when it was not sent; repeated, empty and undecodable ones are refused. */
function one<Value>(query: QueryString, name: ParameterName, read: (text: string) => Value): Value | undefined {
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

function readRange(text: string): RangeName {
  if (!(rangeNames as readonly string[]).includes(text)) throw new ApiError('invalid_parameter', rangeMessage)
  return text as RangeName
}

function readLimit(text: string): number {
  if (!/^[1-9][0-9]{0,2}$/.test(text) || Number(text) > 100) {
    throw new ApiError('invalid_parameter', 'limit must be a whole number from 1 to 100.')
  }
  return Number(text)
}

/** Outside of ASCII, other letters than these become these in another case: a dotless ı is no I. */
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

const plainDate = /^(\d{4}-\d{2}-\d{2}|\d{8})$/
/** ISO 8601, with separators or without; the groups are the date. */
const dateTime =
  /^(?:(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3])(?::[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d{1,9})?)?)?|(\d{8})[Tt](?:[01]\d|2[0-3])(?:[0-5]\d(?:(?:[0-5]\d|60)(?:[.,]\d{1,9})?)?)?)(?:[Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/

/** A calendar date, or the date that a date-time begins with, as written (decision D-54). */
function oneDate(query: QueryString, name: 'start' | 'end'): Temporal.PlainDate | undefined {
  const values = query.get(name)
  if (!values) return undefined
  const fault = new ApiError('invalid_date', `${name} must be one existing date, such as 2026-01-31 or 20260131.`)
  const [value] = values
  if (values.length > 1 || !value) throw fault
  const [, extended, basic] = dateTime.exec(value) ?? []
  const date = extended ?? basic ?? value
  if (!plainDate.test(date)) throw fault
  try {
    return Temporal.PlainDate.from(date)
  } catch {
    throw fault // of the right shape, and in no calendar
  }
}
