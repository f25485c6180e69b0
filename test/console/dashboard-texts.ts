// How a dashboard writes the answers of the API, worked out a second time.
import { pathText } from '../../src/display/formats.ts'
import { type CountryCode, countryNames } from '../../src/traffic/country.ts'

export const number = (value: number): string => value.toLocaleString('en-US')

export const plural = (value: number, one: string): string => `${number(value)} ${one}${value === 1 ? '' : 's'}`

/** In whole percent, rounded half up; what is something is not shown as nothing. */
export const percent = (part: number, whole: number): string =>
  part > 0 && part / whole < 0.01 ? '<1%' : `${whole === 0 ? 0 : Math.floor((200 * part + whole) / (2 * whole))}%`

const none: Record<string, string> = {
  entry_page: 'No page',
  exit_page: 'No page',
  referrer: 'Direct / none',
  utm_campaign: 'No campaign',
  utm_source: 'No source',
  utm_medium: 'No medium',
  utm_content: 'No content',
  utm_term: 'No term',
  browser: 'Not recorded',
  os: 'Not recorded',
}

export function labelOf(list: string, value: string | null): string {
  if (value === null) return none[list] as string
  if (list === 'country') return countryNames[value as CountryCode]
  if (list === 'device') return `${value[0]?.toUpperCase()}${value.slice(1)}`
  if (value.trim() === '') return JSON.stringify(value)
  return list.endsWith('page') ? pathText(value) : value
}

export const wordsOf = (metric: string, value: number): string =>
  metric === 'conversion_rate'
    ? `${value.toFixed(1)}% of visitors`
    : plural(value, { pageviews: 'view', visitors: 'visitor', events: 'time', conversions: 'conversion' }[metric] ?? '')

export function textOfNumber(metric: string, value: number): string {
  if (metric === 'avg_duration') return duration(value)
  if (metric === 'bounce_rate') return `${value}%`
  return metric === 'conversion_rate' ? `${value.toFixed(1)}%` : number(value)
}

export const duration = (seconds: number): string =>
  seconds < 60
    ? `${seconds}s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)}m ${seconds % 60}s`
      : `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`
