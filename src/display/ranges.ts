import type { StatsParameters } from '../stats/report.ts'

/** The ranges as pages and the terminal name them. */
export const rangeTexts: Readonly<Record<StatsParameters['range']['name'], string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '12m': 'Last 12 months',
  custom: 'From start to end',
}
