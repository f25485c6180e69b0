// The numbers of `dailyTotals` for many sites in one relation. The sites have the same filters; their time zones, exclusions and rollups may
// differ. A part of the statement for each site would take longer to plan than its rows take to read, so sites are passed as arrays of values
// (decision D-192).
import { countDays, type DayRange, earlier, later, subtract } from '../calendar/days.ts'
import { type Periods, partialEnd, partialStart, storedDay } from '../calendar/periods.ts'
import type { Segment } from '../rollups/coverage.ts'
import { dimensions, filterBits, has, tableOf } from '../rollups/dimensions.ts'
import { rollupKey } from '../rollups/keys.ts'
import { filterBitsOf, type Plan, smallestSet } from '../rollups/reading.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { dates, ints, join, type Sql, sql, text, texts, uints } from '../stores/clickhouse-sql.ts'
import { type Filters, onDays } from '../traffic/conditions.ts'
import { sessionColumns } from '../traffic/sessions.ts'
import { type StatsQuery, totalsOfSessions } from './daily-metrics.ts'

const periodNames = ['current', 'previous'] as const

/**
 * The limits of one statement; more sites take several statements. ClickHouse accepts 128 KiB for a parameter: 3,000 ranges of days
 * or excluded countries are 70 kB, and 200 sites usually have fewer than 2,400. Days that are read from events take time: a site without
 * rollups has up to 137 events a day (decision D-75), and a statement has two seconds.
 */
const defaultMax = { values: 3_000, rawDays: 20_000 }
/** The maximum that is counted for one site: two years. Earlier days are rolled up or empty. */
const maxRawDaysOfSite = 800

/**
 * Runs a statement over the relation (site_id, period, day, views, visitors, sessions, bounces, duration in milliseconds). The statement must
 * group by site, because sites may be divided over several runs.
 */
export async function readOfSites<Row>(
  clickhouse: ClickHouseReader,
  queries: readonly StatsQuery[],
  statement: (dailyTotals: Sql) => Sql,
  signal?: AbortSignal,
  max = defaultMax,
): Promise<Row[]> {
  const rows: Row[][] = []
  for (const share of sharesOf(queries, max)) {
    // Two threads, because the parts of the relation run at the same time.
    const query = sql`${statement(dailyTotalsOfSites(share))} SETTINGS max_threads = 2`
    rows.push(await clickhouse.rows<Row>(query, signal))
  }
  return rows.flat()
}

function sharesOf(queries: readonly StatsQuery[], max: typeof defaultMax): StatsQuery[][] {
  const shares: StatsQuery[][] = []
  let room = 0
  for (const query of queries) {
    const part = partOf(query, max)
    if (shares.length === 0 || part > room) {
      shares.push([])
      room = 1
    }
    shares.at(-1)?.push(query)
    room -= part
  }
  return shares
}

/** The share of a statement's limits that the site takes: of its parameters plus of its time. */
function partOf(query: StatsQuery, { values, rawDays }: typeof defaultMax): number {
  const raw = Object.values(query.plans).flatMap((plan) => plan.raw)
  const stored = Object.values(query.plans).flatMap(({ rolledUp, today }) =>
    [...rolledUp, ...today].flatMap((segment) => segment.days),
  )
  const ranges = raw.length + stored.length * groupingSetsOf(query).length + importedRanges(query).length
  return (
    (ranges + query.excludedCountries.length) / values +
    Math.min(countDays(subtract(raw, [])), maxRawDaysOfSite) / rawDays
  )
}

function dailyTotalsOfSites(queries: readonly StatsQuery[]): Sql {
  const parts = [
    ...periodNames.flatMap((name) => rawTotals(queries, name)),
    ...storedTotals(queries, tableOf(dimensions.total), ({ rolledUp }) => rolledUp),
    ...storedTotals(queries, sql`today_rollups`, ({ today }) => today),
    ...importedTotals(queries),
  ]
  return sql`(${join(parts, sql` UNION ALL `)}
  )`
}

/**
 * The days that are in rollups. Each range of days of a site has a row with its key, its period, and whether it is subtracted. Countries that
 * a site excludes are subtracted, as in every report (rollups/reading.ts).
 */
