// Which tallies a question is read from. A tally is narrowed by the columns of its cell and sums up the others. A visitor-day has one
// country and one device, so tallies add up over both; it may have several hosts and sources, so tallies of a hostname or a source
// answer only questions that name one (decision D-72).
import { join, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'
import { devices } from '../traffic/device.ts'
import { type Dimension, dimensions, type ListedColumn, type Narrowing, narrowedBy } from './dimensions.ts'
import { columnsOf, partOf, placeOf, valueIn } from './places.ts'
import type { Segment } from './plan.ts'
import { onDays, type StatsQuery } from './query.ts'

/** Tallies that are added up, or taken off (`-`). */
export interface Tallies {
  table: Sql
  sign: Sql
  value: Sql
  scope: Sql
}

/** Where a question says nothing of a column that the cell has, the column is open: all its values are read. */
type Chosen = Partial<Record<Narrowing, readonly string[]>>

/** The dimensions that are asked for together have the same cells and the same table. */
export function talliesOf(
  query: StatsQuery,
  asked: readonly [Dimension, ...Dimension[]],
  segments: readonly Segment[],
  tableOf: (dimension: Dimension) => Sql,
): Tallies[] {
  const { filters, excludedCountries } = query
  const named: Chosen = Object.fromEntries(
    Object.entries(filters).flatMap(([column, value]) => (value === undefined ? [] : [[column, [value]]])),
  )
  const { shows } = asked[0]
  const read = (sign: Sql, chosen: Chosen, isLeftOut: boolean): Tallies => {
    const columns = bitsOf(Object.keys(chosen) as Narrowing[])
    const isListed = !shows || asked[0].cells.includes(columns)
    const from = isListed ? asked : ([dimensions.total] as const)
    const cell = smallest(from[0].cells, isListed ? columns : columns | narrowedBy[shows])
    const value = isListed ? sql`value` : shownBy(shows, cell)
    const conditions = [
      sql`site_id = ${text(query.siteId)}`,
      placedIn(
        from.map(({ name }) => name),
        cell,
        chosen,
        segments,
      ),
    ]
    if (isLeftOut) {
      // Countries are a part of the place, or the values of the list themselves.
      const countries = cell & narrowedBy.country ? valueIn('country', cell) : value
      conditions.push(sql`${countries} NOT IN ${texts(excludedCountries)}`)
    }
    return { table: tableOf(from[0]), sign, value, scope: join(conditions, sql` AND `) }
  }
  const shownBy = (column: ListedColumn, cell: number) => {
    const only = filters[column]
    return only === undefined ? valueIn(column, cell) : sql`${text(only)}`
  }
  if (excludedCountries.length === 0) return [read(sql``, named, false)]
  if (named.country || shows === 'country') return [read(sql``, named, true)]
  // Excluded countries are few and their tallies lie together: taken off, they cost less than adding up all the others.
  return [read(sql``, named, false), read(sql`-`, { ...named, country: excludedCountries }, false)]
}

const bitsOf = (columns: readonly Narrowing[]): number => columns.reduce((bits, column) => bits | narrowedBy[column], 0)

/** The cell with the hosts and sources that were asked for, no more, and at least the other columns. */
function smallest(cells: readonly number[], columns: number): number {
  const fixed = narrowedBy.hostname | narrowedBy.utmSource
  const cell = cells.find((one) => (one & fixed) === (columns & fixed) && (one & columns) === columns)
  if (cell === undefined) throw new Error(`No cell is stored for the columns ${columns}`)
  return cell
}

/** A tally belongs to an answer only under the version its day is readable under (decision D-73). */
function placedIn(names: readonly string[], cell: number, chosen: Chosen, segments: readonly Segment[]): Sql {
  const known: Chosen = { device: devices, ...chosen }
  const columns = columnsOf(cell)
  const open = columns.findIndex((column) => !known[column])
  const leading = open === -1 ? columns : columns.slice(0, open)
  const readable = segments.map(({ span, version, days }) => {
    const places = leading.reduce(
      (begun, column) => begun.flatMap((place) => (known[column] ?? []).map((value) => place + partOf(column, value))),
      names.map((name) => placeOf(span, version, name, cell)),
    )
    const found = open === -1 ? isOneOf(places) : startsWithOneOf(places)
    return sql`${found} AND ${onDays(days)}`
  })
  const rest = open === -1 ? [] : columns.slice(open + 1).filter((column) => chosen[column])
  const conditions = rest.map(
    (column) => sql`${valueIn(column as 'country' | 'device', cell)} IN ${texts(chosen[column] ?? [])}`,
  )
  const segmented = readable.length === 1 ? (readable[0] as Sql) : sql`((${join(readable, sql`) OR (`)}))`
  return join([segmented, ...conditions], sql` AND `)
}

const isOneOf = (places: readonly string[]): Sql =>
  places.length === 1 ? sql`place = ${text(places[0] as string)}` : sql`place IN ${texts(places)}`

const startsWithOneOf = (places: readonly string[]): Sql => {
  const found = places.map((place) => sql`startsWith(place, ${text(`${place} `)})`)
  return found.length === 1 ? (found[0] as Sql) : sql`(${join(found, sql` OR `)})`
}
