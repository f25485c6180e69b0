// Query parameters of /api/v2, checked as those of v1 are: no value is coerced or clamped, and what has no effect is named in a warning.
import { ApiError } from '../../errors.ts'
import type { Goal } from '../../traffic/goals.ts'
import {
  maxParameters,
  one,
  plainName,
  rangeOf,
  readLimit,
  readRange,
  refuseVariants,
  warningsOf,
} from '../parameters.ts'
import { type QueryString, readQueryString } from '../query-string.ts'
import { readPage } from './cursor.ts'
import { type Dimension, dimensionNames, dimensionOf } from './dimensions.ts'
import { readFilters } from './filters.ts'
import { type Metric, metricNames, metricOf, ofAllVisitors } from './metrics.ts'
import { type Comparison, type Interval, intervals, type Question, type QuestionKind } from './question.ts'

const ofAll = ['range', 'start', 'end', 'site_id', 'metrics', 'filter', 'goal', 'compare', 'match'] as const
const ofSome = { totals: [], timeseries: ['interval'], breakdown: ['by', 'order', 'limit', 'cursor'] } as const

const questionParameters = [...ofAll, ...Object.values(ofSome).flat()] as const

export type QuestionParameter = (typeof questionParameters)[number]

/** The parameters that have an effect on a kind of question. */
export const parametersOf = (kind: QuestionKind): readonly QuestionParameter[] => [...ofAll, ...ofSome[kind]]

export const limits = { default: 100, json: 1_000, csv: 100_000 } as const

/** Requests carry at most 8 kB of headers; this leaves room for the key and what proxies add. */
const maxQueryLength = 6_144

export interface ReadQuestion {
  question: Question
  /** The current time of the first page, from the cursor. */
  now?: number | undefined
  warnings: readonly string[]
}

interface Context {
  kind: QuestionKind
  goals: readonly Goal[]
  maxLimit: number
}

/** A question of a caller that has no address of its own, such as the command line. */
export function readFields(fields: readonly (readonly [string, string])[], context: Context): ReadQuestion {
  const url = `?${new URLSearchParams(fields.map(([name, value]) => [name, value]))}`
  return readQuestion(readQueryString(url), url, context)
}

export function readQuestion(query: QueryString, url: string, context: Context): ReadQuestion {
  const { kind, goals } = context
  refuseShortFilters(query)
  refuseVariants(query, questionParameters)
  if (query.size > maxParameters)
    throw new ApiError('invalid_parameter', `At most ${maxParameters} parameters may be sent.`)
  if (url.length - url.indexOf('?') > maxQueryLength)
    throw new ApiError('invalid_parameter', `The query string may have at most ${maxQueryLength} characters.`)
  const rangeName = one(query, 'range', readRange) ?? '30d'
  const by = one(query, 'by', readDimension)
  if (kind === 'breakdown' && !by)
    throw new ApiError('invalid_parameter', `by is missing: send one of ${dimensionNames}.`)
  const goal = one(query, 'goal', (name) => goalOf(name, goals))
  const isByGoal = kind === 'breakdown' && by?.name === 'goal'
  const metrics = (one(query, 'metrics', readMetrics) ?? defaultMetrics(kind, by)).map((metric) =>
    isByGoal ? ofAllVisitors(metric) : metric,
  ) as [Metric, ...Metric[]]
  if (!goal && !isByGoal && metrics.some(({ sum }) => sum === 'conversions'))
    throw new ApiError('invalid_parameter', `conversions and conversion_rate need goal. ${listed(goals)}`)
  const interval = one(query, 'interval', readInterval) ?? 'day'
  const limit = one(query, 'limit', (text) => readLimit(text, context.maxLimit)) ?? limits.default
  const matchWeekday = one(query, 'match', readMatch) ?? false
  const page = kind === 'breakdown' ? one(query, 'cursor', (text) => readPage(text, metrics.length)) : undefined
  const order = kind === 'breakdown' ? one(query, 'order', (text) => readOrder(text, metrics)) : undefined
  const compare = one(query, 'compare', (text) => readComparison(text, query.has('match'), matchWeekday))
  const filters = readFilters(query.get('filter') ?? [])
  for (const { dimension, values } of filters)
    if (dimension.name === 'goal') for (const name of values) if (name !== '') goalOf(name, goals, 'invalid_filter')
  const asked = {
    metrics,
    filters,
    goal,
    compare,
    range: rangeOf(query, rangeName),
  }
  const question: Question =
    kind === 'totals'
      ? { kind, ...asked }
      : kind === 'timeseries'
        ? { kind, ...asked, interval }
        : {
            kind,
            ...asked,
            by: by as Dimension,
            order: order ?? { metric: 0, ascending: false },
            limit,
            after: page?.after,
          }
  return { question, now: page?.now, warnings: warningsAbout(query, question) }
}

