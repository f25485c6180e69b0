// Reads CSV (RFC 4180, with a header) and JSON Lines as records of named texts.
import { type Line, LineFault } from './lines.ts'

export interface FileRecord {
  /** The line where the record begins, from 1. */
  line: number
  fields: ReadonlyMap<string, string>
}

export async function* readJsonLines(lines: AsyncIterable<Line>): AsyncGenerator<FileRecord | LineFault> {
  for await (const { number, text } of lines) {
    if (text.trim() === '') continue
    yield attempt(number, () => {
      const value: unknown = JSON.parse(text)
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('is not an object')
      return Object.entries(value)
        .filter(([, field]) => field !== null)
        .map(([name, field]): [string, string] => {
          if (typeof field === 'string') return [name, field]
          if (name === 'props' && typeof field === 'object') return [name, JSON.stringify(field)]
          throw new Error(`has a ${name} that is not a text`)
        })
    })
  }
}

/** A field that is not allowed is a fault of the header line, not of every line below it. */
export async function* readCsv(
  lines: AsyncIterable<Line>,
  allowed: ReadonlySet<string>,
): AsyncGenerator<FileRecord | LineFault> {
  let header: string[] | undefined
  for await (const { number, text } of wholeRows(lines)) {
    if (text === '') continue
    if (!header) {
      header = headerOf(number, text, allowed)
      continue
    }
    const names = header
    yield attempt(number, () => {
      const cells = cellsOf(text)
      if (cells.length !== names.length)
        throw new Error(`has ${cells.length} cells, but the header has ${names.length}`)
      return names.map((name, index): [string, string] => [name, cells[index] as string])
    })
  }
}

function headerOf(line: number, text: string, allowed: ReadonlySet<string>): string[] {
  const names = cellsOf(text).map((name) => name.trim().toLowerCase())
  for (const [index, name] of names.entries()) {
    if (!allowed.has(name))
      throw new LineFault(`Line ${line}: the header has an unknown field, ${name || 'which has no name'}`)
    if (names.indexOf(name) !== index) throw new LineFault(`Line ${line}: the header has the field ${name} twice`)
  }
  return names
}

function attempt(line: number, read: () => [string, string][]): FileRecord | LineFault {
  try {
    return { line, fields: new Map(read().filter(([, value]) => value !== '')) }
  } catch (error) {
    return new LineFault(`Line ${line}: ${(error as Error).message}`)
  }
}

/** A quoted cell may contain line ends, so a row continues until its number of quotes is even. */
async function* wholeRows(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  let open: Line | undefined
  for await (const { number, text } of lines) {
    const row: Line = open ? { number: open.number, text: `${open.text}\n${text}` } : { number, text }
    open = row.text.split('"').length % 2 === 0 ? row : undefined
    if (!open) yield row
    else if (row.text.length > 1_000_000) throw new LineFault(`Line ${row.number}: a quote is not closed`)
  }
  if (open) throw new LineFault(`Line ${open.number}: a quote is not closed`)
}

function cellsOf(row: string): string[] {
  if (!row.includes('"')) return row.split(',')
  const cells: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const match = cell.exec(row)
    if (!match) throw new Error('has a quote inside a cell that is not quoted')
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return cells
  }
}
