// All queries of a dashboard. They begin at once and wait for their turn in the fair queue like any others; each answer is a value or a
// fault, so that one panel can fail without the page.

import { type Periods, periodsOf } from '../../calendar/periods.ts'
import type { Day } from '../../stats/previous-days.ts'
import type { Hour } from '../../stats/recent-events.ts'
import type { StatsParameters } from '../../stats/report.ts'
import type { Overview } from '../../stats/reports/overview.ts'
import { instantOf, type StatsRequest, type StatsResult } from '../../stats/reports.ts'
import { Unavailable } from '../../stores/breaker.ts'
import { deadlineFactor } from '../../stores/deadline.ts'
import { hasEvents } from '../../traffic/first-event.ts'
import type { ConsoleServices } from '../route.ts'
import { type DashboardState, type ListReport, longLimit } from './state.ts'

/** `isDown`: nothing can be read at the moment, so the page says it once. */
export type Answer<Value> = { value: Value; result?: StatsResult } | { fault: string; isDown: boolean }

export type Row = Readonly<Record<string, string | number>>

export interface Moment {
  now: number
  local: Temporal.ZonedDateTime
  periods: Periods
}

/** One instant for the whole page. Throws the API's refusal if the range is too long. */
export function momentOf({ site, parameters }: DashboardState, clock: number): Moment {
  const now = instantOf(site, clock)
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(site.timeZone)
  return { now, local, periods: periodsOf(parameters.range, local) }
}

export interface DashboardAnswers {
  overview: Promise<Answer<Overview>>
  currentVisitors: Promise<Answer<number>>
  days: Promise<Answer<Day[]>> | undefined
  /** Whole days of the previous period. */
  previousDays: Promise<Answer<Day[]>> | undefined
  hours: Promise<Answer<Hour[]>> | undefined
  previousHours: Promise<Answer<Hour[]>> | undefined
  lists: ReadonlyMap<ListReport, Promise<Answer<Row[]>>>
}

/** Longer than any query may take, including its wait in the queue. */
const timeoutMs = 10_000 * deadlineFactor

export type Ask = ReturnType<typeof asking>

/** The reads of one page. */
export function asking(
  { stats, cluster, log }: ConsoleServices,
  queueKey: string,
  { site, locked, parameters: { filters } }: DashboardState,
  moment: Moment,
  signal: AbortSignal,
) {
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const lastHours = { range: { name: '24h' }, filters, limit: 0 } as const

  const settled = async <Value>(work: Promise<{ value: Value; result?: StatsResult }>): Promise<Answer<Value>> => {
    try {
      return await work
    } catch (error) {
      // The log already says that ClickHouse is down, once.
      const isDown = error instanceof Unavailable
      if (!signal.aborted && !isDown) log.error({ site: site.domain, err: error }, 'a panel of the dashboard failed')
      return { fault: 'These numbers cannot be read at the moment. Reload the page in a few seconds.', isDown }
    }
  }
  const read = <Value>(report: StatsRequest['report'], parameters: StatsParameters): Promise<Answer<Value>> =>
    settled(
      stats
        .read({ report, site, parameters, queueKey, now: moment.now }, until)
        .then((result) => ({ value: result.data as Value, result })),
    )
  return {
    read,
    hours: () => read<Hour[]>('hours', lastHours),
    previousHours: () => read<Hour[]>('previousHours', lastHours),
    currentVisitors: () => read<number>('currentVisitors', { ...lastHours, filters: locked }),
    hasEvents: () =>
      settled(
        (async () => ({ value: site.coverage.versions.length > 0 || (await hasEvents(cluster.of(site), site.id)) }))(),
      ),
  }
}

export function askAll(state: DashboardState, ask: Ask, { periods }: Moment): DashboardAnswers {
  const { parameters, compares } = state
  const isHourly = parameters.range.name === '24h'
  const { firstDay, lastDay } = periods.previous
  const hasPrevious = compares && !isHourly && Temporal.PlainDate.compare(firstDay, lastDay) <= 0
  return {
    overview: ask.read<Overview>('overview', parameters),
    currentVisitors: ask.currentVisitors(),
    days: isHourly ? undefined : ask.read('timeseries', parameters),
    hours: isHourly ? ask.hours() : undefined,
    previousDays: hasPrevious
      ? ask.read('timeseries', { ...parameters, range: { name: 'custom', firstDay, lastDay } })
      : undefined,
    previousHours: isHourly && compares ? ask.previousHours() : undefined,
    lists: new Map(
      shownLists(state).map((report) => [report, ask.read(report, { ...parameters, limit: limitOf(state, report) })]),
    ),
  }
}

export const shownLists = ({ sources }: DashboardState): ListReport[] => ['pages', sources, 'geo', 'devices', 'events']

/** The map shows as many countries as the API answers at once. */
export const limitOf = ({ parameters, countries, more }: DashboardState, report: ListReport): number =>
  more === report || (report === 'geo' && countries === 'map') ? longLimit : parameters.limit
