// The dimensions of traffic: the column of each list, the events that it includes, and the number that it counts. Sessions without a
// referrer or source appear in no list of referrers or sources.
import { type Sql, sql } from '../stores/clickhouse-sql.ts'
import type { Filters } from '../traffic/conditions.ts'

/** The bits of a grouping set: the filters that its rows are for. */
export const filterBits = { country: 1, device: 2, hostname: 4, utmSource: 8 } as const satisfies Record<
  keyof Filters,
  number
>

export type FilterName = keyof typeof filterBits

export const has = (groupingSet: number, filter: FilterName): boolean => (groupingSet & filterBits[filter]) > 0

/** A dimension that is also a filter. */
export type ListedFilter = Exclude<FilterName, 'hostname'>

export interface Dimension {
  /** Its name in the rollup tables. */
  name: string
  value: Sql
  hits: Sql
  counted: Sql
  /** The sets of filters for which it has rows (decision D-72). */
  groupingSets: readonly number[]
  /** It has so many values per day that its rows have their own table (decision D-82). */
  isLong?: true
  /** Its value is also a filter. For a grouping set without rows of this dimension, the rows of the total list that column. */
  lists?: ListedFilter
}

const pageviews = sql`countIf(events.name = 'pageview')`

/** No filter, each filter alone, and combinations. A missing combination is read from a larger set, summed over countries or devices. */
const everySet = [0, 1, 2, 3, 4, 7, 8, 11, 15]
/** Without `country` alone: on one day most pages of a country are viewed on one device only, so its rows would be almost as many again. */
const withoutCountryAlone = everySet.filter((set) => set !== filterBits.country)

/** Columns are qualified, because the statements that write rollups use the same names for their own columns. */
export const dimensions = {
  total: { name: 'total', value: sql`''`, hits: sql`true`, counted: pageviews, groupingSets: everySet },
  page: {
    name: 'page',
    value: sql`events.pathname`,
    hits: sql`events.name = 'pageview'`,
    counted: sql`count()`,
    groupingSets: withoutCountryAlone,
    isLong: true,
  },
  referrer: {
    name: 'referrer',
    value: sql`events.referrer`,
    hits: sql`events.referrer != ''`,
    counted: pageviews,
    groupingSets: everySet,
    isLong: true,
  },
  channel: {
    name: 'channel',
    value: sql`toString(events.channel)`,
    hits: sql`true`,
    counted: pageviews,
    groupingSets: everySet,
  },
  event: {
    name: 'event',
    value: sql`events.name`,
    hits: sql`events.name != 'pageview'`,
    counted: sql`count()`,
    groupingSets: everySet,
  },
  country: {
    name: 'country',
    value: sql`toString(events.country)`,
    hits: sql`true`,
    counted: pageviews,
    groupingSets: [0, 2, 4, 8],
    lists: 'country',
  },
  device: {
    name: 'device',
    value: sql`toString(events.device)`,
    hits: sql`true`,
    counted: pageviews,
    groupingSets: [0, 1, 4, 8],
    lists: 'device',
  },
  utm: {
    name: 'utm',
    value: sql`events.utm_source`,
    hits: sql`events.utm_source != ''`,
    counted: pageviews,
    groupingSets: [0, 1, 2, 4],
    lists: 'utmSource',
  },
} as const satisfies Record<string, Dimension>

export type DimensionName = keyof typeof dimensions

export const tableOf = ({ isLong }: Dimension): Sql => (isLong ? sql`long_rollups` : sql`short_rollups`)
