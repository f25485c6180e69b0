// Which rows of the folded table a question is read from. A row is narrowed by the columns of its cell and sums up the others.
// A visitor-day has one country and one device, so rows add up over both; it may have several hosts and sources, so rows of a
// hostname or a source answer only questions that name one (decision D-72).
import { join, type Sql, sql, text, texts, uint } from '../stores/clickhouse-sql.ts'
import type { StatsQuery } from './query.ts'

export const narrowedBy = { country: 1, device: 2, hostname: 4, utmSource: 8 } as const

/** Every cell that is stored; a country comes with the devices, so its rows are read through four devices at most. */
export const storedCells = [0, 2, 3, 4, 7, 8, 11, 15] as const

/** Rows of the folded table that are added up, or taken off: all but their dimension and days. */
export interface Cell {
  sign: Sql
  scope: Sql
}

export function cellsOf(query: StatsQuery, shows: keyof typeof narrowedBy | undefined): Cell[] {
  const { filters, excludedCountries } = query
  const named = Object.entries(narrowedBy).filter(
    ([column]) => column === shows || filters[column as keyof typeof narrowedBy] !== undefined,
  )
  const cell = smallest(named.reduce((bits, [, bit]) => bits | bit, 0))
  const excluded = sql`has(${texts(excludedCountries)}, country)`
  if (excludedCountries.length === 0) return [{ sign: sql`1`, scope: scopeOf(query, cell) }]
  if (cell & narrowedBy.country) {
    return [{ sign: sql`1`, scope: sql`${scopeOf(query, cell)} AND NOT ${excluded}` }]
  }
  // Excluded countries are few and their rows lie together: taken off, they cost less than adding up all the others.
  return [
    { sign: sql`1`, scope: scopeOf(query, cell) },
    { sign: sql`-1`, scope: sql`${scopeOf(query, smallest(cell | narrowedBy.country))} AND ${excluded}` },
  ]
}

/** The cell with the hosts and sources that were asked for, no more, and at least the other columns. */
function smallest(columns: number): number {
  const fixed = narrowedBy.hostname | narrowedBy.utmSource
  const cell = storedCells.find((one) => (one & fixed) === (columns & fixed) && (one & columns) === columns)
  if (cell === undefined) throw new Error(`No cell is stored for the columns ${columns}`)
  return cell
}

function scopeOf({ siteId, filters }: StatsQuery, cell: number): Sql {
  const { country, device, hostname, utmSource } = filters
  const conditions = [sql`site_id = ${text(siteId)}`, sql`cell = ${uint(cell)}`]
  if (hostname !== undefined) conditions.push(sql`hostname = ${text(hostname)}`)
  if (utmSource !== undefined) conditions.push(sql`utm_source = ${text(utmSource)}`)
  if (country !== undefined) conditions.push(sql`country = ${text(country)}`)
  if (device !== undefined) conditions.push(sql`device = ${text(device)}`)
  return join(conditions, sql` AND `)
}
