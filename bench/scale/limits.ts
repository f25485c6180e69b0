// The most expensive requests: a hundred years, with every combination of filters and with excluded countries. Every accepted request must
// succeed within ClickHouse's limits.
import { periodsOf } from '../../src/calendar/periods.ts'
import type { RollupVersion } from '../../src/rollups/coverage.ts'
import { planQuery } from '../../src/stats/daily-metrics.ts'
import type { Report } from '../../src/stats/report.ts'
import { reports } from '../../src/stats/reports.ts'
import type { Filters } from '../../src/traffic/conditions.ts'
import { seeded } from '../../test/support/random.ts'
import { openByHttp } from '../api/clickhouse-connection.ts'
import { round } from '../api/measure.ts'
import { answer } from './answers.ts'
import { excluded, filtersOf, reportNames } from './queries.ts'
import type { BenchSite } from './sites.ts'
import type { World } from './world.ts'

const maxSeconds = 2
const maxMemory = 1024 ** 3

export interface LimitsResult {
  asked: number
  /** The slowest and the largest, and their queries. */
  slowestMs: number
  slowest: string
  memory: number
  largest: string
  refused: string[]
}

export interface LimitsOptions {
  world: World
  site: BenchSite
  rollupVersions: readonly RollupVersion[]
  /** Stops after this time. Queries that did not run are in no figure. */
  seconds: number
}

export async function measureLimits({ world, site, rollupVersions, seconds }: LimitsOptions): Promise<LimitsResult> {
  const clickhouse = openByHttp(world.clickhouseUrl, {
    settings: { max_execution_time: maxSeconds, max_memory_usage: maxMemory },
  })
  const until = performance.now() + seconds * 1_000
  const lastDay = world.now.toPlainDate()
  const periods = periodsOf(
    { name: 'custom', firstDay: lastDay.subtract({ years: 100 }).add({ days: 1 }), lastDay },
    world.now,
  )
  const benchQueries = combinations(site.domain).flatMap((filters) =>
    [[], excluded].flatMap((excludedCountries) =>
      reportNames.map((report) => ({ report, filters, excludedCountries })),
    ),
  )
  const result: LimitsResult = { asked: 0, slowestMs: 0, slowest: '', memory: 0, largest: '', refused: [] }
  for (const { report, filters, excludedCountries } of seeded('limits').sample(benchQueries, benchQueries.length)) {
    if (performance.now() > until) break
    const name = [report, ...Object.keys(filters), ...(excludedCountries.length > 0 ? ['excluded'] : [])].join(' ')
    const query = planQuery(
      { siteId: site.id, ...periods, filters, excludedCountries, limit: 100 },
      { versions: rollupVersions, byDay: (reports[report] as Report).byDay ?? false },
    )
    const began = performance.now()
    result.asked++
    try {
      const { memory } = await answer(clickhouse, reports[report], query)
      if (memory > result.memory) Object.assign(result, { memory, largest: name })
    } catch (error) {
      result.refused.push(`${name}: ${(error as Error).message.slice(0, 120)}`)
    }
    const took = round(performance.now() - began, 1)
    if (took > result.slowestMs) Object.assign(result, { slowestMs: took, slowest: name })
  }
  await clickhouse.close()
  return result
}

/** Each filter on or off: sixteen combinations. */
function combinations(domain: string): Filters[] {
  const { country, device, hostname, utm } = filtersOf(domain)
  return [country, device, hostname, utm].reduce<Filters[]>(
    (all, { filters }) => all.flatMap((chosen) => [chosen, { ...chosen, ...filters }]),
    [{}],
  )
}
