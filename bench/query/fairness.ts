// What 20 expensive questions of one account cost the reports of other sites and the questions of other accounts, by the same service that
// answers requests. Quiet and busy rounds alternate.
import { setTimeout as pause } from 'node:timers/promises'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { readCoverage } from '../../src/rollups/coverage.ts'
import { readQueryString } from '../../src/stats/query-string.ts'
import { readQuestion } from '../../src/stats/questions/parameters.ts'
import type { StatsSite } from '../../src/stats/report.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { round, spreadOf } from '../api/measure.ts'
import { rollUp } from '../scale/rollups.ts'
import type { BenchSite } from '../scale/sites.ts'
import { makeSite, type World } from '../scale/world.ts'

/** Each takes about two seconds on 100 million events, and none is refused. */
const expensive = [
  'range=30d&by=page&limit=10&filter=page:contains:a',
  'range=12m&by=referrer&limit=10&filter=browser:is:Chrome',
  'range=12m&by=entry_page&limit=10&filter=channel:is:Direct',
]
const atOnce = 20
const rounds = 6
const asked = { reports: 40, questions: 8 }

export interface Fairness {
  /** Latency while the questions run, as a multiple of that without them. */
  reports: { p10: number; median: number }
  questions: { p10: number; median: number }
  /** How many expensive questions were answered meanwhile. */
  answered: number
  failed: number
}

export async function measureFairness(world: World, say: (line: string) => void): Promise<Fairness> {
  const { clickhouse, now, sizes } = world
  const [whale, , other] = sizes
  await makeSite(world, other, say)
  await world.state.once(`roll up ${other.name}`, () => rollUp(world, other))
  const [large, small] = await Promise.all([siteOf(world, whale), siteOf(world, other)])
  const stats = createStatsService({
    cluster: clusterOf([clickhouse]),
    now: () => now.epochMilliseconds,
    cacheBytes: 0,
  })
  const ask = (site: StatsSite, query: string, queueKey: string) => {
    const url = `?${query}`
    const { question } = readQuestion(readQueryString(url), url, { kind: 'breakdown', goals: [], maxLimit: 1000 })
    return stats.ask({ site, question, queueKey }, AbortSignal.timeout(60_000))
  }
  const parameters = { range: { name: '30d' }, filters: {}, limit: 10 } as const
  const report = () =>
    stats.read({ report: 'pages', site: small, parameters, queueKey: 'reports' }, AbortSignal.timeout(60_000))
  const question = () => ask(small, 'range=30d&by=referrer&limit=10&filter=page:is:/pricing', 'questions')

  let isBusy = false
  let answered = 0
  let failed = 0
  const keepBusy = async (number: number) => {
    for (let turn = number; ; turn++) {
      while (!isBusy) await pause(10)
      const isAnswered = await ask(large, expensive[turn % expensive.length] as string, 'expensive').then(
        () => true,
        () => false, // on a machine with other work, it may take more than its 4.5 s
      )
      if (isAnswered) answered += 1
      else failed += 1
    }
  }
  for (let number = 0; number < atOnce; number++) void keepBusy(number)

  const times = { reports: { quiet: [], busy: [] }, questions: { quiet: [], busy: [] } } as Record<
    'reports' | 'questions',
    Record<'quiet' | 'busy', number[]>
  >
  for (let nth = 0; nth < 2 * rounds; nth++) {
    isBusy = nth % 2 === 1
    // Whatever runs has at most 4.5 s.
    await pause(isBusy ? 500 : 5_000)
    const state = isBusy ? 'busy' : 'quiet'
    for (let time = 0; time < asked.reports; time++) times.reports[state].push(await timeOf(report))
    for (let time = 0; time < asked.questions; time++) times.questions[state].push(await timeOf(question))
  }
  isBusy = false
  const ratio = ({ quiet, busy }: Record<'quiet' | 'busy', number[]>) => {
    const [without, during] = [spreadOf(quiet), spreadOf(busy)]
    say(`${JSON.stringify(without)} ms without, ${JSON.stringify(during)} ms during 20 expensive questions`)
    return { p10: round(during.p10 / without.p10, 3), median: round(during.median / without.median, 3) }
  }
  return { reports: ratio(times.reports), questions: ratio(times.questions), answered, failed }
}

async function siteOf({ postgres, state }: World, { id }: BenchSite): Promise<StatsSite> {
  const coverage = await readCoverage(postgres, id)
  if (!coverage) throw new Error('the site is not known')
  return { id, timeZone: state.zone, excludedCountries: [], goals: [], shard: 1, coverage }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
