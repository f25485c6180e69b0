// Files that are written for Footfall: the fields are those of docs/import.md, and nothing is left out in silence.
import { knownFields } from '../hit.ts'
import { LineFault, readLines } from '../lines.ts'
import { attempt, type FileRecord, readCsv, readJsonLines } from '../records.ts'
import type { Format } from './format.ts'

export const csv: Format = {
  name: 'csv',
  isKnownBy: (head) => /^(?=.*\burl\b)(?=.*\btime\b)[\w, ]+\r?\n/i.test(head),
  read: (content) => readCsv(readLines(content), checkHeader),
  leavesOutBrokenLines: false,
}

export const jsonl: Format = {
  name: 'jsonl',
  isKnownBy: (head) => /^\{(?=.*"url")(?=.*"time")/.test(head.split('\n', 1)[0] as string),
  read: (content) => readRecords(content),
  leavesOutBrokenLines: false,
}

function checkHeader(names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    if (!knownFields.has(name)) throw new Error(`the header has an unknown field, ${name || 'which has no name'}`)
    if (names.indexOf(name) !== index) throw new Error(`the header has the field ${name} twice`)
  }
}

async function* readRecords(content: AsyncIterable<Buffer>): AsyncGenerator<FileRecord | LineFault> {
  for await (const row of readJsonLines(readLines(content)))
    yield row instanceof LineFault ? row : attempt(row.line, () => ({ line: row.line, fields: fieldsOf(row.value) }))
}

function fieldsOf(value: object): FileRecord['fields'] {
  const fields = new Map<string, string>()
  for (const [name, field] of Object.entries(value)) {
    if (field === null || field === '') continue
    if (typeof field === 'string') fields.set(name, field)
    else if (name === 'props' && typeof field === 'object') fields.set(name, JSON.stringify(field))
    else throw new Error(`has a ${name} that is not a text`)
  }
  return fields
}
