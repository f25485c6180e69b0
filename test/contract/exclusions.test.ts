import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReportName } from '../../src/stats/reports.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import { custom, type Hit, pageview } from '../support/events.ts'
import { openWorld, type World } from '../support/world.ts'
import { noon, reportNames } from './vocabulary.ts'

/** Traffic from one country in both windows of 7d. Only France has this page, referrer, event and source. */
function traffic(country: CountryCode): Hit[] {
  const own = country.toLowerCase()
  const first = { country, visitor: `${country} 1`, referrer: `${own}.example`, utmSource: own, pathname: `/${own}` }
  const second = { country, visitor: `${country} 2`, referrer: 'news.example', utmSource: 'news', pathname: '/' }
  return [
    pageview({ ...first, at: '2026-11-14T10:00:00Z', channel: 'Referral', device: 'Mobile' }),
    custom(`in ${own}`, { ...first, at: '2026-11-14T10:00:20Z', channel: 'Referral', device: 'Mobile' }),
    pageview({ ...second, at: '2026-11-14T10:00:00Z', channel: 'Organic Search' }),
    custom('signup', { ...second, at: '2026-11-14T10:00:10Z', channel: 'Organic Search' }),
    pageview({ ...second, at: '2026-11-12T10:00:00Z', channel: 'Organic Search' }),
    pageview({ ...second, at: '2026-11-04T10:00:00Z', channel: 'Organic Search' }),
  ]
}

const query = 'range=7d&limit=100'

async function readAll(world: World, filter = ''): Promise<Record<ReportName, unknown>> {
  const all: Partial<Record<ReportName, unknown>> = {}
  for (const name of reportNames) all[name] = await world.data(`/stats/${name}`, query + filter)
  return all as Record<ReportName, unknown>
}

/** Every count of every report by its path: `pages / views`, `overview current sessions`, … */
function countsOf(all: Record<ReportName, unknown>): Map<string, number> {
  const additive = ['visitors', 'pageviews', 'views', 'count', 'sessions']
  const counts = new Map<string, number>()
  const add = (place: string, record: Record<string, unknown>) => {
    for (const metric of additive) if (metric in record) counts.set(`${place} ${metric}`, Number(record[metric]))
  }
  const overview = all.overview as Record<'current' | 'previous', Record<string, unknown>>
  for (const period of ['current', 'previous'] as const) add(`overview ${period}`, overview[period])
  for (const name of reportNames.filter((report) => report !== 'overview')) {
    for (const row of all[name] as Record<string, unknown>[]) add(`${name} ${Object.values(row)[0]}`, row)
  }
  return counts
}

test('an excluded country disappears from every report, including the previous period', async (t) => {
  const hidden = await openWorld(t, { now: noon, excludedCountries: ['FR'] })
  const never = await openWorld(t, { now: noon })
  await hidden.record(...traffic('DE'), ...traffic('FR'))
  await never.record(...traffic('DE'))
  assert.deepEqual(await readAll(hidden), await readAll(never))
})

test('excluding lowers every count by exactly what ?country= showed, and including again restores it', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(...traffic('DE'), ...traffic('FR'), ...traffic('ZZ'))
  const whole = await readAll(world)
  const french = countsOf(await readAll(world, '&country=FR'))
  await world.excludeCountries(['FR'])
  const rest = countsOf(await readAll(world))
  for (const [place, count] of countsOf(whole))
    assert.equal(rest.get(place) ?? 0, count - (french.get(place) ?? 0), place)
  await world.excludeCountries([])
  assert.deepEqual(await readAll(world), whole)
})

test('a row that falls to zero disappears, but a day stays', async (t) => {
  const world = await openWorld(t, { now: noon, excludedCountries: ['FR'] })
  await world.record(...traffic('DE'), ...traffic('FR'))
  const { timeseries, overview, ...lists } = await readAll(world)
  assert.doesNotMatch(JSON.stringify(lists), /France|\/fr|fr\.example|in fr|"fr"/)
  assert.equal((timeseries as unknown[]).length, 7)
})

const emptyOverview = {
  current: { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 },
  previous: { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 },
  change: { visitors: null, pageviews: null, sessions: null, bounce_rate: null, avg_duration: null },
}

test('a filter on an excluded country returns 200 without data', async (t) => {
  const world = await openWorld(t, { now: noon, excludedCountries: ['FR', 'US'] })
  await world.record(...traffic('FR'), ...traffic('DE'))
  const { overview, timeseries, ...lists } = await readAll(world, '&country=fr')
  assert.deepEqual(overview, emptyOverview)
  assert.deepEqual(
    timeseries,
    ['09', '10', '11', '12', '13', '14', '15'].map((day) => ({ date: `2026-11-${day}`, visitors: 0, pageviews: 0 })),
  )
  for (const [name, list] of Object.entries(lists)) assert.deepEqual(list, [], name)
})

test('the unknown country can be excluded like any other', async (t) => {
  const world = await openWorld(t, { now: noon, excludedCountries: ['ZZ'] })
  await world.record(...traffic('ZZ'), ...traffic('DE'))
  assert.deepEqual(await world.data('/stats/geo', query), [{ name: 'Germany', visitors: 3 }])
})

test('excluding every country leaves no data', async (t) => {
  const world = await openWorld(t, { now: noon, excludedCountries: ['DE', 'FR'] })
  await world.record(...traffic('FR'), ...traffic('DE'))
  assert.deepEqual((await readAll(world)).overview, emptyOverview)
})

test('no parameter lifts an exclusion', async (t) => {
  const world = await openWorld(t, { now: noon, excludedCountries: ['FR'] })
  await world.record(...traffic('FR'))
  for (const parameter of ['excluded_countries=', 'exclude=none', 'include=FR', 'country=FR'])
    assert.deepEqual(await world.data('/stats/geo', `${query}&${parameter}`), [], parameter)
})

test('the exclusions of one site do not affect other sites', async (t) => {
  const world = await openWorld(t, { now: noon })
  const other = await openWorld(t, { now: noon, excludedCountries: ['FR'] })
  await world.record(...traffic('FR'))
  await other.record(...traffic('FR'))
  assert.deepEqual(await world.data('/stats/geo', query), [{ name: 'France', visitors: 3 }])
  assert.deepEqual(await other.data('/stats/geo', query), [])
})
