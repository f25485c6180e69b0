// The numbers of many sites at once are those of each site alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatsService, instantOf, type StatsSite } from '../../src/stats/service.ts'
import { openStores } from '../support/stores.ts'
import { now, openManySites } from './many-sites.ts'

test('visitors, change, days and who is there now are those of each site alone', async () => {
  const { clickhouse, sites, quiet } = await openManySites(
    'site summaries',
    400,
    process.env.FOOTFALL_FULL !== undefined,
  )
  const stats = createStatsService({ cluster: { of: () => clickhouse }, now: () => now, cacheBytes: 0 })
  const { signal } = new AbortController()
  const read = async (report: 'overview' | 'timeseries', site: StatsSite, name: '7d' | '30d') => {
    const parameters = { range: { name }, filters: {}, limit: 10 }
    const request = { report, site, parameters, queueKey: 'test', now: instantOf(site, now) }
    // biome-ignore lint/suspicious/noExplicitAny: two reports
    return (await stats.read(request, signal)).data as any
  }
  let visitorsNow = 0
  for (const name of ['7d', '30d'] as const) {
    const summaries = await stats.readSummaries({ sites, range: { name }, queueKey: 'test', now }, signal)
    assert.equal(summaries.size, sites.length)
    for (const site of sites) {
      const { current, previous, change } = await read('overview', site, name)
      const days = await read('timeseries', site, name)
      const live = { site, filters: {}, queueKey: 'test', now }
      const currentVisitors = await stats.readCurrentVisitors(live, signal)
      visitorsNow += currentVisitors
      assert.deepEqual(
        summaries.get(site.id),
        {
          visitors: current.visitors,
          previousVisitors: previous.visitors,
          change: change.visitors,
          days: days.map(({ visitors }: { visitors: number }) => visitors),
          currentVisitors,
        },
        `${name} ${site.timeZone} ${site.excludedCountries} ${JSON.stringify(site.coverage)}`,
      )
      assert.equal(current.visitors > 0, site.id !== quiet)
    }
  }
  assert.ok(visitorsNow > 0)
})

test('no sites need no statement', async () => {
  const { clickhouse } = await openStores()
  const stats = createStatsService({ cluster: { of: () => clickhouse }, now: () => now, cacheBytes: 0 })
  const request = { sites: [], range: { name: '30d' }, queueKey: 'test', now } as const
  assert.equal((await stats.readSummaries(request, new AbortController().signal)).size, 0)
})