function storedTotals(
  queries: readonly StatsQuery[],
  table: Sql,
  segmentsOf: (plan: Plan) => readonly Segment[],
): Sql[] {
  const { hostname } = queries[0]?.filters ?? {}
  const ranges = queries.flatMap((query) =>
    periodNames.flatMap((period) =>
      segmentsOf(query.plans[period]).flatMap(({ span, version, days }) =>
        groupingSetsOf(query).flatMap(({ set, subtracts }) => {
          const key = rollupKey(span, version, dimensions.total.name, set, '')
          return days.map(([first, last]) => ({ siteId: query.siteId, key, period, subtracts, first, last }))
        }),
      ),
    ),
  )
  if (ranges.length === 0) return []
  const siteIds = texts(ranges.map(({ siteId }) => siteId))
  const withoutHost = texts(ranges.map(({ key }) => key))
  // The host name at the end of a key may be long and is the same for all, so it is sent once.
  const keys =
    hostname === undefined ? sql`${withoutHost}` : sql`arrayMap(key -> concat(key, ${text(hostname)}), ${withoutHost})`
  const signed = (column: Sql) => sql`if(subtracts = 1, -${column}, ${column}) AS ${column}`
  return [
    sql`
    SELECT site_id, period, day, ${join([sql`views`, sql`visitors`, sql`sessions`, sql`bounces`, sql`duration`].map(signed), sql`, `)}
    FROM ${table}
    INNER JOIN (
      SELECT site_id, rollup_key, period, subtracts, first, last FROM (SELECT 1) ARRAY JOIN
        ${siteIds} AS site_id,
        ${keys} AS rollup_key,
        ${texts(ranges.map(({ period }) => period))} AS period,
        ${uints(ranges.map(({ subtracts }) => Number(subtracts)))} AS subtracts,
        ${dates(ranges.map(({ first }) => first))} AS first,
        ${dates(ranges.map(({ last }) => last))} AS last
    ) AS ranges USING (site_id, rollup_key)
    WHERE (site_id, rollup_key) IN arrayZip(${siteIds}, ${keys})
      AND ${onDays([around(ranges.map(({ first, last }) => [first, last]))])}
      AND day BETWEEN first AND last
      AND ${filtered(queries)}
      AND ${isExcluded(queries)} = subtracts`,
  ]
}

/** Imported days are read only where no country is excluded and nothing is filtered, so their rows need no other condition. */
function importedTotals(queries: readonly StatsQuery[]): Sql[] {
  const ranges = queries.flatMap(importedRanges)
  if (ranges.length === 0) return []
  const siteIds = texts(ranges.map(({ siteId }) => siteId))
  return [
    sql`
    SELECT site_id, period, day, pageviews AS views, visitors, sessions, bounces, duration
    FROM imported_sums
    INNER JOIN (
      SELECT site_id, version, period, first, last FROM (SELECT 1) ARRAY JOIN
        ${siteIds} AS site_id,
        arrayMap(version -> toUInt64(version), ${texts(ranges.map(({ version }) => version))}) AS version,
        ${texts(ranges.map(({ period }) => period))} AS period,
        ${dates(ranges.map(({ first }) => first))} AS first,
        ${dates(ranges.map(({ last }) => last))} AS last
    ) AS ranges USING (site_id, version)
    WHERE site_id IN ${siteIds} AND list = ${text(dimensions.total.name)} AND day BETWEEN first AND last`,
  ]
}

const importedRanges = ({ siteId, imported }: StatsQuery) =>
  periodNames.flatMap((period) =>
    (imported?.[period]?.rows ?? []).flatMap(({ version, days }) =>
      days.map(([first, last]) => ({ siteId, version, period, first, last })),
    ),
  )

/** Rows by country can be filtered by country. From other rows, those of the excluded countries are subtracted. */
function groupingSetsOf({ filters, excludedCountries }: StatsQuery): { set: number; subtracts: boolean }[] {
  const { groupingSets } = dimensions.total
  const bits = filterBitsOf(filters)
  const set = smallestSet(groupingSets, bits)
  if (excludedCountries.length === 0 || has(set, 'country')) return [{ set, subtracts: false }]
  return [
    { set, subtracts: false },
    { set: smallestSet(groupingSets, bits | filterBits.country), subtracts: true },
  ]
}

