// The questions about one day that are answered and recounted.
import type { ReportName } from '../stats/reports.ts'
import type { Filters } from '../traffic/conditions.ts'

/** A report of version 1, or a list of version 2: of whole sessions, or only of hits, which is read from rollups. */
export type Question = { report: RecountedReport; filters: Filters } | List

interface List {
  by: VisitDimension
  onlyHits?: true
}

/** Those of the contract. A new one is recounted when statements.ts knows it. */
const reportNames = [
  'overview',
  'timeseries',
  'pages',
  'referrers',
  'channels',
  'devices',
  'geo',
  'events',
  'utm',
] as const satisfies readonly ReportName[]

type RecountedReport = (typeof reportNames)[number]

/** With these metrics, a list by any of them counts whole sessions. */
const visitDimensions = [
  'page',
  'hostname',
  'entry_page',
  'exit_page',
  'referrer',
  'channel',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_term',
  'country',
  'device',
  'browser',
  'os',
] as const

export type VisitDimension = (typeof visitDimensions)[number]

/** Custom events of a page make nobody its visitor, so they would have rows without visits. */
export const metricsOf = ({ by, onlyHits }: List): readonly string[] => [
  ...['visitors', 'pageviews'],
  ...(onlyHits ? [] : ['sessions', 'bounce_rate', 'avg_duration']),
  ...(by === 'page' ? [] : ['events']),
]

/** Asked on each visit: every row of the day's rollups without filters, and every hit of its sessions, is part of some answer. */
export const coreQuestions: readonly Question[] = [
  ...reportNames.map((report) => ({ report, filters: {} })),
  { by: 'page', onlyHits: true }, // the report of pages has their first hundred
  ...(['page', 'entry_page', 'exit_page', 'hostname'] as const).map((by) => ({ by })),
]

/** Asked as long as a visit may take: reports with filters, and lists in any order. What is in one group is recounted together. */
export function furtherQuestions(someFilters: readonly Filters[]): Question[][] {
  const lists = visitDimensions.filter((by) => !coreQuestions.some((one) => 'by' in one && one.by === by))
  const anyThree = lists
    .map((by) => ({ by, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, 3)
  return [
    ...someFilters.map((filters) => reportNames.map((report) => ({ report, filters }))),
    anyThree.map(({ by }) => ({ by })),
  ]
}

/** Some of the values of a visit, as filters. */
export function randomFilters(values: Required<Filters>): Filters {
  const possible = Object.entries(values).filter(([, value]) => value !== '')
  const chosen = possible.filter(() => Math.random() < 0.5)
  return Object.fromEntries(chosen.length > 0 ? chosen : possible)
}

const parameterOf = { country: 'country', device: 'device', hostname: 'hostname', utmSource: 'utm_source' } as const

/** For people: what a program would ask. */
export function requestOf(question: Question, day: string): string {
  const range = [`range=custom&start=${day}&end=${day}`]
  if ('by' in question)
    return `/api/v2/stats/breakdown?${range}&by=${question.by}&metrics=${metricsOf(question).join(',')}`
  const filters = Object.entries(question.filters).map(
    ([name, value]) => `${parameterOf[name as keyof Filters]}=${encodeURIComponent(value)}`,
  )
  return `/api/v1/stats/${question.report}?${[...range, ...filters].join('&')}`
}
