// Refuses a question that would need more time than a request has (D-235). The decision depends only on the traffic of the days, which rollups
// know in milliseconds, and on the question, so that the same question is always or never refused. Days that are not rolled up are few or small.
import type { DayRange } from '../../calendar/days.ts'
import type { Period } from '../../calendar/periods.ts'
import { ApiError } from '../../errors.ts'
import { rolledUpDays } from '../../rollups/coverage.ts'
import type { ClickHouseReader } from '../../stores/clickhouse.ts'
import { sql } from '../../stores/clickhouse-sql.ts'
import { dailyTotals } from '../daily-metrics.ts'
import { goalsOf, needsEvents, type Reader, type Visits } from './sources.ts'

/**
 * How many pageviews there is time for, by what is read of them: 6 to 8 of the nine seconds of CPU that two threads have. Measured on 100 million
 * events, in ns per pageview: 15 to 32, 57, 60 to 230, and 270 to 400 (D-235).
 */
const maxPageviews = {
  events: 10_000_000,
  /** Rows of sessions without paths. */
  sessions: 200_000_000,
  /** Their entry and exit pages. */
  ends: 120_000_000,
  /** Filters on pages, hosts, events and goals look at each hit. */
  hits: 40_000_000,
  /** A list of them counts each hit in a row of its own. */
  listsOfHits: 20_000_000,
}

/** Each filter, and each goal that a hit is compared with, takes about a tenth of the time more. */
const weightOf = (filters: number, goals: number): number => 1 + (filters + goals) / 10

interface Window {
  period: Period
  visits: Visits | undefined
}

export async function refuseExpensive(
  clickhouse: ClickHouseReader,
  reader: Reader,
  windows: readonly Window[],
  signal: AbortSignal,
): Promise<void> {
  const { coverage, filters, ask } = reader
  if (coverage.versions.length === 0) return
  const { by, filters: sorted, columns } = ask
  const looksAtHits = sorted.hasPlaces || sorted.hasActions || columns.has('conversions')
  const isAboutEnds = [by, ...filters.map(({ dimension }) => dimension)].some(
    (one) => one?.name === 'entry_page' || one?.name === 'exit_page',
  )
  const kind = by?.of === 'hit' ? 'listsOfHits' : looksAtHits ? 'hits' : isAboutEnds ? 'ends' : 'sessions'
  const shareOf = async ({ period, visits }: Window) => {
    if (!visits) return 0
    const sessionDays = visits.sessions.flatMap(({ days }) => days)
    const [inEvents, inSessions] = await Promise.all([
      pageviewsOf(clickhouse, reader, period, visits.events, signal),
      pageviewsOf(clickhouse, reader, period, sessionDays, signal),
    ])
    return inEvents / maxPageviews.events + inSessions / maxPageviews[kind]
  }
  const shares = await Promise.all(windows.map(shareOf))
  const share = shares.reduce((sum, one) => sum + one, 0) * weightOf(filters.length, goalsOf(ask, filters).length)
  if (share <= 1) return
  const cheaper = [
    'ask for fewer days',
    ...(windows.length > 1 ? ['leave out the comparison'] : []),
    ...(needsEvents(ask, filters)
      ? ['leave out properties, revenue and goals with a property, which only single events have']
      : kind === 'sessions'
        ? []
        : ['leave out what is about pages, entry and exit pages, hosts, events and goals']),
  ]
  throw new ApiError(
    'query_too_expensive',
    `This question would take too long: it reads ${share.toFixed(1)} times the traffic that a request has time for. To make it cheaper, ${cheaper.join(', or ')}.`,
  )
}

/** Of those days among these that are rolled up, whatever the question filters. */
async function pageviewsOf(
  clickhouse: ClickHouseReader,
  { ask, coverage }: Reader,
  period: Period,
  days: readonly DayRange[],
  signal: AbortSignal,
): Promise<number> {
  const rolledUp = rolledUpDays(days, coverage.versions)
  if (rolledUp.length === 0) return 0
  const none = { raw: [], rolledUp: [], today: [] }
  const query = {
    ...{ siteId: ask.siteId, excludedCountries: [], filters: {}, limit: 0, current: period, previous: period },
    plans: { current: { ...none, rolledUp }, previous: none },
  }
  const [row] = await clickhouse.rows<{ views: number }>(
    sql`SELECT sum(views) AS views FROM ${dailyTotals(query)}`,
    signal,
  )
  return row?.views ?? 0
}
