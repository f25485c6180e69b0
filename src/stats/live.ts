// Who is on a site now, and what they do. However many people watch a site, this process reads it with one statement per second
// (decision D-241). Watchers get each reading; whether they send it is theirs.
import { setTimeout as sleep } from 'node:timers/promises'
import Type, { type Static, type TProperties } from 'typebox'
import { type Period, storedDay } from '../calendar/periods.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { minuteMs } from '../durations.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { join, sql, uint } from '../stores/clickhouse-sql.ts'
import { minutesOfNow } from './current-visitors.ts'
import { hitScope } from './daily-metrics.ts'
import type { createFairQueues } from './fair-queue.ts'
import type { StatsSite } from './report.ts'
import { count, views } from './shapes.ts'

/** The chart has a bar for each of these minutes. */
export const minutesShown = 30
/** A list has the first rows, and the last hits are as many as fit on a screen. */
const maxRows = 10
const maxHits = 20

const everyMs = 1_000
const deadlineMs = 2_500

const country = Type.String({ description: 'Two-letter code; ZZ means unknown.' })
const source = Type.Union([Type.String(), Type.Null()], {
  description: 'The UTM source, otherwise the referrer; null without both.',
})
const visitors = count('Those of the visitors whose last hit has it.', 'people')
const list = <Row extends TProperties>(description: string, row: Row) => Type.Array(Type.Object(row), { description })

export const liveShape = Type.Object({
  visitors: count(`Visitors with a hit in the last ${minutesOfNow} minutes.`, 'people'),
  pages: list('Where they are: the pages with most of them.', {
    page: Type.String({ description: 'Path of their last hit.' }),
    visitors,
  }),
  countries: list('The countries with most of them.', { country, visitors }),
  sources: list('The sources with most of them.', { source, visitors }),
  events: list(`The most frequent custom events of the last ${minutesShown} minutes.`, {
    event: Type.String({ description: 'Name of the event.' }),
    times: count('How often it occurred.', 'events'),
  }),
  minutes: list(`The last ${minutesShown} minutes, the first one at the top.`, {
    time: Type.String({ format: 'date-time', description: 'When the minute begins, in UTC. The last one is running.' }),
    pageviews: views,
  }),
  hits: list(`The last ${maxHits} hits of these minutes, the latest one at the top.`, {
    id: Type.String({ description: 'The same hit has the same id in all messages.' }),
    time: Type.String({ format: 'date-time', description: 'When it happened, in UTC.' }),
    event: Type.String({ description: '`pageview`, or the name of a custom event.' }),
    page: Type.String({ description: 'Path of the hit.' }),
    country,
    source,
  }),
})

export type LiveState = Static<typeof liveShape>

export interface LiveReading {
  state: LiveState
  site: StatsSite
  /** UTC milliseconds. */
  at: number
}

export interface Watcher {
  /** The site as it is now. Undefined if it no longer exists: then nothing comes any more. */
  site(): Promise<StatsSite | undefined>
  show(reading: LiveReading): void
  /** The site could not be read this time. */
  fail(error: unknown): void
}

export interface Live {
  /** The reading of this second: for a page that does not move by itself. */
  read(site: StatsSite): Promise<LiveReading>
  /** Returns a function that ends it. */
  watch(siteId: string, watcher: Watcher): () => void
}

interface Reading {
  startedAt: number
  excludedCountries: string
  result: Promise<LiveReading>
}

export interface LiveOptions {
  cluster: ClusterReader
  /** UTC milliseconds. */
  now(): number
}

/** All its statements take turns under one key: many sites that are watched must not delay everybody else. */
const queueKey = 'live'

export function createLive({ cluster, now }: LiveOptions, queuesOf: ReturnType<typeof createFairQueues>): Live {
  const readings = new Map<string, Reading>()
  const watchersOf = new Map<string, Set<Watcher>>()

  /** A reading of the last second counts as now, unless the site excludes other countries since. */
  function read(site: StatsSite): Reading {
    const last = readings.get(site.id)
    const excludedCountries = site.excludedCountries.join()
    const startedAt = performance.now()
    if (last && startedAt - last.startedAt < everyMs && last.excludedCountries === excludedCountries) return last
    const at = now()
    const signal = AbortSignal.timeout(deadlineMs)
    const result = queuesOf([site]).take(queueKey, signal, async () => ({
      state: await readLive(cluster.of(site), site, at, signal),
      site,
      at,
    }))
    const reading = { startedAt, excludedCountries, result }
    readings.set(site.id, reading)
    const forget = () => readings.get(site.id) === reading && readings.delete(site.id)
    result.catch(forget)
    setTimeout(forget, everyMs).unref()
    return reading
  }

  /** Reads until nobody watches any more. */
  async function follow(siteId: string, watchers: ReadonlySet<Watcher>): Promise<void> {
    for (;;) {
      const [first] = watchers
      if (!first) break
      let nextAt = performance.now() + everyMs
      try {
        const site = await first.site()
        if (!site) break
        const { result, startedAt } = read(site)
        nextAt = startedAt + everyMs
        const reading = await result
        for (const watcher of watchers) watcher.show(reading)
      } catch (error) {
        for (const watcher of watchers) watcher.fail(error)
      }
      await sleep(Math.max(1, nextAt - performance.now()), undefined, { ref: false })
    }
    if (watchersOf.get(siteId) === watchers) watchersOf.delete(siteId)
  }

  return {
    read: (site) => read(site).result,
    watch(siteId, watcher) {
      const running = watchersOf.get(siteId)
      const watchers = running ?? new Set()
      watchers.add(watcher)
      if (running) {
        // Otherwise a new watcher would wait for the next second.
        readings.get(siteId)?.result.then(
          (reading) => watchers.has(watcher) && watcher.show(reading),
          () => {},
        )
      } else {
        watchersOf.set(siteId, watchers)
        void follow(siteId, watchers)
      }
      return () => void watchers.delete(watcher)
    },
  }
}