/** Names like v1's filters, however they are written. Ignoring them would answer a different question (D-56). */
function refuseShortFilters(query: QueryString): void {
  for (const name of query.keys()) {
    const dimension = dimensionOf(name) ?? dimensionOf(plainName(name))
    if (dimension && dimension.name !== 'goal')
      throw new ApiError('invalid_parameter', `Send filter=${dimension.name}:is:… instead of ${dimension.name}=….`)
  }
}

function readDimension(text: string): Dimension {
  const dimension = dimensionOf(text)
  if (!dimension) throw new ApiError('invalid_parameter', `by must be one of ${dimensionNames}.`)
  return dimension
}

function goalOf(
  name: string,
  goals: readonly Goal[],
  code: 'invalid_parameter' | 'invalid_filter' = 'invalid_parameter',
) {
  const goal = goals.find((one) => one.name === name)
  if (!goal) throw new ApiError(code, `The site has no goal of this name. ${listed(goals)}`)
  return goal
}

const maxListed = 20

/** Callers are assistants and people in a shell, too, who cannot ask /api/v2/goals. */
function listed(goals: readonly Goal[]): string {
  if (goals.length === 0) return 'There are none yet.'
  const names = goals.slice(0, maxListed).map(({ name }) => JSON.stringify(name))
  const rest = goals.length - names.length
  return `There ${goals.length === 1 ? 'is' : 'are'} ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
}

function readMetrics(text: string): Metric[] {
  const metrics = text.split(',').map((name) => {
    const metric = metricOf(name)
    if (!metric) throw new ApiError('invalid_parameter', `metrics must be some of ${metricNames}, separated by commas.`)
    return metric
  })
  if (new Set(metrics.map(({ name }) => name)).size < metrics.length)
    throw new ApiError('invalid_parameter', 'metrics may name each metric only once.')
  return metrics
}

const known = (name: string) => metricOf(name) as Metric

export const defaultMetrics = (kind: QuestionKind, by: Dimension | undefined): Metric[] =>
  kind === 'totals'
    ? ['visitors', 'pageviews', 'sessions', 'bounce_rate', 'avg_duration'].map(known)
    : kind === 'breakdown' && (by?.name === 'event' || by?.name === 'goal' || by?.property !== undefined)
      ? [known('visitors'), known('events')]
      : [known('visitors'), known('pageviews')]

function readInterval(text: string): Interval {
  const interval = intervals.find((one) => one === text)
  if (!interval) throw new ApiError('invalid_parameter', `interval must be one of ${intervals.join(', ')}.`)
  return interval
}

function readMatch(text: string): true {
  if (text !== 'weekday') throw new ApiError('invalid_parameter', 'match must be weekday.')
  return true
}

function readOrder(text: string, metrics: readonly Metric[]) {
  const ascending = text.endsWith(':asc')
  const name = ascending ? text.slice(0, -':asc'.length) : text
  const metric = metrics.findIndex((one) => one.name === name)
  if (metric === -1)
    throw new ApiError('invalid_parameter', 'order must be one of metrics, with :asc for the smallest first.')
  return { metric, ascending }
}

function readComparison(text: string, hasMatch: boolean, matchWeekday: boolean): Comparison {
  if (text === 'previous' || text === 'year') return { to: text, matchWeekday }
  const [start, end, ...more] = text.split('/')
  const [firstDay, lastDay] = [dayOf(start), dayOf(end)]
  if (!(firstDay && lastDay) || more.length > 0)
    throw new ApiError(
      'invalid_parameter',
      'compare must be previous, year, or two days such as 2026-01-01/2026-01-31.',
    )
  if (Temporal.PlainDate.compare(firstDay, lastDay) > 0)
    throw new ApiError('invalid_parameter', 'compare: the first day must not be after the second.')
  if (hasMatch) throw new ApiError('invalid_parameter', 'match has no meaning for chosen days.')
  return { to: 'days', firstDay, lastDay }
}

function dayOf(text: string | undefined): Temporal.PlainDate | undefined {
  if (!text || !/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  try {
    return Temporal.PlainDate.from(text)
  } catch {
    return undefined // no such day
  }
}

function warningsAbout(query: QueryString, question: Question): string[] {
  const used = parametersOf(question.kind)
  const unused = questionParameters.filter((name) => !used.includes(name))
  const warnings = warningsOf(query, question, unused, { names: questionParameters })
  if (query.has('match') && !question.compare) warnings.push('match has no effect without compare')
  if (question.goal && !question.metrics.some(({ sum }) => sum === 'conversions' || sum === 'revenue'))
    warnings.push('goal has no effect without conversions, conversion_rate or revenue')
  return warnings
}
