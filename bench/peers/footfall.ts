// Footfall as its API answers, without HTTP and cache.
import { findSite } from '../../src/accounts/sites.ts'
import type { Range } from '../../src/calendar/periods.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { lastingTables } from '../../src/cluster/tables.ts'
import { readFields } from '../../src/stats/questions/parameters.ts'
import type { StatsSite } from '../../src/stats/report.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import { countryNames } from '../../src/traffic/country.ts'
import type { World } from '../scale/world.ts'
import { type Answer, type Numbers, periodsOfQuestion, type Question, questions, rowsOfList } from './questions.ts'
import type { Side } from './side.ts'

type Rows = readonly Readonly<Record<string, unknown>>[]

export interface FootfallSide extends Side {
  /** The same with up to 100 rows, to find the rows that another side ranks higher. */
  askWidely(question: Question): Promise<Answer>
}

export async function footfallSide(world: World, writing: number): Promise<FootfallSide> {
  const { clickhouse, postgres, now } = world
  const [whale] = world.sizes
  const site = (await findSite(postgres, whale.id)) as StatsSite
  const stats = createStatsService({
    cluster: clusterOf([clickhouse]),
    now: () => now.epochMilliseconds,
    cacheBytes: 0,
  })
  const signal = () => AbortSignal.timeout(120_000)

  async function ask(question: Question, limit: number): Promise<Answer> {
    const asked = questions[question.name]
    const { current } = periodsOfQuestion(question, now)
    if ('report' in asked) {
      const range: Range =
        question.window === 'today'
          ? { name: question.range }
          : { name: 'custom', firstDay: current.firstDay, lastDay: current.lastDay }
      const parameters = { range, filters: {}, limit }
      const { data } = await stats.read({ report: asked.report, site, parameters, queueKey: '' }, signal())
      return answerOfReport(asked.report, data)
    }
    const dates = { start: current.firstDay.toString(), end: current.lastDay.toString() }
    const fields: [string, string][] = [
      ...(question.window === 'today'
        ? [['range', question.range] as [string, string]]
        : Object.entries({ range: 'custom', ...dates })),
      ...(asked.kind === 'breakdown'
        ? Object.entries({ by: asked.by, limit: `${limit}`, metrics: 'visitors', order: 'visitors' })
        : []),
      ...([...new URLSearchParams(asked.query)] as [string, string][]),
    ]
    const context = { kind: asked.kind, goals: [], maxLimit: 1000 }
    const { question: read } = readFields(fields, context)
    const { data } = await stats.ask({ site, question: read, queueKey: '' }, signal())
    return asked.kind === 'totals'
      ? new Map([['', totalsOf(data as Record<string, number>)]])
      : byValue(data as Rows, asked.by)
  }

  return {
    name: 'Footfall',
    source: 'this repository',
    ask: (question) => ask(question, rowsOfList),
    askWidely: (question) => ask(question, 100),
    async bytes() {
      const [row] = await clickhouse.rowsPatiently<{ bytes: number }>(sql`
        SELECT sum(bytes_on_disk) * (SELECT count() FROM events WHERE site_id = ${text(whale.id)}) / (SELECT count() FROM events) AS bytes
        FROM system.parts
        WHERE active AND database = currentDatabase() AND table IN ${texts(Object.keys(lastingTables))}`)
      return row?.bytes ?? 0
    },
    writing,
    reasons: [],
  }
}

const totalsOf = (data: Record<string, number>): Numbers => ({
  visitors: data.visitors as number,
  pageviews: data.pageviews as number,
  sessions: data.sessions as number,
  bounceRate: data.bounce_rate as number,
  duration: data.avg_duration as number,
})

function answerOfReport(report: string, data: unknown): Answer {
  if (report === 'overview') return new Map([['', totalsOf((data as { current: Record<string, number> }).current)]])
  const rows = data as Rows
  if (report === 'geo')
    return byValue(
      rows.map(({ name, visitors }) => ({ code: codes.get(name as string), visitors })),
      'code',
    )
  return byValue(rows, Object.keys(rows[0] ?? {})[0] ?? '')
}

const codes = new Map(Object.entries(countryNames).map(([code, name]) => [name, code]))

/** Rows without a value are left out: not every product lists them. */
const byValue = (rows: Rows, value: string): Answer =>
  new Map(
    rows
      .filter((row) => row[value] !== null)
      .map((row) => [
        String(row[value]),
        {
          visitors: row.visitors as number,
          ...(value === 'date' && { pageviews: row.pageviews as number }),
          ...(value === 'name' && { count: row.count as number }),
        },
      ]),
  )
