// The metrics as pages and the terminal write them.
import { metrics as described } from '../stats/questions/metrics.ts'
import type { Metrics } from '../stats/reports/overview.ts'
import { decimalsOf } from '../traffic/currency.ts'
import { counted, countText, durationText, inFull } from './formats.ts'

interface Metric {
  name: string
  text(value: number): string
  full(value: number): string
  /** For a bounce rate, less is better. */
  lessIsBetter?: true
}

/** The five of an overview. */
export const metrics: Readonly<Record<keyof Metrics, Metric>> = {
  visitors: { name: 'Visitors', text: countText, full: (value) => counted(value, 'visitor') },
  pageviews: { name: 'Pageviews', text: countText, full: (value) => counted(value, 'pageview') },
  sessions: { name: 'Sessions', text: countText, full: (value) => counted(value, 'session') },
  bounce_rate: {
    name: 'Bounce rate',
    text: (value) => `${value}%`,
    full: (value) => `${value} percent of sessions`,
    lessIsBetter: true,
  },
  avg_duration: { name: 'Visit duration', text: durationText, full: (value) => counted(value, 'second') },
}

const namedDifferently: Readonly<Record<string, string>> = { avg_duration: 'Visit duration', events: 'Custom events' }

/** A metric of questions by its name: how it is called, and its numbers with all digits. */
export function displayOf(name: string): Pick<Metric, 'name' | 'text' | 'lessIsBetter'> {
  const [, currency] = /^revenue:(\w+)$/.exec(name) ?? []
  if (currency) return { name: `Revenue ${currency}`, text: (amount) => moneyText(amount, decimalsOf(currency) ?? 0) }
  const { unit, decimals = 0 } = described.find((one) => one.name === name) ?? { unit: '' }
  return {
    name: namedDifferently[name] ?? `${name[0]?.toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`,
    text: (value) =>
      unit === 'percent' ? `${value.toFixed(decimals)}%` : unit === 'seconds' ? durationText(value) : inFull(value),
    ...(name === 'bounce_rate' && { lessIsBetter: true }),
  }
}

/** `1,234.50` of 123450 cents. */
function moneyText(minorUnits: number, decimals: number): string {
  const scale = 10 ** decimals
  const fraction = decimals === 0 ? '' : `.${String(minorUnits % scale).padStart(decimals, '0')}`
  return `${inFull(Math.floor(minorUnits / scale))}${fraction}`
}
