// Answers as CSV (RFC 4180). The API and the console write it with this file.
import { csvLines } from '../csv.ts'
import type { Question } from './question.ts'

type Numbers = Readonly<Record<string, string | number | null>>

export interface CsvRow {
  readonly [name: string]: string | number | null | Numbers
}

/** One column per number. Numbers of the compared window are called `previous_visitors`, their change `change_visitors`. */
export function csvOf(question: Question, rows: readonly CsvRow[]): string {
  const metrics = question.metrics.map(({ name }) => name)
  const compared = question.compare ? ['previous', 'change'] : []
  const first = question.kind === 'breakdown' ? question.by.name : isHourly(question) ? 'time' : 'date'
  const columns = [first, ...metrics, ...compared.flatMap((part) => metrics.map((name) => `${part}_${name}`))]
  const cells = (row: CsvRow) => [
    ...[first, ...metrics].map((name) => row[name] as string | number | null),
    ...compared.flatMap((part) => metrics.map((name) => (row[part] as Numbers | null)?.[name] ?? null)),
  ]
  return csvLines([columns, ...rows.map((row) => cells(row).map((cell) => cell ?? ''))])
}

const isHourly = (question: Question): boolean => question.kind === 'timeseries' && question.interval === 'hour'
