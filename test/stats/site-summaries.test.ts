// The numbers of many sites at once are those of each site alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatsSite } from '../../src/stats/report.ts'
import { instantOf } from '../../src/stats/reports.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { siteSummaries } from '../../src/stats/site-summaries.ts'
import { openStores } from '../support/stores.ts'
import { now, openManySites } from './many-sites.ts'

const lastHours = { range: { name: '24h' }, filters: {}, limit: 0 } as const
const parameters = { range: { name: '30d' }, filters: {}, limit: 200 } as const
const request = { report: siteSummaries, parameters, queueKey: 'test', now }

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
    const { data } = await stats.readSites(
      { ...request, sites, parameters: { ...request.parameters, range: { name } } },
      signal,
    )
    assert.equal(data.length, sites.length)
    for (const [index, site] of sites.entries()) {
      const { current, previous, change } = await read('overview', site, name)
      const days = await read('timeseries', site, name)
      const live = { report: 'currentVisitors', site, parameters: lastHours, queueKey: 'test', now } as const
      const currentVisitors = (await stats.read(live, signal)).data as number
      visitorsNow += currentVisitors
      assert.deepEqual(
        data[index],
        {
          site_id: site.id,
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
  const { data } = await stats.readSites({ ...request, sites: [] }, new AbortController().signal)
  assert.deepEqual(data, [])
})
