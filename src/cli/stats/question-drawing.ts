// Questions for people: a list with a bar for each row, or numbers with a chart.
import { inFull } from '../../display/formats.ts'
import { displayOf } from '../../display/metrics.ts'
import { metricOf } from '../../stats/questions/metrics.ts'
import type { SourceFilter } from '../../stats/source.ts'
import { countryNames, isCountryCode } from '../../traffic/country.ts'
import { decimalsOf } from '../../traffic/currency.ts'
import { printable } from '../printable.ts'
import { pad, type Terminal } from '../terminal.ts'
import { type Point, seriesChart } from './chart.ts'
import { type Column, columnsOf } from './columns.ts'
import { fitted, heading, notes } from './frame.ts'
import { barText } from './lists.ts'
import { changeText, numbers } from './numbers.ts'
import type { List, Overall, QuestionAnswers, Row } from './question.ts'

const barWidth = 12
/** A terminal with fewer lines than this gets a lower chart. */
const roomy = 24

export function drawQuestion(answers: QuestionAnswers, terminal: Terminal, height = Number.POSITIVE_INFINITY): string {
  const { answer, filters, goal, warnings } = answers
  const above = [
    ...heading(answers, terminal),
    ...filters.map((filter) => terminal.warn(`Only ${filterWords(filter)}`)),
    ...(goal === undefined ? [] : [terminal.dim(`Conversions: ${printable(goal)}`)]),
    '',
  ]
  const below = notes(warnings, terminal)
  const room = height - above.length - below.length
  const body =
    answer.by === undefined ? overall(answers, answer, terminal, room) : list(answers, answer, terminal, room)
  return fitted([...above, ...body, ...below], terminal)
}

const operatorWords: Readonly<Record<string, string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  starts_with: 'starts with',
}

/** `page starts with /blog/ or /news/` */
const filterWords = ({ dimension, operator, values }: SourceFilter): string =>
  `${printable(dimension)} ${operatorWords[operator] ?? printable(operator)} ${values.map((value) => printable(value) || '(none)').join(' or ')}`

function overall(
  { metrics, previousPeriod }: QuestionAnswers,
  { totals, interval, series }: Overall,
  terminal: Terminal,
  room: number,
): string[] {
  const current = Object.fromEntries(metrics.map((name) => [name, totals[name] as number]))
  const { previous, change } = totals
  const shown = numbers({ current, ...(previous && change && { previous, change }) }, terminal)
  // A chart needs a number that adds up, because one bar may show the mean of several days.
  const counted = metrics.find((name) => metricOf(name)?.by === undefined)
  if (counted === undefined) return shown
  const scale = 10 ** (decimalsOf(metricOf(counted)?.currency ?? '') ?? 0)
  const points = series.map((point): Point => {
    const before = previousPeriod ? point.previous?.[counted] : undefined
    return {
      at: Temporal.PlainDateTime.from(String(point.date ?? point.time)),
      value: (point[counted] as number) / scale,
      previous: before === undefined ? undefined : before / scale,
    }
  })
  const name = printable(displayOf(counted).name)
  return [...shown, '', ...seriesChart({ name, interval, points }, terminal, room < roomy ? 4 : 8)]
}

function list(
  { metrics, previousPeriod }: QuestionAnswers,
  { by, rows, totalRows }: List,
  terminal: Terminal,
  room: number,
): string[] {
  const visible = rows.length > room - 1 ? rows.slice(0, Math.max(1, room - 2)) : rows
  const [first, ...others] = metrics
  if (first === undefined || visible.length === 0) return [terminal.dim('None in this period.')]
  const more = totalRows - visible.length
  const number = (name: string): Column => ({
    heading: printable(displayOf(name).name),
    cells: visible.map((row) => displayOf(name).text(row[name] as number)),
    isNumber: true,
  })
  const max = Math.max(...visible.map((row) => row[first] as number))
  const bars = visible.map((row) => ((row[first] as number) > 0 ? barText((row[first] as number) / max, barWidth) : ''))
  const table = columnsOf(
    { heading: printable(by), cells: visible.map((row) => labelOf(by, row)) },
    [
      number(first),
      ...(previousPeriod ? changesOf(first, visible, terminal) : []),
      { heading: '', cells: bars.map((bar) => pad(terminal.accent(bar), barWidth)), isNumber: false },
      ...others.map(number),
    ],
    terminal,
  )
  return [table.heading, ...table.rows, ...(more > 0 ? [terminal.dim(`and ${inFull(more)} more`)] : [])]
}

const changesOf = (name: string, rows: readonly Row[], terminal: Terminal): Column[] => [
  {
    heading: 'Change',
    cells: rows.map(({ change }) => changeText(name, change?.[name], terminal)),
    isNumber: true,
  },
]

function labelOf(by: string, row: Row): string {
  const value = row[by]
  if (value === null) return '(none)'
  const text = printable(String(value))
  return by === 'country' && isCountryCode(text) ? `${countryNames[text]} (${text})` : text
}
