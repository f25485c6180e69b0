// Any question about a site (/api/v2): what `createStatsService` caches and runs.
import { intervalOf, type Period, type RangeName, withWholeLastDay } from '../../calendar/periods.ts'
import type { ClusterReader } from '../../cluster/cluster.ts'
import { importedRemarks, type LeftOutDays } from '../../rollups/imported-days.ts'
import { endsInDroppedDay, recentToday } from '../../rollups/reading.ts'
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import type { Cacheable, StatsSite } from '../report.ts'
import { identityOf, stateOf } from '../reports.ts'
import { prepareAnswer } from './answers.ts'
import { sortFilters } from './conditions.ts'
import { refuseExpensive } from './cost.ts'
import { cursorOf } from './cursor.ts'
import { columnsOf } from './metrics.ts'
import type { Question } from './question.ts'
import { readsVisits, type Source } from './sources.ts'
import { type Windows, windowsOf } from './windows.ts'

export interface QuestionRequest {
  site: StatsSite
  question: Question
  queueKey: string
  /** The current time of the question: of the first page, or of numbers that must agree. Without it, the time of the request. */
  now?: number | undefined
}

export interface QuestionResult extends Cacheable {
  /** `{ data, meta }` as JSON text. */
  json: string
  readonly data: unknown
  /** Identical for identical numbers of the same question, whenever they were computed (D-61). */
  identity: string
  period: string
  previousPeriod: string | undefined
  /** Rows without limit and cursor; only when the limit cut some off. */
  totalRows: number | undefined
  source: Source
  /** Imported days of the current window that are not in the numbers. */
  leftOut: readonly LeftOutDays[]
  warnings: readonly string[]
}

interface Meta {
  site_id: string
  range: RangeName
  filters: readonly object[]
  limit?: number
  next_cursor?: string | null
  generated_at: string
}

export function questionQuery(cluster: ClusterReader, request: QuestionRequest, clock: number) {
  const { site, question, queueKey } = request
  const { coverage, timeZone, excludedCountries, goals } = site
  const requestedAt = request.now ?? clock
  const today = recentToday(coverage, requestedAt)
  const cacheKey = `question ${JSON.stringify([site.id, timeZone, excludedCountries, goals, question])}`
  const state = stateOf(site, today)
  const ask = {
    siteId: site.id,
    excludedCountries,
    filters: sortFilters(question.filters, goals),
    columns: columnsOf(question.metrics),
    by: question.kind === 'breakdown' ? question.by : undefined,
    goal: question.goal,
    goals,
  }
  const asked = { question, filters: question.filters, ask }
  const isAboutVisits = readsVisits(asked)

  function prepare(): (signal: AbortSignal) => Promise<QuestionResult> {
    const generatedAt = Temporal.Instant.fromEpochMilliseconds(today?.asOf ?? requestedAt)
    const wanted = windowsOf(question.range, question.compare, generatedAt.toZonedDateTimeISO(timeZone))
    // Of a day without events only the numbers of the whole day exist.
    const isCut = wanted.compared !== undefined && endsInDroppedDay(wanted.compared, coverage)
    const windows = isCut && wanted.compared ? { ...wanted, compared: withWholeLastDay(wanted.compared) } : wanted
    const reader = { ...asked, coverage, today }
    const prepared = prepareAnswer(reader, windows)
    const imported = prepared.readings.map((reading) => reading.imported)
    const { current, compared } = windows
    const periods = compared ? [current, compared] : [current]
    const read = periods.map((period, index) => ({ period, visits: prepared.readings[index]?.visits }))
    return async (signal) => {
      const clickhouse = withLimits(cluster.of(site))
      if (isAboutVisits) await refuseExpensive(clickhouse, reader, read, signal)
      const { data, totalRows = 0, last } = await prepared.read(clickhouse, signal)
      const isBreakdown = question.kind === 'breakdown'
      const text = JSON.stringify(data)
      const meta: Meta = {
        site_id: site.id,
        range: question.range.name,
        filters: question.filters.map(({ dimension, operator, values }) => ({
          dimension: dimension.name,
          operator,
          values,
        })),
        ...(isBreakdown && {
          limit: question.limit,
          next_cursor: last ? cursorOf({ now: generatedAt.epochMilliseconds, after: last }) : null,
        }),
        generated_at: generatedAt.toString({ smallestUnit: 'millisecond' }),
      }
      const json = `{"data":${text},"meta":${JSON.stringify(meta)}}`
      return {
        json,
        get data() {
          return JSON.parse(json).data as unknown
        },
        identity: identityOf(`${cacheKey} ${text}`),
        period: intervalOf(current),
        previousPeriod: compared && intervalOf(compared),
        totalRows: isBreakdown && totalRows > question.limit ? totalRows : undefined,
        source: prepared.readings[0]?.source ?? 'events',
        leftOut: imported[0]?.leftOut ?? [],
        warnings: [
          ...(isCut && compared ? [wholeDay(String(compared.lastDay))] : []),
          ...importedRemarks(imported),
          ...beforeTheColumn(site, question, windows),
        ],
        generatedAt: generatedAt.epochMilliseconds,
        requestedAt,
        state,
        settled:
          current.end.epochMilliseconds < generatedAt.epochMilliseconds &&
          prepared.readings.every(({ settled }) => settled),
      }
    }
  }

  return { cacheKey, state, asOf: request.now, isLive: false, sites: [site], queueKey, isAboutVisits, prepare }
}

/**
 * A statement may take most of the five seconds of a request, and both cores that it is measured on. A user that may only read may not take more
 * memory (deploy/clickhouse/least-privilege).
 */
const limits = { seconds: 4.5, threads: 2, bytes: 1_000_000_000 }

const withLimits = (reader: ClickHouseReader): ClickHouseReader => ({
  rows: (statement, signal) => reader.rows(statement, signal, limits),
})

const wholeDay = (day: string): string =>
  `the compared period ends with all of ${day}, because single events of that day are no longer kept`

/**
 * What the question is about and was not recorded yet on its first days. The day is that of the migration in PostgreSQL's list, which holds for the
 * whole installation: ClickHouse's own list would be wrong for a site that moved to a younger shard, and the first value in `events` would cost a
 * read of the column, and be wrong for a site that had no campaign for a while.
 */
function beforeTheColumn({ detailsSince, timeZone }: StatsSite, question: Question, windows: Windows): string[] {
  if (detailsSince === undefined) return []
  const since = Temporal.Instant.fromEpochMilliseconds(detailsSince).toZonedDateTimeISO(timeZone).toPlainDate()
  const isBefore = (period: Period | undefined) => period && Temporal.PlainDate.compare(period.firstDay, since) < 0
  if (!isBefore(windows.current) && !isBefore(windows.compared)) return []
  const dimensions = [...question.filters.map(({ dimension }) => dimension), ...('by' in question ? [question.by] : [])]
  const names = [
    ...dimensions.filter(({ isLater }) => isLater).map(({ name }) => name),
    ...question.metrics.filter(({ currency }) => currency).map(({ name }) => name),
  ]
  return [...new Set(names)].map(
    (name) => `${name} is recorded since ${since}; earlier days have none, unless they were imported later`,
  )
}
