// The query service as all callers use it: without HTTP and without accounts, on real ClickHouse.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../src/errors.ts'
import { readFields } from '../../src/stats/questions/parameters.ts'
import type { StatsParameters, StatsSite } from '../../src/stats/report.ts'
import { type ReportName, reports, type StatsRequest } from '../../src/stats/reports.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { siteSummaries } from '../../src/stats/site-summaries.ts'
import type { Fields } from '../../src/stats/source.ts'
import { Unavailable } from '../../src/stores/breaker.ts'
import type { ClickHouseReader } from '../../src/stores/clickhouse.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openStores } from '../support/stores.ts'

const noon = Date.parse('2026-03-15T12:00:00Z')
const sevenDays: StatsParameters = { range: { name: '7d' }, filters: {}, limit: 10 }
const coverage = {
  versions: [],
  today: null,
  settledThrough: null,
  invalidations: 0,
  eventsFrom: '1970-01-01',
  imported: [],
}

const wanted = () => new AbortController().signal

/** A site with two visitors, and a service that counts its queries and can be made to wait or to fail. */
async function openService({ cacheBytes = 1e6 } = {}) {
  const { clickhouse } = await openStores()
  const site: StatsSite = {
    id: `site_${randomBytes(8).toString('hex')}`,
    timeZone: 'Europe/Berlin',
    excludedCountries: [],
    goals: [],
    shard: 1,
    coverage,
  }
  const hits = [
    pageview({ at: '2026-03-14T10:00:00Z', visitor: 'a', pathname: '/one' }),
    pageview({ at: '2026-03-14T11:00:00Z', visitor: 'b', pathname: '/two', country: 'FR' }),
  ]
  await recordBatch(clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, site.id, site.timeZone)) })

  const state = { now: noon, queries: 0, running: 0, aborted: 0, gate: Promise.resolve() }
  const observed: ClickHouseReader = {
    async rows(statement, signal) {
      state.queries++
      state.running++
      signal?.addEventListener('abort', () => state.aborted++)
      try {
        await state.gate
        return await clickhouse.rows(statement, signal)
      } finally {
        state.running--
      }
    },
  }
  const service = createStatsService({ cluster: { of: () => observed }, now: () => state.now, cacheBytes })

  function read(options: {
    report?: StatsRequest['report']
    parameters?: Partial<StatsParameters>
    site?: Partial<StatsSite>
    queueKey?: string
    now?: number
    signal?: AbortSignal
  }) {
    const { report = 'overview', queueKey = 'somebody', now, signal = wanted() } = options
    const parameters = { ...sevenDays, ...options.parameters }
    const request = { report, site: { ...site, ...options.site }, parameters, queueKey }
    return service.read({ ...request, ...(now !== undefined && { now }) }, signal)
  }

  /** Queries wait from now on, until the returned function is called. */
  function holdQueries(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    state.gate = promise
    return resolve
  }

  return { state, site, service, read, holdQueries }
}

test('a result has the data as a value and as text, its periods, and the number of all rows when the limit cut them', async () => {
  const { site, read } = await openService()
  const overview = await read({})
  const nothing = { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 }
  const unknown = { visitors: null, pageviews: null, sessions: null, bounce_rate: null, avg_duration: null }
  const data = {
    current: { visitors: 2, pageviews: 2, sessions: 2, bounce_rate: 100, avg_duration: 0 },
    previous: nothing,
    change: unknown,
  }
  const meta = { site_id: site.id, range: '7d', generated_at: '2026-03-15T12:00:00.000Z' }
  assert.deepEqual(overview.data, data)
  assert.deepEqual(JSON.parse(overview.json), { data, meta })
  assert.deepEqual(overview.meta, meta)
  assert.equal(overview.period, '2026-03-09T00:00:00+01:00/2026-03-15T13:00:00+01:00')
  assert.equal(overview.previousPeriod, '2026-03-02T00:00:00+01:00/2026-03-08T13:00:00+01:00')
  assert.deepEqual([overview.totalRows, overview.staleMs, overview.warnings], [undefined, undefined, []])

  const pages = await read({ report: 'pages', parameters: { limit: 1 } })
  assert.deepEqual(pages.data, [{ pathname: '/one', title: '', views: 1, visitors: 1 }])
  assert.deepEqual([pages.meta.limit, pages.totalRows, pages.previousPeriod], [1, 2, undefined])
})

