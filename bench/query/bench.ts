// How long any question about a site takes, by what is listed, filtered and covered. Each is asked beside `SELECT 1` and, where one short
// statement on `events` answers it, too, beside that statement, whose numbers must be the same. Nothing is cached.
//   npm run bench:query [-- --rounds 5]                  a site of a million events, in about three minutes
//   npm run bench:query -- --events 100000000            the largest site of bench:scale, with the same traffic
//   npm run bench:query -- --fairness                    only what expensive questions cost others
// The traffic is generated once and kept in the cache folder.
import { isDeepStrictEqual } from 'node:util'
import type { DayRange } from '../../src/calendar/days.ts'
import { type Period, periodsOf, storedDay } from '../../src/calendar/periods.ts'
import { lastingTables } from '../../src/cluster/tables.ts'
import { ApiError } from '../../src/errors.ts'
import { readCoverage } from '../../src/rollups/coverage.ts'
import { readQueryString } from '../../src/stats/query-string.ts'
import { readQuestion } from '../../src/stats/questions/parameters.ts'
import { questionQuery } from '../../src/stats/questions/questions.ts'
import { type Sql, sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import { onDays } from '../../src/traffic/conditions.ts'
import { readOptions } from '../../test/support/options.ts'
import { cpuSeconds, machineTime, round, since, spreadOf } from '../api/measure.ts'
import { untilMerged } from '../rollup/merges.ts'
import { rollUp } from '../scale/rollups.ts'
import { makeSite, openWorld } from '../scale/world.ts'
import { measureFairness } from './fairness.ts'

const {
  events,
  rounds,
  fairness: onlyFairness,
} = readOptions('query', { events: 1_000_000, rounds: 5, fairness: false })

/** For a site of 100 million events; smaller ones have the same bounds. */
const maxMs = { '30d': 600, '12m': 4_000 }
/** While an account asks 20 expensive questions: reports of other sites, and questions of other accounts. */
const maxTimes = { reports: 1.3, questions: 2 }
/** Of all tables together. */
const maxBytesPerEvent = 62
/** The short statement is not repeated if it takes longer. */
const tediousMs = 1_500
const isTedious = (taken: readonly number[]): boolean => taken.some((ms) => ms > tediousMs)

const filters: Record<string, { query: string; condition?: Sql }> = {
  'a page': { query: 'filter=page:is:/pricing', condition: sql`pathname = '/pricing'` },
  'a referrer': { query: 'filter=referrer:is:google.com', condition: sql`referrer = 'google.com'` },
  'a channel': { query: 'filter=channel:is:Direct', condition: sql`channel = 'Direct'` },
  'a browser': { query: 'filter=browser:is:Chrome', condition: sql`browser = 'Chrome'` },
  'an entry page': { query: 'filter=entry_page:is:/' },
  'an event': { query: 'filter=event:is:signup' },
  'part of a path': { query: 'filter=page:contains:a', condition: sql`position(pathname, 'a') > 0` },
  'four filters': {
    query: 'filter=page:contains:a&filter=referrer:is_not:&filter=device:is:mobile&filter=event:is_not:signup',
  },
}
const lists = { page: sql`pathname`, referrer: sql`referrer`, os: sql`os` }

interface Cell {
  question: string
  p10: number
  median: number
  /** Milliseconds of CPU of ClickHouse, which other work on the machine hardly changes. The least of all rounds. */
  cpu: number
  /** Of the short statement. */
  plain?: number
  refused?: true
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const world = await openWorld({ events, sites: 1, fresh: false, say })
const { clickhouse, postgres, now } = world
const [whale] = world.sizes
try {
  await makeSite(world, whale, say)
  const rollup = await world.state.once(`roll up ${whale.name}`, () => rollUp(world, whale))
  say(`rolled up: ${JSON.stringify(rollup)}`)
  await untilMerged(clickhouse)
  const bytes = await bytesPerEvent()
  const coverage = await readCoverage(postgres, whale.id)
  if (!coverage) throw new Error('the site is not known')
  const site = { id: whale.id, timeZone: world.state.zone, excludedCountries: [], goals: [], shard: 1, coverage }
  const machine = machineTime()
  const cells: Cell[] = []
  const wrong: string[] = []
  for (const range of onlyFairness ? [] : (['30d', '12m'] as const))
    for (const [name, { query, condition }] of Object.entries(filters)) {
      await cellOf(`totals of ${name}, ${range}`, 'totals', `range=${range}&${query}`, range)
      for (const [by, column] of Object.entries(lists))
        await cellOf(
          `${by} of ${name}, ${range}`,
          'breakdown',
          `range=${range}&by=${by}&limit=10&${query}`,
          range,
          condition && plainList(column, condition, periodsOf({ name: range }, now).current),
        )
    }
  say('Asking reports and questions beside 20 expensive ones')
  const fairness = await measureFairness(world, say)
  const answered = cells.filter(({ refused }) => !refused)
  const slowest = (range: keyof typeof maxMs) =>
    Math.max(0, ...answered.filter(({ question }) => question.endsWith(range)).map(({ p10 }) => p10))
  const ratios = answered.flatMap(({ p10, plain }) => (plain ? [p10 / plain] : []))
  const result = {
    bench: 'query',
    events: whale.events,
    slowestMs: { '30d': slowest('30d'), '12m': slowest('12m') },
    ...(ratios.length > 0 && { timesPlain: spreadOf(ratios) }),
    refused: cells.length - answered.length,
    bytesPerEvent: bytes,
    rollup,
    fairness,
    wrong,
    steal: since(machine).steal,
    cells,
  }
  const ok =
    wrong.length === 0 &&
    result.refused === 0 &&
    slowest('30d') <= maxMs['30d'] &&
    slowest('12m') <= maxMs['12m'] &&
    fairness.reports.p10 <= maxTimes.reports &&
    fairness.questions.p10 <= maxTimes.questions &&
    Object.values(bytes).reduce((sum, one) => sum + one, 0) <= maxBytesPerEvent
  console.log(JSON.stringify({ ...result, ok }))
  process.exitCode = ok ? 0 : 1

  async function cellOf(
    question: string,
    kind: 'totals' | 'breakdown',
    query: string,
    range: keyof typeof maxMs,
    plain?: Sql,
  ): Promise<void> {
    const [asked, direct, cpu]: [number[], number[], number[]] = [[], [], []]
    const cpuMs = () => 1_000 * cpuSeconds(world.clickhouseServer.pid)
    try {
      for (let round = 0; round < rounds; round++) {
        const before = cpuMs()
        const [answer, ms] = await timed(() => ask(kind, query))
        asked.push(ms)
        cpu.push(Math.round(cpuMs() - before))
        if (!plain || isTedious(direct)) continue
        const [rows, plainMs] = await timed(() =>
          clickhouse.rowsPatiently<{ value: string }>(plain, { max_threads: 2 }),
        )
        direct.push(plainMs)
        const expected = rows.map(({ value, ...numbers }) => ({ value: value || null, ...numbers }))
        const received = (answer as Record<string, unknown>[]).map(({ visitors, pageviews, ...value }) => ({
          value: Object.values(value)[0],
          visitors,
          pageviews,
        }))
        if (round === 0 && !isDeepStrictEqual(received, expected)) wrong.push(question)
      }
      cells.push({
        question,
        ...spreadOf(asked),
        cpu: Math.min(...cpu),
        ...(direct.length > 0 && { plain: spreadOf(direct).p10 }),
      })
      const { p10, plain: short } = cells.at(-1) as Cell
      say(
        `${question}: ${round(p10, 0)} ms, ${Math.min(...cpu)} of CPU${short ? `, the short statement ${round(short, 0)} ms` : ''}`,
      )
    } catch (error) {
      cells.push({ question, p10: 0, median: 0, cpu: 0, refused: true })
      say(`${question}: ${error instanceof ApiError ? error.code : error}, of at most ${maxMs[range]} ms`)
    }
  }

  /** By table, of all sites: an earlier run may have made smaller ones. */
  async function bytesPerEvent(): Promise<Record<string, number>> {
    const rows = await clickhouse.rows<{ name: string; bytes: number }>(sql`
      SELECT table AS name, sum(bytes_on_disk) / (SELECT count() FROM events) AS bytes FROM system.parts
      WHERE active AND database = currentDatabase() AND table IN ${texts(Object.keys(lastingTables))} GROUP BY table`)
    return Object.fromEntries(rows.map((row) => [row.name, round(row.bytes, 2)]))
  }

  async function ask(kind: 'totals' | 'breakdown', query: string): Promise<unknown> {
    const url = `?${query}`
    const { question } = readQuestion(readQueryString(url), url, { kind, goals: [], maxLimit: 1000 })
    const request = { site, question, queueKey: '' }
    const { prepare } = questionQuery({ of: () => clickhouse }, request, now.epochMilliseconds)
    return (await prepare()(AbortSignal.timeout(30_000))).data
  }
} finally {
  await world.close()
}
process.exit()

/** Visitors and pageviews by value. */
function plainList(column: Sql, condition: Sql, period: Period): Sql {
  const days: DayRange[] = [[storedDay(period.firstDay), storedDay(period.lastDay)]]
  const isCounted = column === lists.page ? sql`name = 'pageview'` : sql`true`
  return sql`
    SELECT toString(${column}) AS value, uniqExact(day, visitor_id) AS visitors, countIf(name = 'pageview') AS pageviews
    FROM events
    WHERE site_id = ${text(whale.id)} AND ${onDays(days)} AND ${condition} AND ${isCounted}
    GROUP BY value
    ORDER BY visitors DESC, pageviews DESC, value = '', value
    LIMIT 10`
}

async function timed<Value>(work: () => Promise<Value>): Promise<[Value, milliseconds: number]> {
  const began = performance.now()
  const value = await work()
  return [value, performance.now() - began]
}
