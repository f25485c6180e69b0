// Runs reports on a recording store: for any query, every statement reads only the requested site, and rows of one site reach only the
// query for it, even with many concurrent queries. This is one worker's share of the cases.
import { parentPort, workerData } from 'node:worker_threads'
import type { StatsQuery } from '../../../src/stats/daily-metrics.ts'
import type { Report } from '../../../src/stats/report.ts'
import { reports } from '../../../src/stats/reports.ts'
import { readSitesOverview } from '../../../src/stats/sites-overview.ts'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { render, type Sql } from '../../../src/stores/clickhouse-sql.ts'
import { type PlannedQuery, planned } from '../../support/planned-query.ts'
import { type Random, seeded } from '../../support/random.ts'
import { shapeOf } from '../../support/statement-shape.ts'
import { makeQueries, makeSiteIds } from './queries.ts'
import { faultsOf } from './statements.ts'
import { faultsOfSites } from './statements-of-sites.ts'

export interface StatementShare {
  count: number
  seed: string
}

export interface StatementCounts {
  cases: number
  statements: number
  breaches: number
  /** The first few breaches, in words. */
  examples: string[]
}

const atOnce = 24
const siteIds = makeSiteIds(seeded('sites of the statement cases'), 1000)
const numberOf = new Map(siteIds.map((id, index) => [id, index + 1]))

export async function runStatementCases(
  { count, seed }: StatementShare,
  onProgress: (cases: number) => void,
): Promise<StatementCounts> {
  const random = seeded(seed)
  const queries = makeQueries(random, siteIds)
  const named = Object.entries<Report>(reports)
  const totals: StatementCounts = { cases: 0, statements: 0, breaches: 0, examples: [] }
  const breach = (report: string, query: StatsQuery, faults: readonly string[]) => {
    totals.breaches++
    if (totals.examples.length < 3) totals.examples.push(`${report} for ${query.siteId}: ${faults.join('; ')}`)
  }

  /** Several sites with the same filters in one statement. ClickHouse returns rows of other sites too, and none of them may get out. */
  async function several(): Promise<void> {
    const [first, ...others] = Array.from({ length: 1 + random.below(8) }, () => planned(queries.next().value, {})) as [
      PlannedQuery,
      ...PlannedQuery[],
    ]
    const named = new Map([first, ...others].map((query) => [query.siteId, { ...query, filters: first.filters }]))
    const asked = Array.from(named.values(), (query) => ({ ...query, domain: query.siteId }))
    let statements = 0
    const store = {
      async rows<Row>(statement: Sql) {
        statements++
        totals.statements++
        const faults = faultsOfSites(render(statement), asked)
        if (faults.length > 0) breach('several sites', first, faults)
        for (let turns = random.below(4); turns > 0; turns--) await null
        const counts = { pageviews: 0, sessions: 0, bounces: 0, duration: 0 }
        return [...named.keys(), ...random.sample(siteIds, 3)].map((site_id) => ({
          site_id,
          period: 'current',
          visitors: numberOf.get(site_id),
          ...counts,
        })) as Row[]
      },
    }
    const rows = await readSitesOverview(store, asked)
    const faults = rows.flatMap((row) => answerFaults(row, row.site_id))
    if (rows.map(({ site_id }) => site_id).join() !== [...named.keys()].join())
      faults.push('other sites than asked for')
    if (statements !== 1) faults.push(`${statements} statements`)
    if (faults.length > 0) breach('several sites', first, faults)
    totals.cases++
  }

  async function one(number: number): Promise<void> {
    if (number % 10 === 9) return several()
    const [name, report] = named[number % named.length] as [string, Report]
    const query = planned(queries.next().value, report)
    let asked = 0
    const store = recordingStore(random, (statement) => {
      asked++
      totals.statements++
      const rendered = render(statement)
      const faults = faultsOf(rendered, query)
      if (faults.length > 0) breach(name, query, faults)
      const guard = shapeOf(rendered.text).sources[0]?.conditions.find(({ form }) => form === 'site_id = ?')
      return String(rendered.parameters[guard?.names[0] ?? ''])
    })
    const faults = answerFaults((await report.read(store, query)).data, query.siteId)
    if (asked === 0) faults.push('asked nothing')
    if (faults.length > 0) breach(name, query, faults)
    totals.cases++
  }

  for (let number = 0; number < count; number += atOnce) {
    const share = Math.min(atOnce, count - number)
    await Promise.all(Array.from({ length: share }, (_, index) => one(number + index)))
    if (number % (atOnce * 500) === 0) onProgress(totals.cases)
  }
  return totals
}

/** Returns rows that name the site whose id is in the statement, after a wait that mixes the order of the responses. */
function recordingStore(random: Random, record: (statement: Sql) => string): ClickHouse {
  const store: Pick<ClickHouse, 'rows'> = {
    async rows<Row>(statement: Sql) {
      const site = record(statement)
      for (let turns = random.below(4); turns > 0; turns--) await null
      const visitors = numberOf.get(site) ?? -1
      const counts = { visitors, views: visitors, pageviews: visitors, sessions: visitors, total: visitors }
      const words = { pathname: `/${site}`, title: site, referrer: site, name: site, channel: site, date: '2026-01-01' }
      const rest = { bounces: 0, duration: 0, count: visitors, code: 'DE' }
      return ['current', 'previous'].map((period) => ({ period, ...counts, ...words, ...rest })) as Row[]
    },
  }
  return store as ClickHouse
}

/** Every site in the response is the requested one, and so is every number of visitors. */
function answerFaults(answer: unknown, siteId: string): string[] {
  const text = JSON.stringify(answer)
  const expected = String(numberOf.get(siteId))
  const faults = (text.match(/site_[a-z2-7]{16}/g) ?? []).filter((id) => id !== siteId).map((id) => `answers ${id}`)
  for (const [, visitors] of text.matchAll(/"visitors":(-?\d+)/g)) {
    if (visitors !== expected && visitors !== '0') faults.push(`returns ${visitors} visitors instead of ${expected}`)
  }
  return faults
}

if (parentPort) {
  const port = parentPort
  port.postMessage({
    totals: await runStatementCases(workerData as StatementShare, (cases) => port.postMessage({ cases })),
  })
}
