// What the API adds to its own statements: alternates between the same bare statements, `SELECT 1`, and the request.
import { type Periods, periodsOf } from '../../src/calendar/periods.ts'
import { planQuery } from '../../src/stats/daily-metrics.ts'
import type { Report } from '../../src/stats/report.ts'
import { type ReportName, reports } from '../../src/stats/reports.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { render, type Sql, type Statement } from '../../src/stores/clickhouse-sql.ts'
import { openConnection, requestText } from '../../test/support/connection.ts'
import { seeded } from '../../test/support/random.ts'
import { type ClickHouseConnection, openByClient, openByHttp } from './clickhouse-connection.ts'
import { round, type Spread, spreadOf } from './measure.ts'

export interface LatencyOptions {
  apiUrl: string
  clickhouseUrl: string
  siteId: string
  /** Each allows 5,000 requests. */
  keys: readonly string[]
  range: '24h' | '7d' | '30d' | '90d' | '12m'
  /** Requests of each kind per report. */
  each: number
  say: (text: string) => void
}

interface ReportLatency {
  /** Milliseconds. */
  bare: Spread
  api: Spread
  /** (api - bare) / SELECT 1. */
  addedRatio: Spread
  /** api / bare. */
  ratio: Spread
}

export interface LatencyResult {
  select1: Spread
  reports: Record<ReportName, ReportLatency>
}

/** Compared with the official client, or with plain node:http. */
export type Against = 'client' | 'http'

const warmUp = 30
const names = Object.keys(reports) as ReportName[]
const select1: Statement = { text: 'SELECT 1', parameters: {} }

interface Times {
  select1: number[]
  bare: Map<ReportName, number[]>
}

export async function measureLatency(options: LatencyOptions): Promise<Record<Against, LatencyResult>> {
  const { apiUrl, clickhouseUrl, siteId, keys, range, each, say } = options
  const clickhouses: Record<Against, ClickHouseConnection> = {
    client: openByClient(clickhouseUrl),
    http: openByHttp(clickhouseUrl),
  }
  const connection = await openConnection(apiUrl)
  const random = seeded('latency')
  const periods = periodsOf({ name: range }, Temporal.Now.zonedDateTimeISO('UTC'))
  const statements = new Map<ReportName, Statement[]>()
  for (const name of names) {
    statements.set(name, await statementsOf(reports[name], { siteId, ...periods }, clickhouses.http))
  }
  let asked = 0
  const request = async (name: ReportName) => {
    const headers = { Authorization: `Bearer ${keys[asked++ % keys.length]}` }
    const answer = await connection.send(requestText('GET', `/api/v1/stats/${name}?range=${range}`, headers))
    if (!answer.toString('latin1', 0, 12).endsWith('200')) throw new Error(`${name} answered ${answer}`)
  }
  const askAll = async (clickhouse: ClickHouseConnection, name: ReportName) => {
    for (const statement of statements.get(name) as Statement[]) await clickhouse.ask(statement)
  }

  const times: Record<Against, Times> = { client: noTimes(), http: noTimes() }
  const api = new Map(names.map((name) => [name, [] as number[]]))
  for (let turn = -warmUp; turn < each; turn++) {
    for (const name of random.sample(names, names.length)) {
      const kinds: [list: number[], work: () => Promise<unknown>][] = [[listOf(api, name), () => request(name)]]
      for (const against of ['client', 'http'] as const) {
        const clickhouse = clickhouses[against]
        kinds.push([times[against].select1, () => clickhouse.ask(select1)])
        kinds.push([listOf(times[against].bare, name), () => askAll(clickhouse, name)])
      }
      for (const [list, work] of random.sample(kinds, kinds.length)) {
        const begin = performance.now()
        await work()
        if (turn >= 0) list.push(performance.now() - begin)
      }
    }
    if (turn % 100 === 0) say(`${turn} of ${each} requests to each report`)
  }
  connection.close()
  await Promise.all(Object.values(clickhouses).map((clickhouse) => clickhouse.close()))
  return { client: compared(times.client, api), http: compared(times.http, api) }
}

const noTimes = (): Times => ({ select1: [], bare: new Map(names.map((name) => [name, []])) })

const listOf = (lists: Map<ReportName, number[]>, name: ReportName) => lists.get(name) as number[]

function compared(times: Times, apiTimes: Map<ReportName, number[]>): LatencyResult {
  const one = spreadOf(times.select1)
  const both = (of: (at: keyof Spread) => number): Spread => ({
    p10: round(of('p10'), 3),
    median: round(of('median'), 3),
  })
  const entries = names.map((name) => {
    const [bare, api] = [spreadOf(listOf(times.bare, name)), spreadOf(listOf(apiTimes, name))]
    const addedRatio = both((at) => (api[at] - bare[at]) / one[at])
    return [name, { bare, api, addedRatio, ratio: both((at) => api[at] / bare[at]) }]
  })
  return { select1: one, reports: Object.fromEntries(entries) as Record<ReportName, ReportLatency> }
}

/** The statements of the report. Each one really runs, because the next one may depend on its rows. */
async function statementsOf(
  report: Report,
  query: { siteId: string } & Periods,
  clickhouse: ClickHouseConnection,
): Promise<Statement[]> {
  const statements: Statement[] = []
  const store: Pick<ClickHouse, 'rows'> = {
    async rows<Row>(statement: Sql) {
      const rendered = render(statement)
      statements.push(rendered)
      const lines = (await clickhouse.ask(rendered)).trim().split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line) as Row)
    },
  }
  await report.read(
    store as ClickHouse,
    planQuery(
      {
        ...query,
        filters: {},
        excludedCountries: [],
        limit: 10,
      },
      { versions: [], byDay: report.byDay ?? false },
    ),
  )
  return statements
}
