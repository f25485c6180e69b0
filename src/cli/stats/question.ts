// Questions of version 2: `--by`, `--filter` and the like. The options have the names of the API's parameters.
import { type RangeName, rangeNames } from '../../calendar/periods.ts'
import { inFull } from '../../display/formats.ts'
import { readLimit } from '../../stats/parameters.ts'
import { dimensionOf } from '../../stats/questions/dimensions.ts'
import { filterText } from '../../stats/questions/filters.ts'
import { defaultMetrics, limits } from '../../stats/questions/parameters.ts'
import type { Interval } from '../../stats/questions/question.ts'
import type { Fields, QuestionAnswer, SourceSite } from '../../stats/source.ts'
import { CommandError, type Input, text } from '../command.ts'
import type { SitesSource } from '../sites-source.ts'
import { type Interval as Dates, intervalOf } from './answers.ts'
import type { Table } from './tables.ts'

export const questionOptions = [
  'by',
  'filter',
  'metrics',
  'goal',
  'interval',
  'compare-with',
  'match',
  'order',
] as const

export const asksQuestion = ({ options }: Input): boolean => questionOptions.some((name) => options[name] !== undefined)

/** The parameters of a question, by who takes them. */
export interface Asked {
  range: RangeName
  ofAll: Fields
  ofSeries: Fields
  /** With `--by` it is a list, else numbers and a chart. */
  list: { by: string; fields: Fields } | undefined
}

const defaultLimit = '10'

export function askedBy(input: Input): Asked {
  const { options } = input
  const by = text(input, 'by')
  refuseContradictions(input, by)
  const some = (...names: readonly string[]): Fields =>
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, String(options[name])] as const]))
  const compare = text(input, 'compare-with') ?? (options.compare ? 'previous' : undefined)
  const hasDates = options.start !== undefined || options.end !== undefined
  const range = text(input, 'range') ?? (hasDates ? 'custom' : '30d')
  const limit = text(input, 'limit') ?? defaultLimit
  readLimit(limit, limits.csv)
  return {
    range: rangeNames.find((name) => name === range) ?? 'custom',
    ofAll: [
      ['range', range],
      ...some('start', 'end', 'metrics', 'goal', 'match'),
      ...(compare === undefined ? [] : [['compare', compare] as const]),
      ...filtersOf(input).map((filter) => ['filter', filter] as const),
    ],
    ofSeries: some('interval'),
    list: by === undefined ? undefined : { by, fields: [['by', by], ...some('order'), ['limit', limit]] },
  }
}

function refuseContradictions({ options }: Input, by: string | undefined): void {
  const refuse = (isWrong: unknown, message: string, hint: string) => {
    if (isWrong) throw new CommandError(message, hint)
  }
  refuse(
    options.compare && options['compare-with'] !== undefined,
    '--compare is the previous period, and --compare-with another one.',
    'Leave out one of them.',
  )
  refuse(
    by !== undefined && options.interval !== undefined,
    'A list has no intervals.',
    'Leave out --by or --interval.',
  )
  for (const name of ['order', 'limit'])
    refuse(by === undefined && options[name] !== undefined, `--${name} is for lists.`, 'Add --by, such as --by page.')
}

/** `--country DE` and the like are filters, too. */
function filtersOf({ options }: Input): string[] {
  const short = (['country', 'device', 'hostname', 'utm-source'] as const).flatMap((name) => {
    const dimension = name.replace('-', '_')
    // A variable that is not set, more often than a question about visits that have none.
    if (options[name] === '')
      throw new CommandError(
        `--${name} is empty.`,
        `Leave it out. For visits that have none: --filter ${dimension}:is:`,
      )
    return options[name] === undefined ? [] : filterText(dimension, 'is', [String(options[name])])
  })
  return [...((options.filter ?? []) as readonly string[]), ...short]
}

type Numbers<Value = number> = Readonly<Record<string, Value>>

interface Compared {
  previous?: Numbers | null
  change?: Numbers<number | null> | null
}

/** A row of a list, a point of a series or the totals: its own numbers are fields of it. */
export type Row = Compared & Readonly<Record<string, unknown>>

export interface QuestionAnswers {
  site: SourceSite
  range: RangeName
  period: Dates
  previousPeriod: Dates | undefined
  filters: QuestionAnswer['filters']
  metrics: readonly string[]
  goal: string | undefined
  warnings: readonly string[]
  answer: List | Overall
}

