// The overview of many sites in one call has, for each, exactly the numbers of the site's own overview.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Range } from '../../src/calendar/periods.ts'
import { ApiError } from '../../src/errors.ts'
import { recentToday } from '../../src/rollups/reading.ts'
import type { StatsParameters } from '../../src/stats/report.ts'
import { prepareQuery } from '../../src/stats/reports.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { readSitesOverview, sitesOverview } from '../../src/stats/sites-overview.ts'
import type { ClickHouseReader } from '../../src/stores/clickhouse.ts'
import type { Filters } from '../../src/traffic/conditions.ts'
import { seeded } from '../support/random.ts'
import { openStores } from '../support/stores.ts'
import { type ManySites, now, openManySites } from './many-sites.ts'

const custom = (firstDay: string, lastDay: string): Range => ({
  name: 'custom',
  firstDay: Temporal.PlainDate.from(firstDay),
  lastDay: Temporal.PlainDate.from(lastDay),
})

const ranges: readonly Range[] = [
  ...(['24h', '7d', '30d', '90d', '12m'] as const).map((name) => ({ name })),
  custom('2026-02-01', '2026-02-28'), // a whole month, compared with parts of two
  custom('2026-03-15', '2026-03-20'), // from today to the future
  custom('2026-03-08', '2026-03-08'), // 23 hours in New York
  custom('1969-12-01', '2026-03-14'),
  custom('1969-12-01', '2026-03-20'), // compared with parts of two days before 1970
  custom('2027-01-01', '2027-01-02'),
]

/** Every combination of filters has rollups of its own, or is summed up from others. */
const values: Required<Filters> = { country: 'DE', device: 'Mobile', hostname: 'shop.example.com', utmSource: 'news' }
const combinations = Array.from(
  { length: 16 },
  (_, bits): Filters => Object.fromEntries(Object.entries(values).filter((_entry, index) => bits & (1 << index))),
)

const { signal } = new AbortController()
const isFull = process.env.FOOTFALL_FULL !== undefined
const opened = openManySites('sites overview', 300, isFull)

async function compare({ clickhouse, sites }: ManySites, parameters: StatsParameters): Promise<number> {
  let statements = 0
  const counting: ClickHouseReader = {
    rows(statement, signal) {
      statements++
      return clickhouse.rows(statement, signal)
    },
  }
  const stats = createStatsService({ cluster: { of: () => counting }, now: () => now, cacheBytes: 0 })
  const { json, warnings } = await stats.readSites(
    { report: sitesOverview, sites, parameters, queueKey: 'test' },
    signal,
  )
  assert.equal(statements, 1)
  const rows = JSON.parse(json)
  assert.equal(rows.length, sites.length)
  let visitors = 0
  const expectedWarnings = new Set<string>()
  for (const [index, site] of sites.entries()) {
    const alone = await stats.read({ report: 'overview', site, parameters, queueKey: 'test' }, signal)
    const data = alone.data as { current: { visitors: number } }
    const [start, end] = alone.period.split('/')
    assert.deepEqual(
      rows[index],
      { site_id: site.id, domain: site.domain, period: { start, end }, ...data },
      `${JSON.stringify(parameters)} ${site.timeZone} ${site.excludedCountries} ${JSON.stringify(site.coverage)}`,
    )
    for (const warning of alone.warnings) expectedWarnings.add(`for some sites, ${warning}`)
    visitors += data.current.visitors
  }
  assert.deepEqual(warnings.toSorted(), [...expectedWarnings].sort())
  return visitors
}

test('all numbers and periods are those of each site alone, with any filters and range, from one statement', async () => {
  const world = await opened
  const random = seeded('filters and ranges')
  let visitors = 0
  for (const range of ranges) visitors += await compare(world, { range, filters: {}, limit: 10 })
  for (const filters of combinations) {
    const some = isFull ? ranges : random.sample(ranges, 1)
    for (const range of some) visitors += await compare(world, { range, filters, limit: 10 })
  }
  assert.ok(visitors > 0)
})

test('where retention has dropped events, the previous period has the whole last day, as for each site alone', async () => {
  const world = await opened
  const retained = { ...world, sites: world.sites.map((site, index) => (index % 2 === 0 ? site : dropped(site))) }
  const parameters: StatsParameters = { range: { name: '30d' }, filters: {}, limit: 10 }
  await compare(retained, parameters)
  const stats = createStatsService({ cluster: { of: () => world.clickhouse }, now: () => now, cacheBytes: 0 })
  const request = { report: sitesOverview, ...retained, parameters, queueKey: 'test' }
  const { warnings } = await stats.readSites(request, signal)
  assert.ok(warnings.length > 0)
  for (const warning of warnings)
    assert.match(warning, /^for some sites, the previous period ends with all of 2026-02-1\d, because single events/)
})

const dropped = (site: ManySites['sites'][number]) => ({
  ...site,
  coverage: { ...site.coverage, eventsFrom: '2026-03-01' },
})

test('sites with more ranges of days than fit into one statement are read with several', async () => {
  const { clickhouse, sites } = await opened
  const parameters: StatsParameters = { range: { name: '90d' }, filters: { hostname: 'example.com' }, limit: 10 }
  const queries = sites.map((site) => {
    const today = recentToday(site.coverage, now)
    return { ...prepareQuery(sitesOverview, site, parameters, now, today).query, domain: site.domain }
  })
  let statements = 0
  const counting: ClickHouseReader = {
    rows(statement, signal) {
      statements++
      return clickhouse.rows(statement, signal)
    },
  }
  const together = await readSitesOverview(counting, queries, signal)
  assert.equal(statements, 1)
  const few = { values: 1, rawDays: 20_000 }
  assert.deepEqual(await readSitesOverview(counting, queries, signal, few), together)
  assert.equal(statements, 1 + sites.length, 'a site is never divided')
  statements = 0
  assert.deepEqual(await readSitesOverview(counting, queries, signal, { values: 3_000, rawDays: 400 }), together)
  assert.ok(statements > 1 && statements < sites.length, `${statements} statements`)
})

test('no sites need no statement, but a range is still checked', async () => {
  const { clickhouse } = await openStores()
  const stats = createStatsService({ cluster: { of: () => clickhouse }, now: () => now, cacheBytes: 0 })
  const read = (range: Range) =>
    stats.readSites(
      { report: sitesOverview, sites: [], parameters: { range, filters: {}, limit: 1 }, queueKey: 'test' },
      signal,
    )
  assert.equal((await read({ name: '30d' })).json, '[]')
  const isRefused = (error: unknown) => error instanceof ApiError && error.code === 'invalid_date'
  await assert.rejects(read(custom('1900-01-01', '2026-01-01')), isRefused)
})

test('the identity follows the numbers and the period, but not the passing of time', async () => {
  const { clickhouse, sites } = await opened
  const later = Date.parse('2027-03-20T12:00:00Z')
  const read = async (at: number, range: Range, some = sites) => {
    const stats = createStatsService({ cluster: { of: () => clickhouse }, now: () => at, cacheBytes: 0 })
    const parameters = { range, filters: {}, limit: 10 }
    return (await stats.readSites({ report: sitesOverview, sites: some, parameters, queueKey: 'test' }, signal))
      .identity
  }
  const open = custom('2025-01-01', '2027-12-31')
  const identity = await read(later, open)
  assert.equal(await read(later + 60_000, open), identity)
  assert.notEqual(await read(later, custom('2025-01-02', '2027-12-31')), identity)
  assert.notEqual(await read(later, open, sites.slice(1)), identity)
})
