import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type DemoOptions, generateDemo } from '../../src/demo/generate.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { channels } from '../../src/traffic/channel.ts'
import { isCountryCode } from '../../src/traffic/country.ts'
import { devices } from '../../src/traffic/device.ts'
import { openStores } from '../support/stores.ts'
import { checksumOf, faultsOf, habitsOf } from './site-facts.ts'

const { clickhouse } = await openStores()

async function demo(options: Partial<DemoOptions> & { until?: number } = {}) {
  const site = {
    siteId: `site_${randomUUID()}`,
    zone: 'Europe/Berlin',
    until: Date.parse('2026-07-22T14:23:45Z'),
    ...options,
  }
  const summary = await generateDemo({ clickhouse, domain: 'acme.example', events: 10_000, seed: 1, ...site })
  return { ...site, summary }
}

async function valuesOf(column: 'channel' | 'country' | 'device' | 'hostname', siteId: string): Promise<string[]> {
  const columns = { channel: sql`channel`, country: sql`country`, device: sql`device`, hostname: sql`hostname` }
  const rows = await clickhouse.rows<{ value: string }>(
    sql`SELECT DISTINCT toString(${columns[column]}) AS value FROM events WHERE site_id = ${text(siteId)} ORDER BY value`,
  )
  return rows.map(({ value }) => value)
}

const assertFaultless = async (site: { siteId: string; zone: string; until: number }) => {
  const faults = await faultsOf(clickhouse, site)
  assert.deepEqual(
    Object.entries(faults).filter(([, count]) => count !== 0),
    [],
    site.zone,
  )
  assert.equal(Object.keys(faults).length, 13)
}

test('the same seed gives the same site including all ids, and another seed another site', async () => {
  const { siteId } = await demo()
  const first = await checksumOf(clickhouse, siteId, true)
  await clickhouse.run(sql`DELETE FROM events WHERE site_id = ${text(siteId)}`)
  await demo({ siteId })
  assert.equal(await checksumOf(clickhouse, siteId, true), first)

  const second = await demo()
  assert.equal(await checksumOf(clickhouse, second.siteId, false), await checksumOf(clickhouse, siteId, false))
  assert.notEqual(await checksumOf(clickhouse, second.siteId, true), first, 'two sites have no id in common')

  const other = await demo({ seed: 2 })
  assert.notEqual(await checksumOf(clickhouse, other.siteId, false), await checksumOf(clickhouse, siteId, false))
})

test('the number of events is about the requested one, and the summary reports it', async () => {
  for (const [events, seed] of [
    [10_000, 3],
    [10_000, 4],
    [10_000, 5],
    [40_000, 6],
  ] as const) {
    const { siteId, summary } = await demo({ events, seed })
    assert.ok(Math.abs(summary.events / events - 1) < 0.02, `${summary.events} for ${events}`)
    const { events: recorded, sessions, days } = await habitsOf(clickhouse, siteId)
    assert.deepEqual({ events: recorded, sessions, days }, summary)
  }
})

// Day lengths of 23, 25 and 24.5 hours, days that begin at one o'clock, offsets of 45 minutes, the first zone and the last.
for (const zone of [
  'Europe/Berlin',
  'America/Havana',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
  'Pacific/Niue',
]) {
  test(`traffic in ${zone} looks like recorded traffic`, async () => assertFaultless(await demo({ zone })))
}

test('today is cut at now: after one second, after some hours, and at midnight', async () => {
  for (const until of [
    '2026-07-21T22:00:01Z',
    '2026-07-22T04:00:00Z',
    '2026-07-22T06:30:00Z',
    '2026-07-21T22:00:00Z',
  ]) {
    await assertFaultless(await demo({ until: Date.parse(until) }))
  }
})

test('a larger site is faultless, has every kind of value, and looks realistic', async () => {
  const progress: number[] = []
  const site = await demo({ events: 100_000, onProgress: (done) => progress.push(done) })
  await assertFaultless(site)
  assert.deepEqual(await valuesOf('channel', site.siteId), [...channels].sort())
  assert.deepEqual(await valuesOf('device', site.siteId), [...devices].sort())
  const countries = await valuesOf('country', site.siteId)
  assert.ok(countries.every(isCountryCode) && countries.length > 30)
  assert.deepEqual(await valuesOf('hostname', site.siteId), ['blog.acme.example', 'www.acme.example'])

  const habits = await habitsOf(clickhouse, site.siteId)
  const within = (name: keyof typeof habits, low: number, high: number) =>
    assert.ok(habits[name] >= low && habits[name] <= high, `${name} ${habits[name]}`)
  within('bounceRate', 0.45, 0.55)
  within('viewsPerSession', 2, 3)
  within('seconds', 60, 180)
  within('withCustomEvents', 0.05, 0.08)
  within('sessionsPerVisitor', 1.1, 1.2)

  assert.equal(progress[0], 0)
  assert.equal(progress.at(-1), 100_000)
  assert.ok(progress.length > 2)
  assert.deepEqual(
    progress,
    [...progress].sort((one, other) => one - other),
  )
})

