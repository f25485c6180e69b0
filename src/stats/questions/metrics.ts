// What a question can count. Statements, answers, OpenAPI and docs follow from this table (D-233).
import { type Sql, sql, uint } from '../../stores/clickhouse-sql.ts'
import { halfUp, percentChange } from '../rounding.ts'

/** Integers that add up over days. Every metric is one of them, or a quotient of two. */
type Sum = 'visitors' | 'pageviews' | 'sessions' | 'bounces' | 'duration' | 'events' | 'conversions' | 'revenue'

/** The columns of an answer by their names; revenue has one per currency. */
export type Sums = Readonly<Record<string, number>>

export interface Metric {
  /** As in the API; `revenue:EUR`. */
  name: string
  meaning: string
  unit: string
  /** The column that it shows, or the upper part of its quotient. */
  sum: Sum
  /** The quotient `sum * times / (by * per)`, rounded half up, with this many decimals; 0 without a denominator. */
  by?: Sum | 'all_visitors'
  times?: number
  per?: number
  decimals?: number
  /** ISO 4217, of revenue. */
  currency?: string
}

const described = {
  visitors: {
    meaning: 'Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days.',
    unit: 'people',
    sum: 'visitors',
  },
  pageviews: { meaning: 'Pageviews.', unit: 'pageviews', sum: 'pageviews' },
  sessions: { meaning: 'Sessions that started in the period.', unit: 'sessions', sum: 'sessions' },
  bounce_rate: {
    meaning: 'Sessions with exactly one pageview and no custom event, in percent of all sessions, rounded half up.',
    unit: 'percent',
    sum: 'bounces',
    by: 'sessions',
    times: 100,
  },
  avg_duration: {
    meaning: 'Mean duration of a session in whole seconds, rounded half up.',
    unit: 'seconds',
    sum: 'duration',
    by: 'sessions',
    per: 1000,
  },
  views_per_session: {
    meaning: 'Pageviews for each session, with two decimals.',
    unit: 'pageviews',
    sum: 'pageviews',
    by: 'sessions',
    decimals: 2,
  },
  events: { meaning: 'Custom events.', unit: 'events', sum: 'events' },
  conversions: { meaning: 'Visitors of a day whose session reached the goal.', unit: 'people', sum: 'conversions' },
  conversion_rate: {
    meaning: 'Conversions in percent of visitors, with one decimal.',
    unit: 'percent',
    sum: 'conversions',
    by: 'visitors',
    times: 100,
    decimals: 1,
  },
} as const satisfies Record<string, Omit<Metric, 'name'>>

export const metrics: readonly Metric[] = Object.entries(described).map(([name, rest]) => ({ name, ...rest }))

const byName = new Map(metrics.map((metric) => [metric.name, metric]))

export function metricOf(name: string): Metric | undefined {
  const [, currency] = /^revenue:([A-Z]{3})$/.exec(name) ?? []
  return currency === undefined
    ? byName.get(name)
    : {
        name,
        meaning: 'Revenue in minor units of the currency: cents of EUR.',
        unit: currency,
        sum: 'revenue',
        currency,
      }
}

export const metricNames = [...byName.keys(), 'revenue:<currency>'].join(', ')

/** The name of its upper or only column. */
const columnOf = ({ sum, currency }: Metric): string => (currency ? `revenue_${currency}` : sum)

/** The columns that these metrics need from a relation. */
export const columnsOf = (metrics: readonly Metric[]): ReadonlySet<string> =>
  new Set(
    metrics.flatMap((metric) =>
      metric.by && metric.by !== 'all_visitors' ? [columnOf(metric), metric.by] : [columnOf(metric)],
    ),
  )

/** A goal's rate divides by all visitors of the question, not by those of its row. */
export const ofAllVisitors = (metric: Metric): Metric =>
  metric.name === 'conversion_rate' ? { ...metric, by: 'all_visitors' } : metric

/** The number as it is printed. */
export function printed(metric: Metric, row: Sums): number {
  const { by, times = 1, per = 1, decimals = 0 } = metric
  const above = row[columnOf(metric)] ?? 0
  const scale = 10 ** decimals
  return by ? halfUp(above * times * scale, (row[by] ?? 0) * per) / scale : above
}

/** The same number in a statement, times ten for each decimal: an integer, so lists are in the order of what is printed. */
export function printedInSql(metric: Metric, column: (name: string) => Sql): Sql {
  const { by, times = 1, per = 1, decimals = 0 } = metric
  const above = column(columnOf(metric))
  if (!by) return sql`toInt64(${above})`
  const below = sql`${column(by)} * ${uint(per)}`
  const doubled = sql`2 * ${above} * ${uint(times * 10 ** decimals)} + ${below}`
  return sql`toInt64(if(${column(by)} = 0, 0, intDiv(${doubled}, greatest(1, 2 * ${below}))))`
}

/** The change in percent between printed numbers, which are compared as integers: binary fractions would round differently. */
export const changesBetween = (
  metrics: readonly Pick<Metric, 'name' | 'decimals'>[],
  current: Readonly<Record<string, number>>,
  previous: Readonly<Record<string, number>>,
): Record<string, number | null> =>
  Object.fromEntries(
    metrics.map(({ name, decimals = 0 }) => {
      const whole = (number = 0) => Math.round(number * 10 ** decimals)
      return [name, percentChange(whole(current[name]), whole(previous[name]))]
    }),
  )