test('every report can be read, and its identity depends on the query and the numbers', async () => {
  const { state, read } = await openService({ cacheBytes: 0 })
  const identities = new Set<string>()
  for (const report of Object.keys(reports) as ReportName[]) {
    const { identity } = await read({ report })
    state.now += 1_000
    assert.equal((await read({ report })).identity, identity, report)
    identities.add(identity)
  }
  identities.add((await read({ parameters: { filters: { country: 'FR' } } })).identity)
  identities.add((await read({ site: { excludedCountries: ['FR'] } })).identity)
  assert.equal(identities.size, Object.keys(reports).length + 2)
})

test('a range that is too long is refused without a query', async () => {
  const { state, read } = await openService()
  const firstDay = Temporal.PlainDate.from('1900-01-01')
  const range = { name: 'custom', firstDay, lastDay: Temporal.PlainDate.from('2026-01-01') } as const
  await assert.rejects(
    read({ parameters: { range } }),
    (error) => error instanceof ApiError && error.code === 'invalid_date',
  )
  assert.equal(state.queries, 0)
})

test('identical requests of any caller share one query; another parameter is another query', async () => {
  const { state, read, holdQueries } = await openService()
  const release = holdQueries()
  const same = ['a', 'a', 'b'].map((queueKey) => read({ queueKey }))
  const other = read({ parameters: { filters: { country: 'FR' } } })
  await eventually(async () => assert.equal(state.running, 2))
  release()
  const results = await Promise.all(same)
  assert.equal(state.queries, 2)
  assert.equal(new Set(results.map(({ json }) => json)).size, 1)
  assert.notEqual((await other).json, results[0]?.json)
})

test('a cached result is returned for five seconds, unless the state of the site changes', async () => {
  const { state, read } = await openService()
  const first = await read({})
  state.now += 4_999
  assert.equal((await read({ queueKey: 'another' })).json, first.json)
  assert.equal(state.queries, 1)
  await read({ site: { coverage: { ...coverage, invalidations: 1 } } })
  assert.equal(state.queries, 2)
  state.now += 5_000
  assert.equal(
    (await read({ site: { coverage: { ...coverage, invalidations: 1 } } })).meta.generated_at,
    '2026-03-15T12:00:09.999Z',
  )
  assert.equal(state.queries, 3)
})

test('a result about settled days stays cached', async () => {
  const { state, read } = await openService()
  const firstDay = Temporal.PlainDate.from('2026-03-10')
  const range = { name: 'custom', firstDay, lastDay: Temporal.PlainDate.from('2026-03-14') } as const
  const request = { parameters: { range }, site: { coverage: { ...coverage, settledThrough: '2026-03-14' } } }
  const first = await read(request)
  state.now += 3_600_000
  assert.equal((await read(request)).json, first.json)
  assert.equal(state.queries, 1)
  // Until an import adds daily sums to one of the days.
  const days = [['2026-03-12', '2026-03-12']] as const
  const imported = [{ list: 'total', metrics: ['visitors', 'pageviews'], days, version: '1' }]
  await read({ ...request, site: { coverage: { ...request.site.coverage, imported } } })
  assert.equal(state.queries, 2)
})

test('without memory for a cache every request has its own query', async () => {
  const { state, read, holdQueries } = await openService({ cacheBytes: 0 })
  const release = holdQueries()
  const both = [read({}), read({})]
  await eventually(async () => assert.equal(state.running, 2))
  release()
  await Promise.all(both)
  await read({})
  assert.equal(state.queries, 3)
})

test('while ClickHouse is down the last result is returned with its age, for ten minutes', async () => {
  for (const cacheBytes of [0, 1e6]) {
    const { state, read } = await openService({ cacheBytes })
    const first = await read({})
    state.gate = Promise.reject(new Unavailable('ClickHouse'))
    state.gate.catch(() => {})
    state.now += 75_000
    const again = await read({})
    assert.deepEqual([again.json, again.staleMs], [first.json, 75_000])
    assert.deepEqual(again.data, first.data)
    await assert.rejects(read({ parameters: { limit: 9 } }), Unavailable, 'another query has no last result')
    state.now += 600_000
    await assert.rejects(read({}), Unavailable)
    state.gate = Promise.resolve()
    assert.equal((await read({})).staleMs, undefined)
  }
})

test('current visitors are cached for their instant, but not repeated while ClickHouse is down', async () => {
  const { state, read } = await openService()
  const request = { report: 'currentVisitors', parameters: { range: { name: '24h' } }, now: noon } as const
  const first = await read(request)
  state.now += 4_000
  assert.deepEqual((await read({ ...request, queueKey: 'another' })).data, first.data)
  assert.equal(state.queries, 1)
  await read({ ...request, now: noon + 5_000 })
  assert.equal(state.queries, 2)
  state.gate = Promise.reject(new Unavailable('ClickHouse'))
  state.gate.catch(() => {})
  await assert.rejects(read({ ...request, now: noon + 10_000 }), Unavailable)
})

