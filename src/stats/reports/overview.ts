import Type from 'typebox'
import { sql } from '../../stores/clickhouse-sql.ts'
import { dailyTotals } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { halfUp, percentChange } from '../rounding.ts'
import { count, unitOf, views, visitors } from '../shapes.ts'

const metrics = Type.Object(
  {
    visitors,
    pageviews: views,
    sessions: count('Sessions that started in the period.', 'sessions'),
    bounce_rate: Type.Integer({
      minimum: 0,
      maximum: 100,
      description:
        'Sessions with exactly one pageview and no custom event, in percent of all sessions: a whole number from 0 to 100, rounded half up; 0 without sessions.',
      ...unitOf('percent'),
    }),
    avg_duration: count(
      'Mean duration of a session in whole seconds, rounded half up; a session of one event counts as 0 seconds; 0 without sessions.',
      'seconds',
    ),
  },
  {
    description: 'The numbers of a period: `current` is the one that was asked for, `previous` the one before it.',
  },
)

export type Metrics = Type.Static<typeof metrics>

const percentage = Type.Union([Type.Number(), Type.Null()], {
  description:
    'Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0.',
  ...unitOf('percent'),
})

const metricNames = Object.keys(metrics.properties) as (keyof Metrics)[]

export interface Overview {
  current: Metrics
  previous: Metrics
  change: Readonly<Record<keyof Metrics, number | null>>
}

export const overviewShape = Type.Object({
  current: metrics,
  previous: metrics,
  change: Type.Object(Object.fromEntries(metricNames.map((name) => [name, percentage])), {
    description: 'The change from `previous` to `current`.',
  }),
})

export const overview: Report = {
  summary: 'Totals of the period, compared with the period before it',
  details:
    'Today counts up to now, and is compared with the same part of the day; `Stats-Period` and `Stats-Previous-Period` name the exact limits. Every number is a sum of exact days, so the days of `timeseries` add up to these totals.',
  limited: false,
  comparesPeriods: true,
  data: overviewShape,
  async read(clickhouse, query, signal) {
    const rows = await clickhouse.rows<Totals>(
      sql`
        SELECT period, ${totals}
        FROM ${dailyTotals(query)}
        GROUP BY period`,
      signal,
    )
    return { data: overviewOf(rows) }
  },
}

/** From the columns of `dailyTotals`. */
export const totals = sql`sum(visitors) AS visitors, sum(views) AS pageviews, sum(sessions) AS sessions, sum(bounces) AS bounces,
          sum(duration) AS duration`

/** A period without traffic may have no row. */
export function overviewOf(rows: readonly Totals[]): Overview {
  const current = metricsOf(rows.find(({ period }) => period === 'current'))
  const previous = metricsOf(rows.find(({ period }) => period === 'previous'))
  const change = Object.fromEntries(metricNames.map((name) => [name, percentChange(current[name], previous[name])]))
  return { current, previous, change: change as Overview['change'] }
}

export interface Totals {
  period: 'current' | 'previous'
  visitors: number
  pageviews: number
  sessions: number
  bounces: number
  duration: number
}

const nothing = { visitors: 0, pageviews: 0, sessions: 0, bounces: 0, duration: 0 }

const metricsOf = (totals: Totals | undefined): Metrics => {
  const { visitors, pageviews, sessions, bounces, duration } = totals ?? nothing
  return {
    visitors,
    pageviews,
    sessions,
    bounce_rate: halfUp(bounces * 100, sessions),
    avg_duration: halfUp(duration, sessions * 1000),
  }
}
