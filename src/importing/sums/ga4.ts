// Reports of Google Analytics 4 as CSV, by date and at most one other dimension (docs/migrate/ga4.md). Comments begin with # and name the days of
// the report; a file may have several tables, each below its own comments. Columns have the names of the interface or those of the API.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Site } from '../../accounts/sites.ts'
import type { DayRange } from '../../calendar/days.ts'
import { contentOf } from '../content.ts'
import { type Line, LineFault, readLines } from '../lines.ts'
import { attempt, type FileRecord, readCsv } from '../records.ts'
import {
  type DaySum,
  dayNamed,
  type SumName,
  type SumsFormat,
  type SumsLine,
  type SumsReason,
  type SumsTable,
  sumsOfTotal,
  total,
} from './format.ts'
import { type Ga4Dimension, ga4Dimensions } from './ga4-dimensions.ts'

export const ga4: SumsFormat = {
  name: 'ga4',
  isKnownBy: (_, head) => /^# -+\r?\n/.test(head) && /^# (Start date: ?)?\d{8}/m.test(head),
  async *tables(path, site, onBytes) {
    const lines = readLines(contentOf(path, statSync(path).size, (chunk) => onBytes(chunk.length)))
    for await (const { range, rows } of blocksOf(lines)) yield tableOf(basename(path), range, rows, site)
  },
}

interface Block {
  range: DayRange | undefined
  rows: AsyncGenerator<Line | LineFault>
}

/** A table and the comments above it. Its rows must be read before the next block. */
async function* blocksOf(lines: AsyncGenerator<Line | LineFault>): AsyncGenerator<Block> {
  let next = await lines.next()
  const isComment = (line: Line | LineFault) => !(line instanceof LineFault) && /^#( |\r?$)/.test(line.text)
  const isBlank = (line: Line | LineFault) => !(line instanceof LineFault) && line.text.trim() === ''
  async function* rows(): AsyncGenerator<Line | LineFault> {
    for (; !next.done && !isComment(next.value); next = await lines.next()) yield next.value
  }
  while (!next.done) {
    const comments: string[] = []
    for (; !next.done && (isComment(next.value) || isBlank(next.value)); next = await lines.next())
      if (isComment(next.value)) comments.push((next.value as Line).text)
    if (!next.done) yield { range: rangeNamed(comments.join('\n')), rows: rows() }
  }
}

function rangeNamed(comments: string): DayRange | undefined {
  const [, start, until] = /^# (\d{8})-(\d{8})/m.exec(comments) ?? []
  const [, first = start] = /^# Start date: ?(\d{8})/m.exec(comments) ?? []
  const [, last = until] = /^# End date: ?(\d{8})/m.exec(comments) ?? []
  return first && last ? [dayNamed(first), dayNamed(last)] : undefined
}

const metricNames = {
  visitors: ['active users', 'activeusers', 'total users', 'totalusers', 'users'],
  pageviews: ['views', 'screenpageviews'],
  sessions: ['sessions'],
  engaged: ['engaged sessions', 'engagedsessions'],
  bounceRate: ['bounce rate', 'bouncerate'],
  engagementRate: ['engagement rate', 'engagementrate'],
  duration: ['average session duration', 'averagesessionduration'],
  events: ['event count', 'eventcount'],
} as const

type Metric = keyof typeof metricNames

interface Columns {
  date: number
  dimension: { column: number; of: Ga4Dimension } | undefined
  metrics: Readonly<Partial<Record<Metric, number>>>
  sums: readonly SumName[]
}

async function tableOf(
  name: string,
  range: DayRange | undefined,
  rows: AsyncGenerator<Line | LineFault>,
  site: Site,
): Promise<SumsTable> {
  let columns: Columns | undefined
  let names: readonly string[] = []
  const records = readCsv(rowsWithAllCells(rows), (header) => {
    names = header
    columns = columnsOf(header, name)
  })
  const begun = await records.next()
  async function* lines(): AsyncGenerator<SumsLine | { line: number; reason: SumsReason } | LineFault> {
    for (let next = begun; !next.done; next = await records.next()) {
      const record = next.value
      if (record instanceof LineFault) yield record
      else if (!columns) yield { line: record.line, reason: 'tables without a date' }
      else yield attempt(record.line, () => lineOf(record, names, columns as Columns, site))
    }
  }
  const list = columns?.dimension?.of.list ?? total
  return { name, lists: columns ? [{ list, metrics: columns.sums }] : [], range, lines: lines() }
}

/** The row of the grand total has a cell more than the header. */
async function* rowsWithAllCells(rows: AsyncGenerator<Line | LineFault>): AsyncGenerator<Line | LineFault> {
  for await (const row of rows)
    yield row instanceof LineFault ? row : { ...row, text: row.text.replace(/,(Grand total|Totals?)$/i, '') }
}

