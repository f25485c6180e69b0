// Files of daily sums: what other products export instead of single hits. A file has tables, and a table has rows of one day and one value.
import type { Site } from '../../accounts/sites.ts'
import type { DayRange } from '../../calendar/days.ts'
import type { LineFault } from '../lines.ts'

/** Columns of `imported_sums`. The duration is in milliseconds. */
export const sumNames = ['visitors', 'pageviews', 'sessions', 'bounces', 'duration', 'events'] as const

export type SumName = (typeof sumNames)[number]

/** The sums of a whole site. Every other list is a dimension of version 2, by its name there. */
export const total = 'total'

/** Overview shows all of them, so no file may lack one. */
export const sumsOfTotal: readonly SumName[] = ['visitors', 'pageviews', 'sessions', 'bounces', 'duration']

/** A row of a list. A line of a file may have several. */
export interface DaySum {
  list: string
  /** `YYYY-MM-DD`. */
  day: string
  value: string
  sums: Readonly<Partial<Record<SumName, number>>>
}

/** Why a line has no sums. */
export type SumsReason =
  | 'lines that cannot be read'
  | 'totals of all days'
  | 'tables without a date'
  | 'events that the product records by itself'

export interface SumsLine {
  line: number
  /** One of them has the day of the line. */
  rows: readonly DaySum[]
}

export interface SumsTable {
  /** What a person calls it: the name of a file in an archive. */
  name: string
  lists: readonly { list: string; metrics: readonly SumName[] }[]
  /** The days that the table is about, also those without a row. Undefined: the product does not say. */
  range: DayRange | undefined
  /** Must be read before the next table. */
  lines: AsyncIterable<SumsLine | { line: number; reason: SumsReason } | LineFault>
}

export interface SumsFormat {
  /** What `--from` takes. */
  name: string
  isKnownBy(path: string, head: string): boolean
  /** `onBytes` gets bytes of the file as they are read. Throws `LineFault`. */
  tables(path: string, site: Site, onBytes: (bytes: number) => void): AsyncGenerator<SumsTable>
}

/** A count as products write it. */
export function countOf(text: string, name: string): number {
  if (text === '' || text === '\\N') return 0
  if (!/^\d{1,15}$/.test(text)) throw new Error(`has a number of ${name} that is not whole`)
  return Number(text)
}

/** A file has the same few days in each of its lines. */
const knownDays = new Map<string, string>()
const maxKnownDays = 50_000

/** Throws for a day that does not exist. `YYYYMMDD` and `YYYY-MM-DD`. */
export function dayNamed(text: string): string {
  const known = knownDays.get(text)
  if (known !== undefined) return known
  const day = readDay(text)
  if (knownDays.size < maxKnownDays) knownDays.set(text, day)
  return day
}

function readDay(text: string): string {
  const [, year, month, day] = /^(\d{4})-?(\d\d)-?(\d\d)$/.exec(text) ?? []
  const written = `${year}-${month}-${day}`
  try {
    if (written >= '1990-01-01') return Temporal.PlainDate.from(written).toString()
  } catch {} // no such day
  throw new Error('has no day such as 2025-03-31')
}
