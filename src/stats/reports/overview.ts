import Type from 'typebox'
import { sql } from '../../stores/clickhouse-sql.ts'
import { totalFacts } from '../facts.ts'
import type { Report } from '../report.ts'
import { halfUp, percentChange } from '../rounding.ts'
import { count, visitors } from '../shapes.ts'

const metrics = Type.Object({
  visitors,
  pageviews: count('Pageviews.'),
  sessions: count('Sessions that started in the period.'),
  bounce_rate: Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      'Sessions with exactly one pageview and no custom event, in percent of all sessions: a whole number from 0 to 100, rounded half up; 0 without sessions.',
  }),
  avg_duration: count(
    'Mean duration of a session in whole seconds, rounded half up; a session of one event counts as 0 seconds; 0 without sessions.',
  ),
})

type Metrics = Type.Static<typeof metrics>

const percentage = Type.Union([Type.Number(), Type.Null()], {
  description:
    'Change in percent, computed from the two printed numbers: (current - previous) / previous * 100, with one decimal, rounded half away from zero; null when the previous number is 0.',
})

const metricNames = Object.keys(metrics.properties) as (keyof Metrics)[]

export const overview: Report = {
  summary: 'Totals of the period, compared with the period before it',
  limited: false,
  data: Type.Object({
    current: metrics,
    previous: metrics,
    change: Type.Object(Object.fromEntries(metricNames.map((name) => [name, percentage]))),
  }),
  async read(clickhouse, query, signal) {
    const rows = await clickhouse.rows<Totals>(
      sql`
        SELECT period, sum(visitors) AS visitors, sum(views) AS pageviews, sum(sessions) AS sessions,
          sum(bounces) AS bounces, sum(duration) AS duration
        FROM ${totalFacts(query)}
        GROUP BY period`,
      signal,
    )
    const current = metricsOf(rows.find(({ period }) => period === 'current'))
    const previous = metricsOf(rows.find(({ period }) => period === 'previous'))
    const change = Object.fromEntries(metricNames.map((name) => [name, percentChange(current[name], previous[name])]))
    return { data: { current, previous, change } }
  },
}

interface Totals {
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
