// All questions of a dashboard. They begin at once and wait for their turn in the fair queue like any others; each answer is a value or a
// fault, so that one panel can fail without the page.

import { isPath } from '../../display/labels.ts'
import { ApiError } from '../../errors.ts'
import { limits, readFields } from '../../stats/questions/parameters.ts'
import type { QuestionKind } from '../../stats/questions/question.ts'
import type { QuestionResult } from '../../stats/questions/questions.ts'
import { filtersOfReport } from '../../stats/questions/sources.ts'
import { type Windows, windowsOf } from '../../stats/questions/windows.ts'
import type { Metrics } from '../../stats/reports/overview.ts'
import { Unavailable } from '../../stores/breaker.ts'
import { deadlineFactor } from '../../stores/deadline.ts'
import { hasEvents } from '../../traffic/first-event.ts'
import type { ConsoleServices } from '../route.ts'
import { comparisonFields, comparisonOf } from './comparison.ts'
import { type ListName, lists } from './lists.ts'
import { asApiRange } from './range-choice.ts'
import { type ChartMetric, type DashboardState, isMap, nowOf, questionFields } from './state.ts'

/** `isDown`: nothing can be read at the moment, so the page says it once. `refusal`: the answer is always no (refusals.ts). */
export type Answer<Value> =
  | { value: Value; result?: QuestionResult }
  | { fault: string; isDown: boolean; refusal?: ApiError }

export type Row = Readonly<Record<string, string | number | null>>

export type Totals = Metrics & { previous?: Metrics; change?: Readonly<Record<keyof Metrics, number | null>> }

/** Of the goal whose conversions the page shows. */
export interface Conversions {
  conversions: number
  conversion_rate: number
  previous?: { conversions: number }
  change?: { conversions: number | null }
}

/** The numbers of an hour, a day, a week or a month, and those of its counterpart if there is one: those that the chart asks for. */
export type Interval = Of<number> & { previous?: Of<number> | null; change?: Of<number | null> | null }

type Of<Value> = Readonly<Partial<Record<ChartMetric | 'conversion_rate', Value>>>

export interface Moment {
  now: number
  local: Temporal.ZonedDateTime
  periods: Windows
}

/** Throws the API's refusal if the range is too long. */
export function momentOf(state: DashboardState, clock: number): Moment {
  const local = nowOf(state, clock)
  return {
    now: local.epochMilliseconds,
    local,
    periods: windowsOf(asApiRange(state.range), comparisonOf(state), local),
  }
}

/** Longer than any question may take, including its wait: those of one person take turns. */
const timeoutMs = 20_000 * deadlineFactor

const rowsOfPanel = 10
/** All there are. */
const rowsOfMap = 300

export type Ask = ReturnType<typeof asking>

type Fields = readonly (readonly [string, string])[]

/** The reads of one page. */
export function asking(
  { stats, cluster, log }: ConsoleServices,
  queueKey: string,
  state: DashboardState,
  moment: Moment,
  signal: AbortSignal,
) {
  const { site, locked } = state
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])

  const settled = async <Value>(
    work: () => Promise<{ value: Value; result?: QuestionResult }>,
  ): Promise<Answer<Value>> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError) return { fault: error.message, isDown: false, refusal: error }
      // The log already says that ClickHouse is down, once.
      const isDown = error instanceof Unavailable
      if (!signal.aborted && !isDown) log.error({ site: site.domain, err: error }, 'a panel of the dashboard failed')
      return { fault: 'These numbers cannot be read at the moment. Reload the page in a few seconds.', isDown }
    }
  }
  const question = (kind: QuestionKind, fields: Fields) =>
    readFields(questionFields(state, fields), { kind, goals: site.goals, maxLimit: limits.csv }).question
  const ask = <Value>(kind: QuestionKind, fields: Fields): Promise<Answer<Value>> =>
    settled(async () => {
      const request = { site, question: question(kind, fields), queueKey, now: moment.now }
      const result = await stats.ask(request, until)
      return { value: result.data as Value, result }
    })
  return {
    question,
    ask,
    list: (name: ListName, fields: Fields) => ask<Row[]>('breakdown', [['by', name], ...fields]),
    /** Only what the reports of version 1 can filter by can be counted now. */
    currentVisitors: () =>
      settled(async () => {
        const filters = filtersOfReport(locked)
        if (!filters) throw new ApiError('invalid_filter', 'These filters cannot be counted now.')
        const parameters = { range: { name: '24h' }, filters, limit: 0 } as const
        const request = { report: 'currentVisitors', site, parameters, queueKey, now: moment.now } as const
        return { value: (await stats.read(request, until)).data as number }
      }),
    /** Titles of pages; none if they cannot be read. */
    async titles(name: ListName, list: Answer<Row[]>): Promise<ReadonlyMap<string, string>> {
      const paths = isPath(name) && 'value' in list ? list.value.map((row) => row[name]) : []
      const answer = await settled(async () => ({
        value: await stats.titles({ site, paths: paths.filter((path) => path !== null).map(String), queueKey }, until),
      }))
      return 'value' in answer ? answer.value : new Map()
    },
    hasEvents: () =>
      settled(async () => ({
        value:
          site.coverage.versions.length + site.coverage.imported.length > 0 ||
          (await hasEvents(cluster.of(site), site.id)),
      })),
  }
}

/** The conversions of the goal that the page shows. */
export const fieldsOfConversions = (goal: string, state: DashboardState): Fields => [
  ['metrics', 'conversions,conversion_rate'],
  ['goal', goal],
  ...comparison(state),
]

export const comparison = (state: DashboardState): Fields => comparisonFields(comparisonOf(state))

/** The question of a panel. */
export const fieldsOfPanel = (name: ListName, state: DashboardState): Fields => [
  ['metrics', lists[name].metrics.join(',')],
  ['limit', String(isMap(name, state) ? rowsOfMap : rowsOfPanel)],
]
