// Query parameters of the statistics endpoints (docs/contract.md 4.1), checked in the contract's order: unsupported_filter,
// then invalid_parameter, then invalid_date. No value is coerced or clamped (decisions D-48 to D-56).
import { ApiError } from '../errors.ts'
import { type RangeName, rangeNames } from '../stats/period.ts'
import type { Filters } from '../stats/query.ts'
import { isCountryCode } from '../traffic/country.ts'
import { devices } from '../traffic/device.ts'
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

export function readParameters(query: QueryString, zone: string): Parameters {
  refuseUnsupportedFilters(query)
  if (query.size > mostParameters) {
    throw new ApiError('invalid_parameter', `At most ${mostParameters} parameters may be sent.`)
  }
  const range = one(query, 'range', readRange) ?? '30d'
  const limit = one(query, 'limit', readLimit) ?? 10
  const country = one(query, 'country', readCountry)
  const device = one(query, 'device', readDevice)
  const hostname = one(query, 'hostname', readHostname)
  const utmSource = one(query, 'utm_source', readUtmSource)
  const start = oneDate(query, 'start', zone)
  const end = oneDate(query, 'end', zone)
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
  if (unsupported.some((name) => query.has(name))) throw new ApiError('unsupported_filter')
}

/** What was sent without effect, in sentences for the Stats-Warning header (decision D-30). */
export function warningsOf(query: QueryString, { range }: Parameters, limited: boolean): string[] {
  const warnings = [...query.keys()]
    .filter((name) => !(parameterNames as readonly string[]).includes(name))
    .map((name) => `unknown parameter ${encodeURIComponent(name.toWellFormed()).slice(0, 64)} was ignored`)
  if (range !== 'custom') {
    for (const name of ['start', 'end'])
      if (query.has(name)) warnings.push(`${name} has no effect without range=custom`)
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

const readHostname = (text: string) => plainText('hostname', text, 253).toLowerCase()

const readUtmSource = (text: string) => plainText('utm_source', text, 255)

function plainText(name: string, text: string, longest: number): string {
  if ([...text].length > longest)
    throw new ApiError('invalid_parameter', `${name} may have at most ${longest} characters.`)
  if (/\p{Cc}/u.test(text)) throw new ApiError('invalid_parameter', `${name} may not hold control characters.`)
  return text
}

const plainDate = /^\d{4}-\d{2}-\d{2}$/
const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

/** A calendar date, or the site's date at an RFC 3339 date-time (decision D-54). */
function oneDate(query: QueryString, name: 'start' | 'end', zone: string): Temporal.PlainDate | undefined {
  const values = query.get(name)
  if (!values) return undefined
  const fault = new ApiError('invalid_date', `${name} must be one existing date, such as 2026-01-31.`)
  const [value] = values
  if (values.length > 1 || !value) throw fault
  try {
    if (plainDate.test(value)) return Temporal.PlainDate.from(value)
    if (dateTime.test(value)) return Temporal.Instant.from(value.toUpperCase()).toZonedDateTimeISO(zone).toPlainDate()
  } catch {
    // a date of the right shape that no calendar has
  }
  throw fault
}