type List = 'page' | 'country' | 'source' | 'event' | 'minute' | 'visitors' | 'hit'

interface Row {
  list: List
  value: string
  number: number
  /** Of a hit: id, name, path, country, source. */
  hit: readonly string[]
}

const visitorSource = sql`if(utm_source != '', utm_source, referrer)`

/** One statement with a row for each line of each list. */
async function readLive(
  clickhouse: ClickHouseReader,
  { id, timeZone, excludedCountries }: Pick<StatsSite, 'id' | 'timeZone' | 'excludedCountries'>,
  at: number,
  signal?: AbortSignal,
): Promise<LiveState> {
  const firstMinute = at - (at % minuteMs) - (minutesShown - 1) * minuteMs
  const during = (from: number) => {
    const period = periodOf(from, at, timeZone)
    const scope = { siteId: id, filters: {}, excludedCountries }
    return hitScope(scope, period, [[storedDay(period.firstDay), storedDay(period.lastDay)]])
  }
  const rows = await clickhouse.rows<Row>(
    join(
      [
        sql`
      SELECT
        multiIf(
          grouping(last_page) = 0, 'page',
          grouping(last_country) = 0, 'country',
          grouping(last_source) = 0, 'source',
          'visitors'
        ) AS list,
        multiIf(list = 'page', last_page, list = 'country', last_country, list = 'source', last_source, '') AS value,
        count() AS number, [] AS hit
      FROM (
        SELECT argMax(pathname, time) AS last_page, argMax(country, time) AS last_country,
          argMax(${visitorSource}, time) AS last_source
        FROM events
        WHERE ${during(at - minutesOfNow * minuteMs)}
        GROUP BY day, visitor_id
      )
      GROUP BY GROUPING SETS ((last_page), (last_country), (last_source), ())
      ORDER BY number DESC, value
      LIMIT ${uint(maxRows)} BY list`,
        sql`
      SELECT
        if(name = 'pageview', 'minute', 'event') AS list,
        if(name = 'pageview', toString(toUnixTimestamp(toStartOfMinute(time))), name) AS value,
        count() AS number, [] AS hit
      FROM events
      WHERE ${during(firstMinute)}
      GROUP BY list, value
      ORDER BY number DESC, value
      LIMIT ${uint(minutesShown)} BY list`,
        sql`
      SELECT 'hit' AS list, '' AS value, toUnixTimestamp64Milli(time) AS number,
        [toString(event_id), name, pathname, country, ${visitorSource}] AS hit
      FROM events
      WHERE ${during(firstMinute)}
      ORDER BY number DESC, event_id
      LIMIT ${uint(maxHits)}`,
      ].map(
        (part) => sql`
    SELECT list, value, number, CAST(hit, 'Array(String)') AS hit FROM (${part}
    )`,
      ),
      sql`
    UNION ALL`,
    ),
    signal,
  )
  return stateOf(rows, firstMinute)
}

function stateOf(rows: readonly Row[], firstMinute: number): LiveState {
  const lists = Map.groupBy(rows, ({ list }) => list)
  // The parts of a UNION may come in any order, and so may their rows.
  const list = (name: List) =>
    (lists.get(name) ?? []).toSorted((one, other) => other.number - one.number || (one.value < other.value ? -1 : 1))
  const pageviews = new Map(list('minute').map(({ value, number }) => [1000 * Number(value), number]))
  return {
    visitors: list('visitors')[0]?.number ?? 0,
    pages: list('page').map(({ value, number }) => ({ page: value, visitors: number })),
    countries: list('country').map(({ value, number }) => ({ country: value, visitors: number })),
    sources: list('source').map(({ value, number }) => ({ source: value || null, visitors: number })),
    events: list('event')
      .slice(0, maxRows)
      .map(({ value, number }) => ({ event: value, times: number })),
    minutes: Array.from({ length: minutesShown }, (_, index) => {
      const time = firstMinute + index * minuteMs
      return { time: new Date(time).toISOString(), pageviews: pageviews.get(time) ?? 0 }
    }),
    hits: list('hit').map(({ number, hit: [id = '', event = '', page = '', country = '', source] }) => ({
      id,
      time: new Date(number).toISOString(),
      event,
      page,
      country,
      source: source || null,
    })),
  }
}

function periodOf(from: number, until: number, timeZone: string): Period {
  const [start, end] = [from, until].map((at) =>
    Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime]
  return { start, end, firstDay: start.toPlainDate(), lastDay: end.subtract({ nanoseconds: 1 }).toPlainDate() }
}