test('tags, browsers, properties and revenue are where they belong', async () => {
  const shape = { paths: 80, countries: 30, referrers: 40, utmSources: 40, customEvents: 30, hostnames: 1 }
  const { siteId } = await demo({ events: 40_000, shape })
  const [row] = await clickhouse.rows(sql`
    SELECT
      countIf((utm_source = '') != (utm_medium = '')) AS medium_without_source,
      countIf((utm_source = '') != (utm_campaign = '')) AS campaign_without_source,
      countIf(utm_source = '' AND (utm_content != '' OR utm_term != '')) AS tags_without_source,
      countIf(os = '' OR browser = '') AS without_family,
      countIf((device = 'Unknown') != (browser = 'Unknown') OR (browser = 'Unknown') != (os = 'Unknown')) AS unknown_families,
      countIf(device = 'Desktop' AND os IN ('iOS', 'Android')) AS pockets_on_desks,
      countIf(device IN ('Mobile', 'Tablet') AND os NOT IN ('iOS', 'Android')) AS desks_in_pockets,
      countIf((name IN ('purchase', 'upgrade')) != (revenue > 0)) AS wrong_revenue,
      countIf((revenue > 0) != (currency != '')) AS revenue_or_currency,
      countIf(name = 'pageview' AND notEmpty(props)) AS props_of_pageviews,
      countIf(import_id != 0) AS imported
    FROM events WHERE site_id = ${text(siteId)}`)
  assert.deepEqual(
    Object.entries(row as object).filter(([, count]) => count !== 0),
    [],
  )
  const [values] = await clickhouse.rows<Record<string, string[]>>(sql`
    SELECT
      arraySort(groupUniqArray(os)) AS systems,
      arraySort(groupUniqArrayIf(props['plan'], name = 'signup')) AS plans,
      arraySort(groupUniqArrayIf(currency, currency != '')) AS currencies,
      if(uniqExact(utm_campaign) > 10 AND uniqExact(utm_content) > 5 AND uniqExact(utm_term) > 5, ['varied'], ['dull']) AS tags
    FROM events WHERE site_id = ${text(siteId)}`)
  assert.deepEqual(values, {
    systems: ['Android', 'Chrome OS', 'Linux', 'Unknown', 'Windows', 'iOS', 'macOS'],
    plans: ['enterprise', 'free', 'pro', 'team'],
    currencies: ['CHF', 'EUR', 'GBP', 'INR', 'JPY', 'USD'],
    tags: ['varied'],
  })
})

test('a custom shape is used', async () => {
  const shape = { paths: 3_000, countries: 2, referrers: 200, utmSources: 20, customEvents: 30, hostnames: 3 }
  const { siteId } = await demo({ events: 100_000, shape })
  assert.deepEqual(await valuesOf('country', siteId), ['IN', 'US'])
  assert.deepEqual(await valuesOf('hostname', siteId), ['blog.acme.example', 'shop.acme.example', 'www.acme.example'])
  const [row] = await clickhouse.rows<{ paths: number; referrers: number; sources: number; names: number }>(sql`
    SELECT
      uniqExact(pathname) AS paths,
      uniqExactIf(referrer, referrer != '') AS referrers,
      uniqExactIf(utm_source, utm_source != '') AS sources,
      uniqExactIf(name, name != 'pageview') AS names
    FROM events WHERE site_id = ${text(siteId)}`)
  assert.ok(row!.paths > 2_900 && row!.paths <= 3_000, `${row!.paths} paths`)
  assert.ok(row!.referrers > 180 && row!.referrers <= 200, `${row!.referrers} referrers`)
  assert.equal(row!.sources, 20)
  assert.equal(row!.names, 30)
})

test('a signal ends the work between two steps', async () => {
  const leave = new AbortController()
  const siteId = `site_${randomUUID()}`
  const onProgress = (done: number) => {
    if (done > 0) leave.abort()
  }
  await assert.rejects(demo({ siteId, events: 100_000, onProgress, signal: leave.signal }), { name: 'AbortError' })
  const { events } = await habitsOf(clickhouse, siteId)
  assert.ok(events > 0 && events < 90_000, `${events}`)
})

test('impossible requests are refused', async () => {
  for (const wrong of [{ events: 0 }, { events: 1.5 }, { seed: -1 }, { seed: 0.5 }, { zone: 'Nowhere/Land' }]) {
    await assert.rejects(demo(wrong), RangeError)
  }
})
