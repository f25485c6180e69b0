// The five metrics as pages and the terminal write them.
import type { Metrics } from '../stats/reports/overview.ts'
import { counted, countText, durationText } from './formats.ts'

interface Metric {
  name: string
  text(value: number): string
  full(value: number): string
  /** For a bounce rate, less is better. */
  lessIsBetter?: true
}

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
