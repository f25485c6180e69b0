// (a) Reports on a recording store: whatever is asked, every statement reads the asked site alone, and what comes back for one
// site reaches only the question about it, also when many are under way at once. One worker's share of the cases.
import { parentPort, workerData } from 'node:worker_threads'
import type { StatsQuery } from '../../../src/stats/query.ts'
import type { Report } from '../../../src/stats/report.ts'
import { reports } from '../../../src/stats/reports.ts'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { render, type Sql } from '../../../src/stores/clickhouse-sql.ts'
import { type Random, seeded } from '../../oracle/random.ts'
import { shapeOf } from '../../support/statement-shape.ts'
import { makeQuestions, makeSiteIds } from './questions.ts'
import { faultsOf } from './statements.ts'

export interface StatementShare {
  count: number
  seed: string
}

export interface StatementTally {
  cases: number
  statements: number
  breaches: number
  /** The first few, in words. */
  examples: string[]
}

const atOnce = 24
const siteIds = makeSiteIds(seeded('sites of the statement cases'), 1000)
const numberOf = new Map(siteIds.map((id, index) => [id, index + 1]))

export async function runStatementCases(
  { count, seed }: StatementShare,
  onProgress: (cases: number) => void,
): Promise<StatementTally> {
  const random = seeded(seed)
  const questions = makeQuestions(random, siteIds)
  const named = Object.entries<Report>(reports)
  const tally: StatementTally = { cases: 0, statements: 0, breaches: 0, examples: [] }
  const breach = (report: string, query: StatsQuery, faults: readonly string[]) => {
    tally.breaches++
    if (tally.examples.length < 3) tally.examples.push(`${report} for ${query.siteId}: ${faults.join('; ')}`)
  }

  async function one(number: number): Promise<void> {
    const [name, report] = named[number % named.length] as [string, Report]
    const query = questions.next().value
    let asked = 0
    const store = recordingStore(random, (statement) => {
      asked++
      tally.statements++
      const rendered = render(statement)
      const faults = faultsOf(rendered, query)
      if (faults.length > 0) breach(name, query, faults)
      const guard = shapeOf(rendered.text).sources[0]?.conditions.find(({ form }) => form === 'site_id = ?')
      return String(rendered.parameters[guard?.names[0] ?? ''])
    })
    const faults = answerFaults((await report.read(store, query)).data, query.siteId)
    if (asked === 0) faults.push('asked nothing')
    if (faults.length > 0) breach(name, query, faults)
    tally.cases++
  }

  for (let number = 0; number < count; number += atOnce) {
    const share = Math.min(atOnce, count - number)
    await Promise.all(Array.from({ length: share }, (_, index) => one(number + index)))
    if (number % (atOnce * 500) === 0) onProgress(tally.cases)
  }
  return tally
}

/** Answers with rows that name the site whose id the statement carries, after a wait that mixes the order of the answers. */
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

/** Every site named in the answer is the asked one, and so is every number of visitors. */
function answerFaults(answer: unknown, siteId: string): string[] {
  const text = JSON.stringify(answer)
  const expected = String(numberOf.get(siteId))
  const faults = (text.match(/site_[a-z2-7]{16}/g) ?? []).filter((id) => id !== siteId).map((id) => `answers ${id}`)
  for (const [, visitors] of text.matchAll(/"visitors":(-?\d+)/g)) {
    if (visitors !== expected && visitors !== '0') faults.push(`answers ${visitors} visitors instead of ${expected}`)
  }
  return faults
}

if (parentPort) {
  const port = parentPort
  port.postMessage({
    tally: await runStatementCases(workerData as StatementShare, (cases) => port.postMessage({ cases })),
  })
}
