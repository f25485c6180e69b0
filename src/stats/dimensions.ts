// What hits can be broken down by, which hits take part, and what is counted of them. Sessions without a referrer are in no row.
import { type Sql, sql } from '../stores/clickhouse-sql.ts'

export interface Dimension {
  /** Its name in the folded table. */
  name: Sql
  value: Sql
  hits: Sql
  counted: Sql
}

const pageviews = sql`countIf(name = 'pageview')`

/** Those that the folded table has rows of (decision D-71). */
export const foldedDimensions = {
  total: { name: sql`'total'`, value: sql`''`, hits: sql`true`, counted: pageviews },
  page: { name: sql`'page'`, value: sql`pathname`, hits: sql`name = 'pageview'`, counted: sql`count()` },
  referrer: { name: sql`'referrer'`, value: sql`referrer`, hits: sql`referrer != ''`, counted: pageviews },
  channel: { name: sql`'channel'`, value: sql`toString(channel)`, hits: sql`true`, counted: pageviews },
  event: { name: sql`'event'`, value: sql`name`, hits: sql`name != 'pageview'`, counted: sql`count()` },
} as const satisfies Record<string, Dimension>

const { total, page, referrer, channel, event } = foldedDimensions

/** Country, device and source are columns of every folded row: their lists are the total's rows, shown by that column. */
export const dimensions = {
  day: { dimension: total, byDay: true },
  page: { dimension: page },
  referrer: { dimension: referrer },
  channel: { dimension: channel },
  event: { dimension: event },
  country: { dimension: { ...total, value: sql`toString(country)` }, shows: 'country' },
  device: { dimension: { ...total, value: sql`toString(device)` }, shows: 'device' },
  utm: { dimension: { ...total, value: sql`utm_source`, hits: sql`utm_source != ''` }, shows: 'utmSource' },
} as const satisfies Record<string, { dimension: Dimension; byDay?: true; shows?: 'country' | 'device' | 'utmSource' }>

export type DimensionName = keyof typeof dimensions
