// The text by which tallies are found: `day 3 page 7 16:blog.example.com DE Mobile` are the pages of a day, written under version 3, of
// visitors from Germany with a phone, on one host. After the version come the dimension and the cell, then the columns of the cell in
// this order. A host or source tells its length in bytes first, so that no value can be taken for another.
import { join, type Sql, sql, text, uint } from '../stores/clickhouse-sql.ts'
import { type ListedColumn, type Narrowing, narrowedBy } from './dimensions.ts'

/** A part of a day is one from its beginning until an instant (decision D-81). */
export type Span = 'day' | 'month' | 'part'

/** Those that a question cannot leave open come first: what it leaves open is then still one stretch of the table. */
const columnsInOrder = ['hostname', 'utmSource', 'country', 'device'] as const satisfies Narrowing[]

export const columnsOf = (cell: number): Narrowing[] =>
  columnsInOrder.filter((column) => (cell & narrowedBy[column]) > 0)

/** The columns are appended one by one. */
export const placeOf = (span: Span, version: number, dimension: string, cell: number): string =>
  `${span} ${version} ${dimension} ${cell}`

export const partOf = (column: Narrowing, value: string): string =>
  column === 'hostname' || column === 'utmSource' ? ` ${Buffer.byteLength(value)}:${value}` : ` ${value}`

/** The same in the engine: the part of a column, which may be any expression. */
const partIn = (column: Narrowing, value: Sql): Sql =>
  column === 'hostname' || column === 'utmSource'
    ? sql`concat(' ', toString(length(${value})), ':', ${value})`
    : sql`concat(' ', ${value})`

/** The place of a row in the engine, from the number of its cell and its columns. */
export const placeIn = (
  span: Span,
  version: number,
  dimension: Sql,
  cell: Sql,
  columns: Readonly<Record<Narrowing, Sql>>,
): Sql => {
  const parts = columnsInOrder.map(
    (column) => sql`if(bitAnd(${cell}, ${uint(narrowedBy[column])}) = 0, '', ${partIn(column, columns[column])})`,
  )
  return sql`concat(${text(`${span} ${version} `)}, ${dimension}, ' ', toString(${cell}), ${join(parts, sql`, `)})`
}

/** A place without its span and version: what the row counts. */
export const subject = sql`substring(place, position(place, ' ', position(place, ' ') + 1) + 1)`

/** What a place says of a column that the question leaves open. Country and device are its last words, and hosts have no spaces. */
export const valueIn = (column: ListedColumn, cell: number): Sql => {
  if (column === 'device') return sql`splitByChar(' ', place)[-1]`
  if (column === 'country')
    return cell & narrowedBy.device ? sql`splitByChar(' ', place)[-2]` : sql`splitByChar(' ', place)[-1]`
  return cell & narrowedBy.hostname
    ? sql`extract(place, '^(?:\\\\S+ ){4}\\\\d+:\\\\S* \\\\d+:((?s).*) \\\\S+ \\\\S+$')`
    : sql`extract(place, '^(?:\\\\S+ ){4}\\\\d+:((?s).*) \\\\S+ \\\\S+$')`
}
