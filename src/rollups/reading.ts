// Decides where the numbers of a query are read from; no other file does. First the days of a period: whole months and days come from rollups
// where these exist, and everything else from the events: a partial first or last day, days with late events, sites without rollups.
// Then the rollup rows. A row belongs to a grouping set: it has one value of each filter in the set and sums up all others. A visitor has one
// country and one device per day, so rows add up over both. A visitor may have several hosts and sources, so rows for a host or a source
// answer only queries that name one (decision D-72).
import {
  type DayRange,
  dayAfter,
  dayBefore,
  earlier,
  intersect,
  later,
  subtract,
  wholeMonths,
} from '../calendar/days.ts'
import { type Period, partialEnd, partialStart, storedDay } from '../calendar/periods.ts'
import { join, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'
import { type Filters, onDays } from '../traffic/conditions.ts'
import type { CountryCode } from '../traffic/country.ts'
import { type Coverage, type RollupVersion, rolledUpDays, type Segment, type TodayRollup } from './coverage.ts'
import { type Dimension, dimensions, type FilterName, filterBits, has, type ListedFilter } from './dimensions.ts'
import { rollupKey } from './keys.ts'

export interface Plan {
  /** Days to read from the events. The period's instants cut the partial days. */
  raw: readonly DayRange[]
  rolledUp: readonly Segment[]
  /** Days that are not over, and parts of days, from the last count of today. */
  today: readonly Segment[]
}

export interface PlanOptions {
  versions: readonly RollupVersion[]
  /** The last count of today, if it is recent. */
  today?: TodayRollup | undefined
  /** Whether each day needs its own row. Then months are not read. */
  byDay: boolean
}

export function planOf(period: Period, { versions, today, byDay }: PlanOptions): Plan {
  const all: DayRange = [storedDay(period.firstDay), storedDay(period.lastDay)]
  if (versions.length === 0 || all[0] > all[1]) return { raw: [all], rolledUp: [], today: [] }
  const whole: DayRange = [
    partialStart(period) === null ? all[0] : dayAfter(all[0]),
    partialEnd(period) === null ? all[1] : dayBefore(all[1]),
  ]
  const months = byDay ? [] : rolledUpMonths(whole, versions)
  const rolledUp = [...months, ...rolledUpDays(subtract([whole], daysOf(months)), versions)]
  const counted = today
    ? [...todayDays(subtract([all], daysOf(rolledUp)), whole, period, today), ...partOfDay(period, versions, today)]
    : []
  return { raw: subtract([all], daysOf([...rolledUp, ...counted])), rolledUp, today: counted }
}

const daysOf = (segments: readonly Segment[]): DayRange[] => segments.flatMap(({ days }) => days)

const rolledUpMonths = (whole: DayRange, versions: readonly RollupVersion[]): Segment[] =>
  versions
    .map(({ version, months }): Segment => ({ span: 'month', version, days: wholeMonths(intersect([whole], months)) }))
    .filter(({ days }) => days.length > 0)

/** Whole days, and today if the period ends at the instant of the count. */
function todayDays(
  rest: readonly DayRange[],
  whole: DayRange,
  period: Period,
  { version, days, asOf }: TodayRollup,
): Segment[] {
  const last = partialEnd(period) === asOf ? days[1] : earlier(dayBefore(days[1]), whole[1])
  const counted = intersect(rest, [[later(days[0], whole[0]), last]])
  return counted.length > 0 ? [{ span: 'day', version, days: counted }] : []
}

/** The part of a closed day at the end of the period, unless events for that day have arrived since it was counted. */
function partOfDay(period: Period, versions: readonly RollupVersion[], { version, parts }: TodayRollup): Segment[] {
  const day = storedDay(period.lastDay)
  const part = parts.find((one) => one.day === day && one.until === partialEnd(period))
  if (!part || (partialStart(period) !== null && storedDay(period.firstDay) === day)) return []
  const isUnchanged = rolledUpDays([[day, day]], versions).some((segment) => segment.version === part.version)
  return isUnchanged ? [{ span: 'part', version, days: [[day, day]] }] : []
}

/** Whether this plan reads a day that may still get events without an invalidation. */
export const readsUnsettledDays = ({ raw, today }: Plan, settledThrough: string | null): boolean =>
  today.length > 0 || raw.some(([, last]) => last > (settledThrough ?? ''))

/**
 * The maximum age of a count of today. With the five seconds of the response cache, an answer is at most a minute old (decision D-81).
 */
const maxAgeMs = 54_000

export const recentToday = ({ today }: Pick<Coverage, 'today'>, now: number): TodayRollup | undefined =>
  today && today.asOf <= now && now - today.asOf <= maxAgeMs ? today : undefined

/**
 * Whether the period ends within a day whose events retention has dropped, so that only numbers of the whole day exist (decision D-79). A day
 * before `eventsFrom` that is not rolled up never had any events.
 */
export function endsInDroppedDay(
  period: Period,
  { versions, eventsFrom }: Pick<Coverage, 'versions' | 'eventsFrom'>,
): boolean {
  const day = storedDay(period.lastDay)
  return day < eventsFrom && partialEnd(period) !== null && rolledUpDays([[day, day]], versions).length > 0
}

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
  requested: readonly [Dimension, ...Dimension[]],
  segments: readonly Segment[],
  tableOf: (dimension: Dimension) => Sql,
): RollupSource[] {
  const filterSet = filterBitsOf(filters)
  const { lists } = requested[0]

  const read = (
    sign: Sql,
    { only, except }: { only?: readonly string[]; except?: readonly string[] },
  ): RollupSource => {
    const bits = only ? filterSet | filterBits.country : filterSet
    const isListed = !lists || requested[0].groupingSets.includes(bits)
    const from = isListed ? requested : ([dimensions.total] as const)
    const set = smallestSet(from[0].groupingSets, isListed ? bits : bits | filterBits[lists])
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

/** The first set with exactly the host and source filters of the query, and at least its other filters. */
export function smallestSet(sets: readonly number[], bits: number): number {
  const exact = filterBits.hostname | filterBits.utmSource
  const set = sets.find((one) => (one & exact) === (bits & exact) && (one & bits) === bits)
  if (set === undefined) throw new Error(`No grouping set is stored for the filters ${bits}`)
  return set
}

/** Reads each day only under its readable version (decision D-73). */
function inSegments(requested: readonly Dimension[], set: number, hostname: string, segments: readonly Segment[]): Sql {
  const readable = segments.map(({ span, version, days }) => {
    const keys = requested.map(({ name }) => rollupKey(span, version, name, set, hostname))
    const isKey = keys.length === 1 ? sql`rollup_key = ${text(keys[0] as string)}` : sql`rollup_key IN ${texts(keys)}`
    return sql`${isKey} AND ${onDays(days)}`
  })
  return readable.length === 1 ? (readable[0] as Sql) : sql`((${join(readable, sql`) OR (`)}))`
}