/** The days that are in no rollup: today, days with late events, and all days of small sites. */
function rawTotals(queries: readonly StatsQuery[], name: keyof Periods): Sql[] {
  const sites = queries.filter(({ plans }) => plans[name].raw.length > 0)
  const [first] = sites
  if (!first) return []
  const { hostname } = first.filters
  const onHost = hostname === undefined ? sql`true` : sql`hostname = ${text(hostname)}`
  const periods = sites.map((site) => site[name])
  return [
    sql`
    SELECT
      site_id,
      ${name === 'current' ? sql`'current'` : sql`'previous'`} AS period,
      day, ${totalsOfSessions}
    FROM (
      SELECT
        site_id,
        day,
        any(visitor_id) AS visitor,
        countIf(${onHost} AND ${inWindow(sql`time`)}) AS hits,
        countIf(name = 'pageview' AND ${onHost} AND ${inWindow(sql`time`)}) AS hit_views,
        min(time) AS started, ${sessionColumns},
        hits > 0 AND ${inWindow(sql`started`, (column) => sql`any(${column})`)} AS counted
      FROM events
      INNER JOIN (
        SELECT site_id, first, begins, last, ends FROM (SELECT 1) ARRAY JOIN
          ${texts(sites.map(({ siteId }) => siteId))} AS site_id,
          ${dates(periods.map(({ firstDay }) => storedDay(firstDay)))} AS first,
          ${ints(periods.map((period) => partialStart(period) ?? 0))} AS begins,
          ${dates(periods.map(({ lastDay }) => storedDay(lastDay)))} AS last,
          ${ints(periods.map((period) => partialEnd(period) ?? Number.MAX_SAFE_INTEGER))} AS ends
      ) AS windows USING site_id
      WHERE ${rawDays(sites, name)} AND ${filtered(sites)} AND NOT ${isExcluded(sites)}
      GROUP BY site_id, day, session_id
    )
    GROUP BY site_id, day`,
  ]
}

/** The day stamped on an event selects whole days. Instants matter only on a partial first or last day (decision D-9). */
function inWindow(time: Sql, of = (column: Sql): Sql => column): Sql {
  const milliseconds = sql`toUnixTimestamp64Milli(${time})`
  return sql`(day > ${of(sql`first`)} OR ${milliseconds} >= ${of(sql`begins`)})
          AND (day < ${of(sql`last`)} OR ${milliseconds} < ${of(sql`ends`)})`
}

/** Sites with the same days share a condition: most have no rollups, or all closed days in them. */
function rawDays(sites: readonly StatsQuery[], name: keyof Periods): Sql {
  const alike = Map.groupBy(sites, ({ plans }) => JSON.stringify(plans[name].raw))
  const groups = Array.from(alike.values(), (group) => {
    const days = (group[0] as StatsQuery).plans[name].raw
    return sql`(site_id IN ${texts(group.map(({ siteId }) => siteId))} AND ${onDays(days)})`
  })
  return sql`(${join(groups, sql` OR `)})`
}

/** The filters that all sites have in common, except the host, which is part of a rollup key and of the window. */
function filtered(queries: readonly StatsQuery[]): Sql {
  const { country, device, utmSource }: Filters = queries[0]?.filters ?? {}
  const conditions = [sql`true`]
  if (country !== undefined) conditions.push(sql`country = ${text(country)}`)
  if (device !== undefined) conditions.push(sql`device = ${text(device)}`)
  if (utmSource !== undefined) conditions.push(sql`utm_source = ${text(utmSource)}`)
  return join(conditions, sql` AND `)
}

/** Whether the site of a row excludes its country. */
export function isExcluded(queries: readonly Pick<StatsQuery, 'siteId' | 'excludedCountries'>[]): Sql {
  const pairs = queries.flatMap(({ siteId, excludedCountries }) =>
    excludedCountries.map((country) => ({ siteId, country })),
  )
  if (pairs.length === 0) return sql`false`
  return sql`((site_id, toString(country)) IN arrayZip(${texts(pairs.map(({ siteId }) => siteId))}, ${texts(pairs.map(({ country }) => country))}))`
}

const around = (ranges: readonly DayRange[]): DayRange => [
  ranges.map(([first]) => first).reduce(earlier),
  ranges.map(([, last]) => last).reduce(later),
]
