// Lists as CSV (RFC 4180): the same rows, columns and numbers as in the JSON.
import Type from 'typebox'
import { type ReportName, reports } from './reports.ts'

export const csvType = 'text/csv; charset=utf-8; header=present'

export type ListRow = Readonly<Record<string, string | number>>

/** The fields of a record, or undefined if the report is not a list. */
function columnsOf(name: ReportName): string[] | undefined {
  const { data } = reports[name]
  return Type.IsArray(data) && Type.IsObject(data.items) ? Object.keys(data.items.properties) : undefined
}

/** Whether the report is a list of records. Overview is not, and has no CSV. */
export const isList = (name: ReportName): boolean => columnsOf(name) !== undefined

/** The columns are those of the report's schema, so a list without rows has them too. */
export function csvOf(name: ReportName, rows: readonly ListRow[]): string {
  const columns = columnsOf(name) ?? []
  return csvLines([columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))])
}

export const csvLines = (lines: readonly (readonly (string | number)[])[]): string =>
  lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')

/**
 * A spreadsheet reads a cell that begins with one of these as a formula, and visitors choose the texts (decision D-185). Where the comma is
 * the decimal sign, a spreadsheet also splits at semicolons, tabs and line ends, even between our quotes.
 */
const formula = /(^|[;\t\r\n]"*)(?=[=+\-@＝＋－＠])/g
const leadingBlank = /^(?=[\t\r\n])/

function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const inert = value.replace(formula, "$1'").replace(leadingBlank, "'")
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
