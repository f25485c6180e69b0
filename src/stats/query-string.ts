// Reads the query string strictly. It coerces, merges and drops nothing, so that the API can refuse a repeated, empty or undecodable
// parameter by name (decision D-55).
import type { StatsParameters } from './report.ts'

/** Every value sent for a name; null for a value whose %-escapes do not decode. */
export type QueryString = ReadonlyMap<string, readonly (string | null)[]>

export function readQueryString(url: string): QueryString {
  const parameters = new Map<string, (string | null)[]>()
  const begin = url.indexOf('?')
  if (begin === -1) return parameters
  for (const part of url.slice(begin + 1).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    const value = equals === -1 ? '' : part.slice(equals + 1)
    const key = decode(name) ?? name
    const values = parameters.get(key)
    if (values) values.push(decode(value))
    else parameters.set(key, [decode(value)])
  }
  return parameters
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** Range and filters in the words of the API. */
export function queryFields({ range, filters }: Pick<StatsParameters, 'range' | 'filters'>): [string, string][] {
  const fields: [string, string][] = [['range', range.name]]
  if (range.name === 'custom') fields.push(['start', String(range.firstDay)], ['end', String(range.lastDay)])
  if (filters.country) fields.push(['country', filters.country])
  if (filters.device) fields.push(['device', filters.device.toLowerCase()])
  if (filters.hostname) fields.push(['hostname', filters.hostname])
  if (filters.utmSource) fields.push(['utm_source', filters.utmSource])
  return fields
}
