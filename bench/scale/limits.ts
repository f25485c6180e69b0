// The worst that may be asked: a hundred years, with every combination of filters and with excluded countries. Whatever is accepted
// must be answered within the engine's limits.
import { periodsOf } from '../../src/stats/period.ts'
import type { Filters, StatsQuery } from '../../src/stats/query.ts'
import { reports } from '../../src/stats/reports.ts'
import type { Fold } from '../../src/traffic/folds.ts'
import { seeded } from '../../test/oracle/random.ts'
import { openByHttp } from '../api/engine-connection.ts'
import { round } from '../api/measure.ts'
import { answer } from './answers.ts'
import { excluded, filtersOf, reportNames } from './questions.ts'
import type { BenchSite } from './sites.ts'
import type { World } from './world.ts'

const mostSeconds = 2
const mostMemory = 1024 ** 3

export interface LimitsResult {
  asked: number
  /** The slowest and the largest, and what they were. */
  slowestMs: number
  slowest: string
  memory: number
  largest: string
  refused: string[]
}

export interface LimitsOptions {
  world: World
  site: BenchSite
  folds: readonly Fold[]
  /** Ends the asking; what was left is in no figure. */
  seconds: number
}

export async function measureLimits({ world, site, folds, seconds }: LimitsOptions): Promise<LimitsResult> {
  const engine = openByHttp(world.clickhouseUrl, {
    settings: { max_execution_time: mostSeconds, max_memory_usage: mostMemory },
  })
  const until = performance.now() + seconds * 1_000
  const lastDay = world.now.toPlainDate()
  const periods = periodsOf(
    { name: 'custom', firstDay: lastDay.subtract({ years: 100 }).add({ days: 1 }), lastDay },
    world.now,
  )
  const questions = combinations(site.domain).flatMap((filters) =>
    [[], excluded].flatMap((excludedCountries) =>
      reportNames.map((report) => ({ report, filters, excludedCountries })),
    ),
  )
  const result: LimitsResult = { asked: 0, slowestMs: 0, slowest: '', memory: 0, largest: '', refused: [] }
  for (const { report, filters, excludedCountries } of seeded('limits').sample(questions, questions.length)) {
    if (performance.now() > until) break
    const name = [report, ...Object.keys(filters), ...(excludedCountries.length > 0 ? ['excluded'] : [])].join(' ')
    const query: StatsQuery = { siteId: site.id, ...periods, filters, excludedCountries, folds, limit: 100 }
    const began = performance.now()
    result.asked++
    try {
      const { memory } = await answer(engine, reports[report], query)
      if (memory > result.memory) Object.assign(result, { memory, largest: name })
    } catch (error) {
      result.refused.push(`${name}: ${(error as Error).message.slice(0, 120)}`)
    }
    const took = round(performance.now() - began, 1)
    if (took > result.slowestMs) Object.assign(result, { slowestMs: took, slowest: name })
  }
  await engine.close()
  return result
}

/** Each filter or not: sixteen. */
function combinations(domain: string): Filters[] {
  const { country, device, hostname, utm } = filtersOf(domain)
  return [country, device, hostname, utm].reduce<Filters[]>(
    (all, { filters }) => all.flatMap((chosen) => [chosen, { ...chosen, ...filters }]),
    [{}],
  )
}
