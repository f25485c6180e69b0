// Parses a request, or gives the reason for its refusal: section 4 of the semantics, as far as the oracle's requests need it.
import { isCountryCode } from '../../../src/traffic/country.ts'
import { type Range, ranges } from './windows.ts'

export type Params = readonly (readonly [name: string, value: string])[]

export interface Asked {
  range: Range
  start?: Temporal.PlainDate | undefined
  end?: Temporal.PlainDate | undefined
  limit: number
  country?: string | undefined
  device?: string | undefined
  hostname?: string | undefined
  utmSource?: string | undefined
  /** The number of parameters without effect: dates without `custom`, times of day. */
  withoutEffect: number
}

const deviceNames: Readonly<Record<string, string>> = { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet' }

/** A fault of any other parameter is reported before a fault of `start` or `end`. */
export function readParams(params: Params): Asked | 'invalid_parameter' | 'invalid_date' {
  const valuesOf = (name: string): string[] => params.filter((param) => param[0] === name).map((param) => param[1])
  for (const name of ['range', 'limit', 'country', 'device', 'hostname', 'utm_source']) {
    const values = valuesOf(name)
    if (values.length > 1 || values[0] === '') return 'invalid_parameter'
  }
  const range = valuesOf('range')[0] ?? '30d'
  if (!isRange(range)) return 'invalid_parameter'
  const limit = valuesOf('limit')[0] ?? '10'
  if (!/^[1-9][0-9]{0,2}$/.test(limit) || Number(limit) > 100) return 'invalid_parameter'
  const country = valuesOf('country')[0]?.toUpperCase()
  if (country !== undefined && !isCountryCode(country)) return 'invalid_parameter'
  const host = valuesOf('hostname')[0]
  const hostname = host === undefined ? undefined : readHost(host)
  if (host !== undefined && hostname === undefined) return 'invalid_parameter'
  const device = valuesOf('device')[0]?.toLowerCase()
  if (device !== undefined && !Object.hasOwn(deviceNames, device)) return 'invalid_parameter'

  const dates: { start?: Temporal.PlainDate; end?: Temporal.PlainDate } = {}
  let withoutEffect = 0
  for (const name of ['start', 'end'] as const) {
    const values = valuesOf(name)
    if (values.length === 0) continue
    const date = values.length === 1 ? readDate(values[0]!) : undefined
    if (date === undefined) return 'invalid_date'
    dates[name] = date
    if (range !== 'custom' || /t/i.test(values[0]!)) withoutEffect += 1
  }
  return {
    range,
    ...dates,
    limit: Number(limit),
    country,
    device: device === undefined ? undefined : deviceNames[device],
    hostname,
    utmSource: valuesOf('utm_source')[0],
    withoutEffect,
  }
}

const isRange = (value: string): value is Range => (ranges as readonly string[]).includes(value)

/** As a browser writes it into a URL, without the trailing dot; undefined for anything that is not exactly a host name. */
function readHost(value: string): string | undefined {
  if (/[\s/:?#@%\\[\]]/.test(value)) return undefined
  const name = /^[\x20-\x7e]+$/.test(value) ? value : (URL.parse(`https://${value}/`)?.hostname ?? '')
  const labels = name.toLowerCase().replace(/\.$/, '').split('.')
  const host = labels.join('.')
  return labels.every((label) => /^[a-z\d_-]+$/.test(label)) && host.length <= 253 ? host : undefined
}

/** A date with or without hyphens; for a date-time, its date as written. */
function readDate(value: string): Temporal.PlainDate | undefined {
  const [date = '', ...times] = value.split(/t/i)
  if (!/^(\d{4}-\d\d-\d\d|\d{8})$/.test(date) || times.length > 1) return undefined
  const colon = date.length === 8 ? '' : ':'
  const time = new RegExp(
    `^(\\d\\d)(?:${colon}(\\d\\d)(?:${colon}(\\d\\d)([.,]\\d{1,9})?)?)?(Z|[+-](\\d\\d)(?::?(\\d\\d))?)?$`,
    'i',
  )
  if (times.length === 1) {
    const parts = time.exec(times[0]!)
    if (!parts) return undefined
    const [hour, minute, second, offsetHour, offsetMinute] = [1, 2, 3, 6, 7].map((at) => Number(parts[at] ?? 0))
    if (hour! > 23 || minute! > 59 || second! > 60 || offsetHour! > 23 || offsetMinute! > 59) return undefined
  }
  try {
    return Temporal.PlainDate.from(date)
  } catch {
    return undefined // well formed, but no such day exists
  }
}