test('summaries of many sites are cached for their instant, but not repeated while ClickHouse is down', async () => {
  const { state, site, service } = await openService()
  const sites = [{ ...site, domain: 'a.example' }]
  const read = (now: number, some = sites) =>
    service.readSites(
      { report: siteSummaries, sites: some, parameters: sevenDays, queueKey: 'somebody', now },
      wanted(),
    )
  const first = await read(noon + 1)
  assert.deepEqual(
    first.data.map(({ visitors, currentVisitors }) => [visitors, currentVisitors]),
    [[2, 0]],
  )
  assert.equal(state.queries, 2)
  assert.equal((await read(noon + 4_999)).json, first.json)
  assert.equal(state.queries, 2)
  await read(noon + 4_999, [{ ...site, domain: 'a.example', excludedCountries: ['FR'] }])
  assert.equal(state.queries, 4)
  await read(noon + 5_000)
  assert.equal(state.queries, 6)
  state.gate = Promise.reject(new Unavailable('ClickHouse'))
  state.gate.catch(() => {})
  await assert.rejects(read(noon + 10_000), Unavailable)
})

test('an error that is not an outage never returns an old result', async () => {
  const { state, read } = await openService()
  await read({})
  state.now += 5_000
  state.gate = Promise.reject(new Error('a bug'))
  state.gate.catch(() => {})
  await assert.rejects(read({}), /a bug/)
})

test('a query continues when one of its callers aborts and is cancelled when the last one does', async () => {
  const { state, read, holdQueries } = await openService()
  const release = holdQueries()
  const first = new AbortController()
  const second = new AbortController()
  const reads = [first, second].map(({ signal }) => read({ signal }))
  await eventually(async () => assert.equal(state.running, 1))
  first.abort(new Error('gone'))
  await assert.rejects(reads[0] as Promise<unknown>, /gone/)
  assert.equal(state.aborted, 0)
  second.abort(new Error('gone too'))
  await assert.rejects(reads[1] as Promise<unknown>, /gone too/)
  assert.equal(state.aborted, 1)

  const again = read({}) // starts a new query instead of joining the cancelled one
  await eventually(async () => assert.equal(state.queries, 2))
  release()
  assert.equal((await again).staleMs, undefined)
})

test('one queue key runs four queries at once, and others do not wait for it', async () => {
  const { state, read, holdQueries } = await openService()
  const release = holdQueries()
  const limits = Array.from({ length: 10 }, (_, index) => index + 1)
  const burst = limits.map((limit) => read({ parameters: { limit }, queueKey: 'busy' }))
  const leaving = new AbortController()
  const waiting = read({ parameters: { limit: 11 }, queueKey: 'busy', signal: leaving.signal })
  await eventually(async () => assert.equal(state.running, 4))
  const other = read({ parameters: { limit: 12 }, queueKey: 'quiet' })
  await eventually(async () => assert.equal(state.running, 5))
  await sleep(50)
  assert.equal(state.running, 5)
  leaving.abort(new Error('waited too long'))
  await assert.rejects(waiting, /waited too long/)
  release()
  await Promise.all([...burst, other])
  assert.equal(state.queries, 11, 'the aborted one was never run')
})

test('an account asks one question about single visits at a time, and what reports know does not wait for it', async () => {
  const { state, site, service, holdQueries } = await openService()
  const ask = (fields: Fields) =>
    service.ask(
      { site, question: readFields(fields, { kind: 'totals', goals: [], maxLimit: 1 }).question, queueKey: 'somebody' },
      wanted(),
    )
  const release = holdQueries()
  const slow = [ask([['filter', 'page:is:/one']]), ask([['filter', 'page:is:/two']])]
  await eventually(async () => assert.equal(state.running, 1))
  const quick = [ask([]), ask([['filter', 'country:is:FR']])]
  await eventually(async () => assert.equal(state.running, 3))
  await sleep(50)
  assert.equal(state.running, 3)
  release()
  await Promise.all([...slow, ...quick])
  assert.equal(state.queries, 4)
})

test('a process runs sixteen queries at once', async () => {
  const { state, read, holdQueries } = await openService()
  const release = holdQueries()
  const keys = Array.from({ length: 6 }, (_, index) => `key ${index}`)
  const reads = keys.flatMap((queueKey, at) =>
    Array.from({ length: 4 }, (_, index) => read({ parameters: { limit: at * 4 + index + 1 }, queueKey })),
  )
  await eventually(async () => assert.equal(state.running, 16))
  await sleep(50)
  assert.equal(state.running, 16)
  release()
  await Promise.all(reads)
  assert.equal(state.queries, 24)
})
