// What hits can be broken down by, which hits take part, and what is counted of them. Sessions without a referrer are in no row.
import { type Sql, sql } from '../stores/clickhouse-sql.ts'

/** The columns a question can be narrowed by; a cell is a sum of these. */
export const narrowedBy = { country: 1, device: 2, hostname: 4, utmSource: 8 } as const

export type Narrowing = keyof typeof narrowedBy
export type ListedColumn = Exclude<Narrowing, 'hostname'>

export interface Dimension {
  /** Its name in the tables of tallies. */
  name: string
  value: Sql
  hits: Sql
  counted: Sql
  /** By which columns its tallies are narrowed, alone and together (decision D-72). */
  cells: readonly number[]
  /** So many values a day that they have a table of their own, and whole months are stored as sums too (decisions D-76 and D-82). */
  isLong?: true
  /** Its value is such a column: where it has no rows for a cell, those of the total show it by that column. */
  shows?: ListedColumn
}

const pageviews = sql`countIf(name = 'pageview')`

/** One filter, whichever; and every combination of them, read through all countries and devices where they are not named. */
const everyCell = [0, 1, 2, 3, 4, 7, 8, 11, 15]
/** Most pages of a country and day are seen on one device, so pages by country alone would be as many rows again. */
const withoutCountryAlone = everyCell.filter((cell) => cell !== narrowedBy.country)

/** Of each there are tallies (decision D-71). */
export const dimensions = {
  total: { name: 'total', value: sql`''`, hits: sql`true`, counted: pageviews, cells: everyCell },
  page: {
    name: 'page',
    value: sql`pathname`,
    hits: sql`name = 'pageview'`,
    counted: sql`count()`,
    cells: withoutCountryAlone,
    isLong: true,
  },
  referrer: {
    name: 'referrer',
    value: sql`referrer`,
    hits: sql`referrer != ''`,
    counted: pageviews,
    cells: everyCell,
    isLong: true,
  },
  channel: {
    name: 'channel',
    value: sql`toString(channel)`,
    hits: sql`true`,
    counted: pageviews,
    cells: everyCell,
  },
  event: {
    name: 'event',
    value: sql`name`,
    hits: sql`name != 'pageview'`,
    counted: sql`count()`,
    cells: everyCell,
  },
  country: {
    name: 'country',
    value: sql`toString(country)`,
    hits: sql`true`,
    counted: pageviews,
    cells: [0, 2, 4, 8],
    shows: 'country',
  },
  device: {
    name: 'device',
    value: sql`toString(device)`,
    hits: sql`true`,
    counted: pageviews,
    cells: [0, 1, 4, 8],
    shows: 'device',
  },
  utm: {
    name: 'utm',
    value: sql`utm_source`,
    hits: sql`utm_source != ''`,
    counted: pageviews,
    cells: [0, 1, 2, 4],
    shows: 'utmSource',
  },
} as const satisfies Record<string, Dimension>

export type DimensionName = keyof typeof dimensions

export const tableOf = ({ isLong }: Dimension): Sql => (isLong ? sql`long_tallies` : sql`short_tallies`)