export interface List {
  by: string
  rows: readonly Row[]
  totalRows: number
}

export interface Overall {
  by?: undefined
  totals: Row
  interval: Interval
  series: readonly Row[]
}

export async function readAsked(
  source: SitesSource,
  site: SourceSite,
  { range, ofAll, ofSeries, list }: Asked,
  signal?: AbortSignal,
): Promise<QuestionAnswers> {
  const goal = ofAll.find(([name]) => name === 'goal')?.[1]
  const about = ({ period, previousPeriod, filters, warnings }: QuestionAnswer, more: readonly string[] = []) => ({
    ...{ site, range, filters, goal },
    period: intervalOf(period),
    previousPeriod: previousPeriod === undefined ? undefined : intervalOf(previousPeriod),
    warnings: [...new Set([...warnings, ...more])],
  })
  if (list) {
    const found = await source.ask('breakdown', site.id, [...ofAll, ...list.fields], signal)
    const rows = found.data as Row[]
    const answer = { by: list.by, rows, totalRows: found.totalRows ?? rows.length }
    // An empty list has columns, too.
    const metrics = rows[0] ? metricsOf(rows[0], list.by) : metricsAsked(ofAll, list.by)
    return { ...about(found), metrics, answer }
  }
  const totals = await source.ask('totals', site.id, ofAll, signal)
  const metrics = metricsOf(totals.data as Row)
  // The series has the same metrics, so that a chart can show the first of them.
  const fields = [...ofAll.filter(([name]) => name !== 'metrics'), ['metrics', metrics.join(',')] as const, ...ofSeries]
  const series = await source.ask('timeseries', site.id, fields, signal)
  const interval = (ofSeries[0]?.[1] ?? 'day') as Interval
  const answer = { totals: totals.data as Row, interval, series: series.data as Row[] }
  return { ...about(totals, series.warnings), metrics, answer }
}

const metricsOf = (row: Row, ...others: readonly string[]): string[] =>
  Object.keys(row).filter((name) => !['previous', 'change', 'date', 'time', ...others].includes(name))

const metricsAsked = (fields: Fields, by: string): string[] =>
  fields.find(([name]) => name === 'metrics')?.[1].split(',') ??
  defaultMetrics('breakdown', dimensionOf(by)).map(({ name }) => name)

export function questionData({ site, answer, filters, ...about }: QuestionAnswers): object {
  return {
    ...{ site_id: site.id, domain: site.domain, time_zone: site.timeZone, range: about.range, period: about.period },
    ...(about.previousPeriod && { previous_period: about.previousPeriod }),
    filters,
    ...(about.goal !== undefined && { goal: about.goal }),
    ...(answer.by === undefined
      ? { totals: answer.totals, interval: answer.interval, timeseries: answer.series }
      : { by: answer.by, total_rows: answer.totalRows, breakdown: answer.rows }),
    warnings: about.warnings,
  }
}

export function leftOut({ answer }: QuestionAnswers): string[] {
  if (answer.by === undefined || answer.totalRows === answer.rows.length) return []
  return [`these are ${inFull(answer.rows.length)} of ${inFull(answer.totalRows)} rows; --limit shows more`]
}

/** A list has the columns of the API's CSV; numbers and series have one line per number, as the table of a site. */
export function questionTable({ answer, metrics, previousPeriod }: QuestionAnswers): Table {
  const parts = previousPeriod ? (['previous', 'change'] as const) : []
  const number = (row: Row, part: 'previous' | 'change', name: string) => row[part]?.[name] ?? ''
  if (answer.by !== undefined) {
    const { by, rows } = answer
    return [
      [by, ...metrics, ...parts.flatMap((part) => metrics.map((name) => `${part}_${name}`))],
      ...rows.map((row) => [
        ...[by, ...metrics].map((name) => (row[name] ?? '') as string | number),
        ...parts.flatMap((part) => metrics.map((name) => number(row, part, name))),
      ]),
    ]
  }
  const lines = (report: string, label: unknown, row: Row) =>
    metrics.map((name) => [
      ...[report, String(label), name, row[name] as number],
      ...parts.map((part) => number(row, part, name)),
    ])
  return [
    ['report', 'name', 'metric', 'value', ...parts],
    ...lines('totals', '', answer.totals),
    ...answer.series.flatMap((point) => lines('timeseries', point.date ?? point.time, point)),
  ]
}
