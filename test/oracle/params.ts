// What a request asks for, or why it is refused: section 4 of the semantics, as far as the oracle's requests go.
import { isCountryCode } from '../../src/traffic/country.ts'
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
}

const deviceNames: Readonly<Record<string, string>> = { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet' }

/** A fault of any other parameter is said before a fault of `start` or `end`. */
export function readParams(params: Params, zone: string): Asked | 'invalid_parameter' | 'invalid_date' {
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
  const device = valuesOf('device')[0]?.toLowerCase()
  if (device !== undefined && !Object.hasOwn(deviceNames, device)) return 'invalid_parameter'

  const dates: { start?: Temporal.PlainDate; end?: Temporal.PlainDate } = {}
  for (const name of ['start', 'end'] as const) {
    const values = valuesOf(name)
    if (values.length === 0) continue
    const date = values.length === 1 ? readDate(values[0]!, zone) : undefined
    if (date === undefined) return 'invalid_date'
    dates[name] = date
  }
  return {
    range,
    ...dates,
    limit: Number(limit),
    country,
    device: device === undefined ? undefined : deviceNames[device],
    hostname: valuesOf('hostname')[0]?.toLowerCase(),
    utmSource: valuesOf('utm_source')[0],
  }
}

const isRange = (value: string): value is Range => (ranges as readonly string[]).includes(value)

/** `YYYY-MM-DD`, or an RFC 3339 date-time, which means the date it is in the site's zone at that instant. */
function readDate(value: string, zone: string): Temporal.PlainDate | undefined {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(value)
  const isDateTime = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):\d\d)$/i.test(value)
  try {
    if (isDate) return Temporal.PlainDate.from(value)
    if (isDateTime) return Temporal.Instant.from(value).toZonedDateTimeISO(zone).toPlainDate()
  } catch {
    // Well formed, but there is no such day or minute.
  }
  return undefined
}
