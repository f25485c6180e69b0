import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { importSums } from '../../src/importing/sums/job.ts'
import { plausible } from '../../src/importing/sums/plausible.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { startApiProcess } from '../support/api-process.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { type Installation, install } from '../support/installation.ts'
import { zipOf } from './zip.ts'

let installation: Installation
let postgres: Postgres
let folder: string
before(async () => {
  installation = await install()
  postgres = openPostgres(installation.addresses.postgres, 1)
  folder = mkdtempSync(join(tmpdir(), 'footfall-sums-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await postgres.end()
  await installation.remove()
})

function fileOf(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** Three days of Plausible's export, made by hand. 3 March has no visits, so no file has a row of it. */
const exported = (days = '20250301_20250304') => ({
  [`imported_visitors_${days}.csv`]: [
    'date,visitors,pageviews,bounces,visits,visit_duration',
    '2025-03-01,10,25,4,12,600',
    '2025-03-02,20,30,15,20,100',
    '2025-03-04,1,1,1,1,0',
  ],
  [`imported_pages_${days}.csv`]: [
    'date,hostname,page,visits,visitors,pageviews,total_scroll_depth,total_scroll_depth_visits',
    '2025-03-01,sums.example,/,12,10,20,0,0',
    '2025-03-01,sums.example,/a,3,3,5,0,0',
    '2025-03-02,sums.example,/,20,20,30,0,0',
    '2025-03-04,sums.example,/a,1,1,1,0,0',
  ],
  [`imported_entry_pages_${days}.csv`]: [
    'date,entry_page,visitors,entrances,visit_duration,bounces,pageviews',
    '2025-03-01,/,10,12,600,4,25',
    '2025-03-02,/,20,20,100,15,30',
  ],
  [`imported_exit_pages_${days}.csv`]: [
    'date,exit_page,visitors,visit_duration,exits,bounces,pageviews',
    '2025-03-01,/a,3,200,3,0,9',
  ],
  [`imported_sources_${days}.csv`]: [
    'date,source,referrer,utm_source,utm_medium,utm_campaign,utm_content,utm_term,pageviews,visitors,visits,visit_duration,bounces',
    '2025-03-01,Google,www.google.com/,,,,,,10,5,6,300,2',
    '2025-03-01,Hacker News,news.ycombinator.com/item,,,,,,5,2,2,100,1',
    '2025-03-01,News,,News,email,"Spring, ""25""",,,4,2,2,100,1',
    '2025-03-01,,,,,,,,6,1,2,100,0',
    '2025-03-02,,,,,,,,30,20,20,100,15',
  ],
  [`imported_locations_${days}.csv`]: [
    'date,country,region,city,visitors,visits,visit_duration,bounces,pageviews',
    '2025-03-01,DE,DE-BE,2950159,4,5,300,1,10',
    '2025-03-01,DE,DE-HH,2911298,2,2,100,1,5',
    '2025-03-01,US,US-CA,5391959,3,4,150,2,8',
    '2025-03-02,US,,0,19,19,100,14,28',
  ],
  [`imported_devices_${days}.csv`]: [
    'date,device,visitors,visits,visit_duration,bounces,pageviews',
    '2025-03-01,Desktop,4,5,300,1,12',
    '2025-03-01,Laptop,3,4,200,1,8',
    '2025-03-01,Mobile,3,3,100,2,5',
    '2025-03-02,Mobile,20,20,100,15,30',
    '2025-03-04,,1,1,0,1,1',
  ],
  [`imported_browsers_${days}.csv`]: [
    'date,browser,browser_version,visitors,visits,visit_duration,bounces,pageviews',
    '2025-03-01,Chrome,133.0,6,7,300,2,15',
    '2025-03-01,Chrome,134.0,2,2,200,1,5',
    '2025-03-01,Mobile App,,2,3,100,1,5',
    '2025-03-02,Firefox,130.0,20,20,100,15,30',
  ],
  [`imported_operating_systems_${days}.csv`]: [
    'date,operating_system,operating_system_version,visitors,visits,visit_duration,bounces,pageviews',
    '2025-03-01,GNU/Linux,,10,12,600,4,25',
    '2025-03-02,Mac,15,20,20,100,15,30',
  ],
  [`imported_custom_events_${days}.csv`]: [
    'date,name,link_url,path,visitors,events',
    '2025-03-01,Signup,,,2,2',
    '2025-03-01,Outbound Link: Click,https://a.example/,,1,3',
    '2025-03-01,Outbound Link: Click,https://b.example/,,1,1',
    '2025-03-01,engagement,,,9,90',
  ],
})

const archiveOf = (files: Readonly<Record<string, readonly string[]>>, deflated = true): Buffer =>
  zipOf(Object.fromEntries(Object.entries(files).map(([name, lines]) => [name, `${lines.join('\n')}\n`])), deflated)

const march = { range: 'custom', start: '2025-03-01', end: '2025-03-05' }

async function openSite(t: TestContext, domain: string, ...options: string[]) {
  const { id } = (await installation.json('site', 'create', domain, ...options)) as { id: string }
  const { key } = (await installation.json('key', 'create', domain)) as { key: string }
  const api = await startApiProcess(installation.addresses)
  t.after(() => api.stop())
  async function get(path: string, parameters: Record<string, string> = march) {
    const answer = await fetch(`${api.url}/api${path}?${new URLSearchParams(parameters)}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    const json = (await answer.json()) as { data: unknown }
    assert.equal(answer.status, 200, JSON.stringify(json))
    return { data: json.data, warning: answer.headers.get('stats-warning') }
  }
  return {
    id,
    domain,
    get,
    data: async (path: string, parameters?: Record<string, string>) => (await get(path, parameters)).data,
    /** As the tracker does. */
    async record(...hits: Hit[]): Promise<void> {
      const clickhouse = openClickHouse(installation.addresses.clickhouse)
      const events = hits.map((hit) => eventOf(hit, id, 'UTC'))
      await recordBatch(clickhouse, { id: events[0]?.eventId ?? '', events })
      await invalidateDays(postgres, events)
      await clickhouse.close()
    },
    rows: async () => {
      const clickhouse = openClickHouse(installation.addresses.clickhouse)
      const [row] = await clickhouse.rows<{ rows: number }>(
        sql`SELECT count() AS rows FROM imported_sums WHERE site_id = ${text(id)}`,
      )
      await clickhouse.close()
      return row?.rows
    },
  }
}

const days = '2025-03-01 to 2025-03-02, 2025-03-04'

test('an export of Plausible: every list of v1, its numbers worked out by hand', async (t) => {
  const { domain, data, get } = await openSite(t, 'sums.example')
  const outcome = await installation.json('import', domain, fileOf('export.zip', archiveOf(exported())))
  assert.deepEqual([outcome.imported, outcome.lines, outcome.days], ['whole', 33, 3])
  assert.deepEqual(outcome.leftOut, { 'events that the product records by itself': 1 })

  const { data: overview, warning } = await get('/v1/stats/overview')
  assert.deepEqual((overview as { current: unknown }).current, {
    visitors: 31,
    pageviews: 56,
    sessions: 33,
    bounce_rate: 61,
    avg_duration: 21,
  })
  assert.equal(warning, `${days} are imported as daily sums of another product, which counts in its own way`)
  assert.deepEqual(await data('/v1/stats/timeseries'), [
    { date: '2025-03-01', visitors: 10, pageviews: 25 },
    { date: '2025-03-02', visitors: 20, pageviews: 30 },
    { date: '2025-03-03', visitors: 0, pageviews: 0 },
    { date: '2025-03-04', visitors: 1, pageviews: 1 },
    { date: '2025-03-05', visitors: 0, pageviews: 0 },
  ])
  assert.deepEqual(await data('/v1/stats/pages'), [
    { pathname: '/', title: '', views: 50, visitors: 30 },
    { pathname: '/a', title: '', views: 6, visitors: 4 },
  ])
  assert.deepEqual(await data('/v1/stats/referrers'), [
    { referrer: 'google.com', views: 10, visitors: 5 },
    { referrer: 'news.ycombinator.com', views: 5, visitors: 2 },
  ])
  assert.deepEqual(await data('/v1/stats/channels'), [
    { channel: 'Direct', visitors: 21, percentage: 68 },
    { channel: 'Organic Search', visitors: 5, percentage: 16 },
    { channel: 'Email', visitors: 2, percentage: 6 },
    { channel: 'Organic Social', visitors: 2, percentage: 6 },
  ])
  assert.deepEqual(await data('/v1/stats/geo'), [
    { name: 'United States', visitors: 22 },
    { name: 'Germany', visitors: 6 },
  ])
  assert.deepEqual(await data('/v1/stats/devices'), [
    { name: 'Mobile', visitors: 23 },
    { name: 'Desktop', visitors: 7 },
    { name: 'Unknown', visitors: 1 },
  ])
  assert.deepEqual(await data('/v1/stats/events'), [
    { name: 'Outbound Link: Click', count: 4, visitors: 2 },
    { name: 'Signup', count: 2, visitors: 2 },
  ])
  assert.deepEqual(await data('/v1/stats/utm'), [{ name: 'News', visitors: 2 }])
  const sites = (await data('/v1/sites/overview')) as { current: object }[]
  assert.deepEqual(sites[0]?.current, (overview as { current: unknown }).current)
})

test('questions of version 2 about one list of an export', async (t) => {
  const { domain, data } = await openSite(t, 'questions.example')
  await installation.json('import', domain, fileOf('questions.zip', archiveOf(exported(), false)))
  const by = (list: string, metrics: string) => data('/v2/stats/breakdown', { ...march, by: list, metrics })
  assert.deepEqual(await by('browser', 'visitors,sessions,bounce_rate'), [
    { browser: 'Firefox', visitors: 20, sessions: 20, bounce_rate: 75 },
    { browser: 'Chrome', visitors: 8, sessions: 9, bounce_rate: 33 },
    { browser: 'Mobile App', visitors: 2, sessions: 3, bounce_rate: 33 },
  ])
  assert.deepEqual(await by('os', 'visitors,pageviews'), [
    { os: 'macOS', visitors: 20, pageviews: 30 },
    { os: 'Linux', visitors: 10, pageviews: 25 },
  ])
  assert.deepEqual(await by('entry_page', 'sessions,avg_duration'), [
    { entry_page: '/', sessions: 32, avg_duration: 22 },
  ])
  assert.deepEqual(await by('exit_page', 'visitors,sessions'), [{ exit_page: '/a', visitors: 3, sessions: 3 }])
  assert.deepEqual(
    await by('referrer', 'visitors'),
    [
      { referrer: 'google.com', visitors: 5 },
      { referrer: 'news.ycombinator.com', visitors: 2 },
      { referrer: null, visitors: 23 },
    ].toSorted((one, other) => other.visitors - one.visitors),
  )
  assert.deepEqual(await by('utm_campaign', 'visitors'), [
    { utm_campaign: null, visitors: 28 },
    { utm_campaign: 'Spring, "25"', visitors: 2 },
  ])
  assert.deepEqual(await by('device', 'visitors'), [
    { device: 'mobile', visitors: 23 },
    { device: 'desktop', visitors: 7 },
    { device: 'unknown', visitors: 1 },
  ])
  assert.deepEqual(await data('/v2/stats/timeseries', { ...march, interval: 'month' }), [
    { date: '2025-03-01', visitors: 31, pageviews: 56 },
  ])
  const compared = { ...march, start: '2025-03-02', end: '2025-03-02', compare: 'previous', metrics: 'visitors' }
  assert.deepEqual(await data('/v2/stats/totals', compared), {
    visitors: 20,
    previous: { visitors: 10 },
    change: { visitors: 100 },
  })
})

test('what imported days cannot answer leaves them out, and the warning names them and the reason', async (t) => {
  const { domain, data, get, record } = await openSite(t, 'warned.example')
  await installation.json('import', domain, fileOf('warned.zip', archiveOf(exported())))
  await record({ at: '2025-03-03T10:00:00Z', pathname: '/own', country: 'DE' })
  const visitorsOf = async (path: string, parameters: Record<string, string>) => {
    const { data, warning } = await get(path, parameters)
    const rows = Array.isArray(data) ? data : [(data as { current?: object }).current ?? data]
    return [rows.reduce((sum, row) => sum + row.visitors, 0), warning]
  }
  const imported = `${days} are imported as daily sums of another product, which counts in its own way`
  assert.deepEqual(await visitorsOf('/v1/stats/overview', march), [32, imported])
  const filtered = `${days} are left out, because sums of another product cannot be filtered`
  assert.deepEqual(await visitorsOf('/v1/stats/overview', { ...march, country: 'DE' }), [1, filtered])
  assert.deepEqual(await visitorsOf('/v1/stats/pages', { ...march, device: 'mobile' }), [0, filtered])
  const by = { ...march, by: 'page', filter: 'page:contains:own' }
  assert.deepEqual(await visitorsOf('/v2/stats/breakdown', by), [1, filtered])
  const hourly = `${days} are left out, because sums of another product have no hours`
  assert.deepEqual(await visitorsOf('/v2/stats/timeseries', { ...march, interval: 'hour' }), [1, hourly])
  const noList = `${days} are left out, because the import has no such list: `
  assert.deepEqual(await visitorsOf('/v2/stats/breakdown', { ...march, by: 'hostname' }), [
    1,
    `${noList}hostname with visitors, pageviews`,
  ])
  const converted = await get('/v2/stats/breakdown', { ...march, by: 'page', metrics: 'visitors,bounce_rate' })
  assert.match(String(converted.warning), /left out, because the import has no such list: page with visitors, bounces/)

  await installation.json('site', 'exclude-countries', domain, 'US', '--yes')
  const hidden = `${days} are left out, because their sums by another product do not say which are of excluded countries`
  assert.deepEqual(await visitorsOf('/v1/stats/overview', march), [1, hidden])
  assert.deepEqual(await visitorsOf('/v1/stats/timeseries', march), [1, hidden])
  assert.deepEqual(await visitorsOf('/v1/stats/pages', march), [1, hidden])
  assert.deepEqual(await data('/v1/stats/geo'), [{ name: 'Germany', visitors: 7 }])
  await installation.json('site', 'exclude-countries', domain)
  assert.deepEqual(await visitorsOf('/v1/stats/overview', march), [32, imported])

  const manySites = await get('/v1/sites/overview', march)
  assert.equal(
    manySites.warning,
    'for some sites, days are imported as daily sums of another product: ask for one site to see which',
  )
  const some = await get('/v1/sites/overview', { ...march, country: 'DE' })
  assert.equal(some.warning, 'for some sites, imported days are left out: ask for one site to see which')
})

test('an exclusion that hides imported days is saved only if somebody says so', async (t) => {
  const { domain } = await openSite(t, 'asked.example')
  await installation.json('import', domain, fileOf('asked.zip', archiveOf(exported())))
  await assert.rejects(
    installation.json('site', 'exclude-countries', domain, 'US'),
    /imported days are in the list of countries only: 2025-03-01 to 2025-03-02, 2025-03-04/,
  )
  const { excludedCountries } = await installation.json('site', 'show', domain)
  assert.deepEqual(excludedCountries, [])
})

test('an import of sums is previewed, undone and imported again; its days are never counted twice', async (t) => {
  const { domain, data, rows } = await openSite(t, 'undone.example')
  const path = fileOf('undone.zip', archiveOf(exported()))
  const preview = await installation.json('import', domain, path, '--preview', '--until', '2025-03-02')
  assert.deepEqual(
    [preview.kind, preview.lines, preview.days, preview.leftOut],
    [
      'plausible',
      30,
      { first: '2025-03-01', last: '2025-03-02', count: 2 },
      { 'events that the product records by itself': 1, 'days after 2025-03-02': 3 },
    ],
  )
  assert.equal(await rows(), 0)
  const views = async () => ((await data('/v1/stats/overview')) as { current: { pageviews: number } }).current.pageviews

  const first = await installation.json('import', domain, path)
  assert.equal(await views(), 56)
  assert.equal((await installation.json('import', domain, path)).imported, 'was')
  assert.equal(await views(), 56)
  const other = fileOf(
    'other.zip',
    archiveOf({ 'imported_visitors.csv': exported()['imported_visitors_20250301_20250304.csv'] as string[] }),
  )
  await assert.rejects(
    installation.json('import', domain, other),
    new RegExp(`The import ${first.id} has the list total of 2025-03-01 to 2025-03-02 already`),
  )
  const undone = await installation.json('import', 'undo', domain, first.id)
  assert.deepEqual(undone, { id: first.id, events: 0, days: 3 })
  assert.deepEqual([await views(), await rows()], [0, 0])
  const again = await installation.json('import', domain, path)
  assert.deepEqual([again.imported, again.id === first.id, await views()], ['whole', false, 56])
})

test('days with events are refused unless both shall count, and doctor names days that both have', async (t) => {
  const { domain, data, record } = await openSite(t, 'meeting.example')
  const at = (day: string) => ({ at: `${day}T10:00:00Z` })
  await record(at('2025-03-04'), at('2025-03-20'))
  const path = fileOf('meeting.zip', archiveOf(exported()))
  // It ends the day before our first day.
  const short = await installation.json('import', domain, path)
  assert.deepEqual([short.days, short.leftOut['days after 2025-03-03']], [2, 3])
  await installation.json('import', 'undo', domain, short.id)

  await assert.rejects(
    installation.json('import', domain, path, '--until', '2025-03-31'),
    /2025-03-04 have events of the site/,
  )
  const both = await installation.json('import', domain, path, '--until', '2025-03-31', '--beside-events')
  assert.equal(both.days, 3)
  const visitors = async () =>
    ((await data('/v1/stats/overview')) as { current: { visitors: number } }).current.visitors
  assert.equal(await visitors(), 32)
  // An event that was acknowledged counts, also when it comes late.
  await record(at('2025-03-02'))
  assert.equal(await visitors(), 33)
  await installation.json('rollup', 'run', '--site', domain)
  assert.equal(await visitors(), 33)
  const findings = (await installation.json('doctor')) as unknown as { check: string; state: string; found: string }[]
  const { state, found } = findings.find(({ check }) => check === 'Imported days') ?? {}
  assert.equal(state, 'warning')
  assert.match(String(found), /meeting\.example 2025-03-02, meeting\.example 2025-03-04/)

  const events = fileOf('late.csv', 'time,url,visitor\n2025-03-01T10:00:00Z,https://meeting.example/,ann\n')
  await assert.rejects(installation.json('import', domain, events), /Daily sums are imported for 2025-03-01/)
})

test('an import that is stopped shows nothing; the next run shows everything once, and leaves no other rows', async (t) => {
  const { id, domain, data, rows } = await openSite(t, 'stopped.example')
  const days = Array.from({ length: 120 }, (_, nth) => new Date(Date.UTC(2025, 0, 1 + nth)).toISOString().slice(0, 10))
  const lines = days.flatMap((day) => Array.from({ length: 250 }, (_, nth) => `${day},x,/page/${nth},1,1,2,0,0`))
  const path = fileOf(
    'stopped.zip',
    archiveOf({
      'imported_pages.csv': ['date,hostname,page,visits,visitors,pageviews,total_scroll_depth,n', ...lines],
      'imported_visitors.csv': [
        'date,visitors,pageviews,bounces,visits,visit_duration',
        ...days.map((day) => `${day},9,500,1,9,90`),
      ],
    }),
  )
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  t.after(() => clickhouse.close())
  const site = (await findSite(postgres, id)) as Site
  let inserts = 0
  const failing = {
    ...clickhouse,
    insert: async (...given: Parameters<typeof clickhouse.insert>) => {
      if (++inserts === 2) throw new Error('killed')
      return clickhouse.insert(...given)
    },
  }
  const context = { postgres, site, now: Date.now(), besideEvents: false, onProgress: () => {} }
  const files = [{ path, name: basename(path), format: plausible }]
  await assert.rejects(importSums(files, { ...context, clickhouse: failing }), /killed/)
  assert.ok(((await rows()) as number) > 0)
  const year = { range: 'custom', start: '2025-01-01', end: '2025-12-31' }
  const views = async () =>
    ((await data('/v1/stats/overview', year)) as { current: { pageviews: number } }).current.pageviews
  assert.equal(await views(), 0)
  assert.equal((await installation.json('import', domain, path)).imported, 'whole')
  assert.deepEqual([await views(), await rows()], [120 * 500, 120 * 251])
  assert.deepEqual(await data('/v1/stats/pages', { ...year, limit: '1' }), [
    { pathname: '/page/0', title: '', views: 240, visitors: 120 },
  ])
})
