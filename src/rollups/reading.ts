// Finds the rollup rows that answer a query. A row belongs to a grouping set: it is for one value of each filter in the set and sums
// up the rest. A visitor has one country and one device per day, so rows add up over both. A visitor may have several hosts and
// sources, so rows for a host or a source answer only queries that name one (decision D-72).
import { join, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'
import { type Filters, onDays } from '../traffic/conditions.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { Segment } from './coverage.ts'
import { type Dimension, dimensions, type FilterName, filterBits, has, type ListedFilter } from './dimensions.ts'
import { rollupKey } from './keys.ts'

/** The site and the filters of a query. */
export interface Scope {
  siteId: string
  filters: Filters
  excludedCountries: readonly CountryCode[]
}

/** Rows to add, or to subtract if the sign is `-`. */
export interface RollupSource {
  table: Sql
  sign: Sql
  value: Sql
  scope: Sql
}

/** Dimensions that are read together must have the same grouping sets and the same table. */
export function rollupSources(
  { siteId, filters, excludedCountries }: Scope,
  asked: readonly [Dimension, ...Dimension[]],
  segments: readonly Segment[],
  tableOf: (dimension: Dimension) => Sql,
): RollupSource[] {
  const named = filterBitsOf(filters)
  const { lists } = asked[0]

  const read = (
    sign: Sql,
    { only, except }: { only?: readonly string[]; except?: readonly string[] },
  ): RollupSource => {
    const wanted = only ? named | filterBits.country : named
    const isListed = !lists || asked[0].groupingSets.includes(wanted)
    const from = isListed ? asked : ([dimensions.total] as const)
    const set = smallestSet(from[0].groupingSets, isListed ? wanted : wanted | filterBits[lists])
    const value = isListed ? sql`value` : columns[lists]
    const conditions = [sql`site_id = ${text(siteId)}`, inSegments(from, set, filters.hostname ?? '', segments)]
    if (filters.utmSource !== undefined) conditions.push(sql`utm_source = ${text(filters.utmSource)}`)
    if (filters.country !== undefined) conditions.push(sql`country = ${text(filters.country)}`)
    if (only) conditions.push(sql`country IN ${texts(only)}`)
    // Without a country filter, the values of the list are the countries.
    if (except) conditions.push(sql`${has(set, 'country') ? sql`country` : value} NOT IN ${texts(except)}`)
    if (filters.device !== undefined) conditions.push(sql`device = ${text(filters.device)}`)
    return { table: tableOf(from[0]), sign, value, scope: join(conditions, sql` AND `) }
  }

  if (excludedCountries.length === 0) return [read(sql``, {})]
  if (filters.country !== undefined || lists === 'country') return [read(sql``, { except: excludedCountries })]
  // Excluded countries have few rows: subtracting them costs less than adding up all the others.
  return [read(sql``, {}), read(sql`-`, { only: excludedCountries })]
}

const columns: Record<ListedFilter, Sql> = {
  country: sql`toString(country)`,
  device: sql`toString(device)`,
  utmSource: sql`utm_source`,
}

export const filterBitsOf = (filters: Filters): number =>
  Object.keys(filters).reduce((bits, name) => bits | filterBits[name as FilterName], 0)

/** The set with exactly the host and source filters that the query has, and at least its other filters. */
export function smallestSet(sets: readonly number[], wanted: number): number {
  const exact = filterBits.hostname | filterBits.utmSource
  const set = sets.find((one) => (one & exact) === (wanted & exact) && (one & wanted) === wanted)
  if (set === undefined) throw new Error(`No grouping set is stored for the filters ${wanted}`)
  return set
}

/** A day is read under the version that is readable, and no other (decision D-73). */
function inSegments(asked: readonly Dimension[], set: number, hostname: string, segments: readonly Segment[]): Sql {
  const readable = segments.map(({ span, version, days }) => {
    const keys = asked.map(({ name }) => rollupKey(span, version, name, set, hostname))
    const found = keys.length === 1 ? sql`rollup_key = ${text(keys[0] as string)}` : sql`rollup_key IN ${texts(keys)}`
    return sql`${found} AND ${onDays(days)}`
  })
  return readable.length === 1 ? (readable[0] as Sql) : sql`((${join(readable, sql`) OR (`)}))`
}
