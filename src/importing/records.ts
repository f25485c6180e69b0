// Reads CSV (RFC 4180, with a header) and JSON Lines as records of named texts.
import { type Line, LineFault } from './lines.ts'

export interface FileRecord {
  /** The line where the record begins, from 1. */
  line: number
  /** Tells records apart that begin in the same line. */
  part?: number
  /** Empty ones are left out. */
  fields: ReadonlyMap<string, string>
}

export async function* readJsonLines(
  lines: AsyncIterable<Line | LineFault>,
): AsyncGenerator<{ line: number; value: object } | LineFault> {
  for await (const line of lines) {
    if (line instanceof LineFault) yield line
    else if (line.text.trim() !== '') yield attempt(line.number, () => ({ line: line.number, value: asObject(line) }))
  }
}

function asObject({ text }: Line): object {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('is not an object')
  return value
}

/** Ends with a fault if `checkHeader` throws one: otherwise every line below it would have it, too. */
export async function* readCsv(
  lines: AsyncIterable<Line | LineFault>,
  checkHeader: (names: readonly string[]) => void = () => {},
): AsyncGenerator<FileRecord | LineFault> {
  let header: string[] | undefined
  for await (const row of wholeRows(lines)) {
    if (row instanceof LineFault) yield row
    else if (row.text === '') continue
    else if (!header) {
      header = cellsOf(row.text).map((name) => name.trim().toLowerCase())
      const fault = attempt(row.number, () => checkHeader(header as string[]))
      if (fault instanceof LineFault) return yield fault
    } else {
      const names = header
      yield attempt(row.number, () => recordOf(row, names))
    }
  }
}

function recordOf({ number, text }: Line, names: readonly string[]): FileRecord {
  const cells = cellsOf(text)
  if (cells.length !== names.length) throw new Error(`has ${cells.length} cells, but the header has ${names.length}`)
  const fields = new Map<string, string>()
  for (let nth = 0; nth < cells.length; nth++)
    if (cells[nth] !== '') fields.set(names[nth] as string, cells[nth] as string)
  return { line: number, fields }
}

/** What the work returns, or a fault of the line for what it throws. */
export function attempt<Result>(line: number, work: () => Result): Result | LineFault {
  try {
    return work()
  } catch (error) {
    return new LineFault(line, (error as Error).message)
  }
}

const longestRow = 1_000_000

/** A quoted cell may contain line ends, so a row continues until its number of quotes is even. */
async function* wholeRows(lines: AsyncIterable<Line | LineFault>): AsyncGenerator<Line | LineFault> {
  let open: Line | undefined
  for await (const line of lines) {
    if (line instanceof LineFault) {
      yield line
      continue
    }
    if (!open && !line.text.includes('"')) {
      yield line
      continue
    }
    const row: Line = open ? { number: open.number, text: `${open.text}\n${line.text}` } : line
    open = row.text.split('"').length % 2 === 0 ? row : undefined
    if (!open) yield row
    else if (row.text.length > longestRow) return yield new LineFault(row.number, 'a quote is not closed')
  }
  if (open) yield new LineFault(open.number, 'a quote is not closed')
}

const quoted = /"((?:[^"]|"")*)"(?=,|$)/y

function cellsOf(row: string): string[] {
  if (!row.includes('"')) return row.split(',')
  const cells: string[] = []
  for (let from = 0; from <= row.length; ) {
    if (row[from] === '"') {
      quoted.lastIndex = from
      const match = quoted.exec(row)
      if (!match) throw new Error(misplacedQuote)
      cells.push((match[1] as string).replaceAll('""', '"'))
      from = quoted.lastIndex + 1
    } else {
      const comma = row.indexOf(',', from)
      const end = comma === -1 ? row.length : comma
      const cell = row.slice(from, end)
      if (cell.includes('"')) throw new Error(misplacedQuote)
      cells.push(cell)
      from = end + 1
    }
  }
  return cells
}

const misplacedQuote = 'has a quote inside a cell that is not quoted'
