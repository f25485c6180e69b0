// Numbers that must agree are read as of one instant (D-183), without changing what the API answers.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { StatsParameters, StatsSite } from '../../src/stats/report.ts'
import { instantOf } from '../../src/stats/reports.ts'
import { createStatsService } from '../../src/stats/service.ts'
import type { ClickHouseReader } from '../../src/stores/clickhouse.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { openStores } from '../support/stores.ts'

const noon = Date.parse('2026-03-15T12:00:00Z')
const coverage = {
  versions: [],
  today: null,
  settledThrough: null,
  invalidations: 0,
  eventsFrom: '1970-01-01',
  imported: [],
}
const sevenDays: StatsParameters = { range: { name: '7d' }, filters: {}, limit: 10 }

/** A site with one visitor two seconds before noon and one two seconds after it. */
async function openSite() {
  const { clickhouse } = await openStores()
  const site: StatsSite = {
    id: `site_${randomBytes(8).toString('hex')}`,
    timeZone: 'UTC',
    excludedCountries: [],
    goals: [],
    shard: 1,
    coverage,
  }
  const hits = [
    pageview({ at: '2026-03-15T11:59:58Z', visitor: 'a' }),
    pageview({ at: '2026-03-15T12:00:02Z', visitor: 'b' }),
  ]
  await recordBatch(clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, site.id, 'UTC')) })
  const state = { now: noon, queries: 0 }
  const observed: ClickHouseReader = {
    rows(statement, signal) {
      state.queries++
      return clickhouse.rows(statement, signal)
    },
  }
  const service = createStatsService({ cluster: { of: () => observed }, now: () => state.now, cacheBytes: 1e6 })
  const read = async (now?: number) => {
    const request = { report: 'overview', site, parameters: sevenDays, queueKey: 'somebody' } as const
    const { data, meta, staleMs } = await service.read(
      { ...request, ...(now !== undefined && { now }) },
      new AbortController().signal,
    )
    assert.equal(staleMs, undefined, 'ClickHouse did not answer in time')
    const { current } = data as { current: { visitors: number } }
    return [current.visitors, Date.parse(meta.generated_at) - noon]
  }
  return { state, read }
}

test('the instant is the last full five seconds, or that of the last count of today', () => {
  for (const [now, expected] of [
    [noon, 0],
    [noon + 4_999, 0],
    [noon + 5_000, 5_000],
  ] as const)
    assert.equal(instantOf({ coverage }, now), noon + expected)
  const today = { version: 1, days: ['2026-03-15', '2026-03-15'] as const, asOf: noon - 1_234, parts: [] }
  assert.equal(instantOf({ coverage: { ...coverage, today } }, noon + 50_000), noon - 1_234)
  assert.equal(instantOf({ coverage: { ...coverage, today } }, noon + 60_000), noon + 60_000, 'the count is too old')
})

test('a query counts up to its instant, whatever the time is', async () => {
  const { state, read } = await openSite()
  state.now = noon + 4_000
  assert.deepEqual(await read(noon), [1, 0])
  assert.deepEqual(await read(noon + 3_000), [2, 3_000])
})

test('a response is reused for its instant only, for as long as anybody asks for it', async () => {
  const { state, read } = await openSite()
  await read(noon)
  await read(noon)
  assert.equal(state.queries, 1)
  state.now = noon + 30_000
  assert.deepEqual(await read(noon), [1, 0])
  assert.equal(state.queries, 1)
  assert.deepEqual(await read(noon + 5_000), [2, 5_000])
  assert.equal(state.queries, 2)
})

test('queries for two instants at the same time are two queries', async () => {
  const { state, read } = await openSite()
  const [one, other] = await Promise.all([read(noon), read(noon + 5_000)])
  assert.deepEqual([one, other, state.queries], [[1, 0], [2, 5_000], 2])
})

test('the API never gets an earlier answer after a later one, and never one that is older than five seconds', async () => {
  const { state, read } = await openSite()
  state.now = noon + 3_000
  assert.deepEqual(await read(), [2, 3_000])
  assert.deepEqual(await read(noon), [1, 0], 'a page that began earlier')
  assert.deepEqual(await read(), [2, 3_000], 'is not what the API answers')
  state.now = noon + 8_000
  assert.deepEqual(await read(noon + 5_000), [2, 5_000])
  assert.deepEqual(await read(), [2, 5_000], 'a fresh answer is shared')
  state.now = noon + 10_000
  assert.deepEqual(await read(), [2, 10_000], 'but only for five seconds after its instant')
})