/** Undefined for a table without a date. */
function columnsOf(header: readonly string[], file: string): Columns | undefined {
  const date = header.indexOf('date')
  if (date === -1) return undefined
  const found = header.flatMap((name, column) => {
    const of = ga4Dimensions[name]
    return of ? [{ column, of }] : []
  })
  if (found.length > 1)
    throw new Error(`${file} has ${found.length} dimensions besides the date; export a report for each of them`)
  const column = (metric: Metric) => {
    const name = metricNames[metric].find((one) => header.includes(one))
    return name === undefined ? [] : [[metric, header.indexOf(name)] as const]
  }
  const metrics: Columns['metrics'] = Object.fromEntries((Object.keys(metricNames) as Metric[]).flatMap(column))
  const known = new Set<number>([date, ...found.map((one) => one.column), ...Object.values(metrics)])
  const rest = header.filter((name, index) => !known.has(index) && !isOtherMetric(name))
  if (rest.length > 0) throw new Error(`${file} has columns that are not known: ${rest.join(', ')}`)
  const of = found[0]?.of
  const sums = sumsOf(metrics, of?.list)
  const missing = (of?.needs ?? sumsOfTotal).filter((name) => !sums.includes(name))
  if (missing.length > 0)
    throw new Error(`${file} lacks a metric for ${missing.join(', ')}: add ${missing.map(toAdd).join(', ')}`)
  return { date, dimension: found[0], metrics, sums }
}

/** Rates, revenue and the like do not add up to anything that we show; a dimension that we do not know would divide the rows. */
const isOtherMetric = (name: string): boolean =>
  /\b(users?|sessions?|rate|time|duration|count|events?|revenue|views?|conversions?|purchases?|value)\b/.test(name)

const metricToAdd: Readonly<Record<SumName, string>> = {
  visitors: 'Active users',
  pageviews: 'Views',
  sessions: 'Sessions',
  bounces: 'Engaged sessions',
  duration: 'Average session duration',
  events: 'Event count',
}

const toAdd = (name: SumName): string => `“${metricToAdd[name]}”`

function sumsOf(metrics: Columns['metrics'], list: string | undefined): SumName[] {
  const has = (...names: Metric[]) => names.every((name) => metrics[name] !== undefined)
  const canBounce = has('sessions') && (has('engaged') || has('bounceRate') || has('engagementRate'))
  return [
    ...(['visitors', 'pageviews', 'sessions'] as const).filter((name) => has(name)),
    ...(canBounce ? (['bounces'] as const) : []),
    ...(has('sessions', 'duration') ? (['duration'] as const) : []),
    // Elsewhere it counts pageviews, too.
    ...(list === 'event' && has('events') ? (['events'] as const) : []),
  ]
}

/** Google records them without being asked. */
const ownEvents = new Set([
  'page_view',
  'session_start',
  'first_visit',
  'user_engagement',
  'scroll',
  'form_start',
  'view_search_results',
])

function lineOf(
  { line, fields }: FileRecord,
  names: readonly string[],
  { date, dimension: by, metrics, sums }: Columns,
  site: Site,
): SumsLine | { line: number; reason: SumsReason } {
  const cell = (column: number): string => fields.get(names[column] as string) ?? ''
  const written = cell(date)
  if (written === '' || /^(grand )?totals?$/i.test(written)) return { line, reason: 'totals of all days' }
  const day = dayNamed(written)
  const text = by ? cell(by.column) : ''
  const { list, valueIn } = by?.of ?? { list: total, valueIn: () => '' }
  if (list === 'event' && ownEvents.has(text)) return { line, reason: 'events that the product records by itself' }
  const number = (metric: Metric): number => numberOf(cell(metrics[metric] as number), names[metrics[metric] as number])
  const counted: DaySum['sums'] = Object.fromEntries(
    sums.map((name) => [name, name === 'bounces' ? bouncesOf(metrics, number) : sumOf(name, number)]),
  )
  return { line, rows: [{ list, day, value: valueIn(text, site), sums: counted }] }
}

function sumOf(name: Exclude<SumName, 'bounces'>, number: (metric: Metric) => number): number {
  if (name === 'duration') return Math.round(number('duration') * number('sessions') * 1000)
  return Math.round(number(name))
}

/** What Google calls a bounce: a session that is not engaged. */
function bouncesOf(metrics: Columns['metrics'], number: (metric: Metric) => number): number {
  const sessions = number('sessions')
  const engaged =
    metrics.engaged !== undefined
      ? number('engaged')
      : metrics.bounceRate !== undefined
        ? sessions * (1 - number('bounceRate'))
        : sessions * number('engagementRate')
  return Math.min(sessions, Math.max(0, Math.round(sessions - engaged)))
}

function numberOf(text: string, name = ''): number {
  if (text === '') return 0
  if (!/^\d{1,15}(\.\d+)?(e-?\d+)?$/i.test(text)) throw new Error(`has a number that cannot be read as ${name}`)
  return Number(text)
}
