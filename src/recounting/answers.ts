// Both answers to a question about a day, in the same form: what the service behind the API says, and what the events say. Titles of pages are left
// out, because events have none.
import type { ClusterReader } from '../cluster/cluster.ts'
import { readFields } from '../stats/questions/parameters.ts'
import type { StatsSite } from '../stats/report.ts'
import { createStatsService } from '../stats/service.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { countryNames } from '../traffic/country.ts'
import { metricsOf, type Question } from './questions.ts'
import { type ListName, listsOf, type SiteDay, totals, visitLists } from './statements.ts'

/** Rows by their label. */
export type Answer = ReadonlyMap<string, Numbers>

type Numbers = Readonly<Record<string, number>>

/** Of a longer list of version 1 the first rows are compared, and of version 2 none. */
const maxRows = 20_000
/** Pages have titles, which are read by path: the API has at most a hundred of them. */
const maxPages = 100

/** Whether the answer would be cut. */
export const isTooLong = (question: Question, recounted: Answer): boolean =>
  'by' in question && recounted.size > maxRows

/** Nothing is cached: each answer is a new one. */
export async function askService(
  cluster: ClusterReader,
  site: StatsSite,
  day: string,
  question: Question,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<Answer> {
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  if ('by' in question) {
    const fields = { range: 'custom', start: day, end: day, by: question.by, limit: `${maxRows}` }
    const metrics = metricsOf(question).join(',')
    const context = { kind: 'breakdown', goals: [], maxLimit: maxRows } as const
    const { question: asked } = readFields(Object.entries({ ...fields, metrics }), context)
    const { data } = await stats.ask({ site, question: asked, queueKey: 'recount' }, signal)
    return byLabel(data as Row[], question.by)
  }
  const { report, filters } = question
  const date = Temporal.PlainDate.from(day)
  const range = { name: 'custom', firstDay: date, lastDay: date } as const
  const parameters = { range, filters, limit: limitOf(report) }
  const { data } = await stats.read({ report, site, parameters, queueKey: 'recount' }, signal)
  if (report === 'overview') return new Map([['current', (data as { current: Numbers }).current]])
  return byLabel(data as Row[], labels[report])
}

const limitOf = (report: string): number => (report === 'pages' ? maxPages : maxRows)

const labels = {
  timeseries: 'date',
  pages: 'pathname',
  referrers: 'referrer',
  channels: 'channel',
  devices: 'name',
  geo: 'name',
  events: 'name',
  utm: 'name',
} as const

type Row = Record<string, string | number | null>

const byLabel = (rows: readonly Row[], label: string): Answer =>
  new Map(rows.map(({ [label]: name, title: _, ...numbers }) => [`${name ?? ''}`, numbers as Numbers]))

interface Totals {
  visitors: number
  pageviews: number
  sessions: number
  bounces: number
  duration: number
}

/** In the order of the questions. Those with the same filters are counted together. */
export async function recount(
  clickhouse: ClickHouseReader,
  siteDay: SiteDay,
  questions: readonly Question[],
): Promise<Answer[]> {
  const answers = new Map<Question, Answer>()
  const lists = questions.filter((one) => 'by' in one)
  if (lists.length > 0) {
    const rows = await clickhouse.rows<VisitRow>(visitLists(siteDay, [...new Set(lists.map(({ by }) => by))]))
    for (const question of lists) answers.set(question, visitAnswer(question, rows))
  }
  const reports = questions.filter((one) => 'report' in one)
  for (const some of Map.groupBy(reports, ({ filters }) => JSON.stringify(filters)).values()) {
    const { filters } = some[0] as ReportQuestion
    const names = [...new Set(some.map(({ report }) => report).filter(isList))]
    const rows = names.length > 0 ? await clickhouse.rows<ListRow>(listsOf(siteDay, names, filters, maxRows)) : []
    const [all] = some.some(({ report }) => !isList(report) || report === 'channels')
      ? await clickhouse.rows<Totals>(totals(siteDay, filters))
      : []
    for (const question of some) {
      const { report } = question
      const ofList = rows.filter(({ list }) => list === report).slice(0, limitOf(report))
      answers.set(
        question,
        isList(report) ? listAnswer(report, ofList, all) : totalAnswer(report, siteDay, all as Totals),
      )
    }
  }
  return questions.map((question) => answers.get(question) as Answer)
}

type ReportQuestion = Extract<Question, { report: string }>

interface ListRow {
  list: string
  label: string
  times: number
  visitors: number
}

type VisitRow = Totals & { list: string; label: string; events: number }

const isList = (report: string): report is ListName => report !== 'overview' && report !== 'timeseries'

function totalAnswer(report: string, { day }: SiteDay, all: Totals): Answer {
  const { visitors, pageviews } = all
  return new Map<string, Numbers>([report === 'overview' ? ['current', printed(all)] : [day, { visitors, pageviews }]])
}

function listAnswer(report: ListName, rows: readonly ListRow[], all: Totals | undefined): Answer {
  return new Map(
    rows.map(({ label, times, visitors }): [string, Numbers] => {
      switch (report) {
        case 'pages':
        case 'referrers':
          return [label, { views: times, visitors }]
        case 'events':
          return [label, { count: times, visitors }]
        case 'channels':
          return [label, { visitors, percentage: nearest(100 * visitors, all?.visitors ?? 0) }]
        case 'geo':
          return [countryNames[label as keyof typeof countryNames], { visitors }]
        default:
          return [label, { visitors }]
      }
    }),
  )
}

function visitAnswer(question: Extract<Question, { by: string }>, rows: readonly VisitRow[]): Answer {
  const asked = metricsOf(question)
  const ofList = rows.filter(({ list }) => list === question.by)
  return new Map(
    ofList.map(({ label, events, ...row }): [string, Numbers] => [
      label,
      Object.fromEntries(Object.entries({ ...printed(row), events }).filter(([name]) => asked.includes(name))),
    ]),
  )
}

const printed = ({ visitors, pageviews, sessions, bounces, duration }: Totals) => ({
  visitors,
  pageviews,
  sessions,
  bounce_rate: nearest(100 * bounces, sessions),
  avg_duration: nearest(duration, 1000 * sessions),
})

/** The nearest whole number, halves up; 0 of nothing (D-12, D-13). */
function nearest(part: number, whole: number): number {
  if (whole === 0) return 0
  const rest = part % whole
  return (part - rest) / whole + (2 * rest >= whole ? 1 : 0)
}

/** The first rows that differ, with the numbers of both. Empty: both say the same. */
export function differing(recounted: Answer, answered: Answer): Differing[] {
  const all = new Set([...recounted.keys(), ...answered.keys()])
  const found = [...all].filter((label) => !isSame(recounted.get(label), answered.get(label)))
  return found
    .slice(0, 5)
    .map((label) => ({ row: label, recounted: recounted.get(label) ?? null, answered: answered.get(label) ?? null }))
}

export interface Differing {
  row: string
  recounted: Numbers | null
  answered: Numbers | null
}

const isSame = (one: Numbers | undefined, other: Numbers | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, number]) => other[name] === number)
