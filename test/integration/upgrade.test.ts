import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createAccount } from '../../src/accounts/accounts.ts'
import { newId } from '../../src/accounts/ids.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { foldRound } from '../../src/folding/loop.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { migrate } from '../../src/stores/migrate.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { createEmptyStores, keySecrets } from '../support/stores.ts'
import { startApi } from '../support/world.ts'

/** What the first release applied. Landed migrations are never edited, so the first of them are that release's database. */
const firstRelease = [
  'clickhouse/0001_events.sql',
  'clickhouse/0002_titles.sql',
  'postgres/0001_accounts.sql',
  'postgres/0002_changes.sql',
]

const all = ['clickhouse', 'postgres'].flatMap((database) =>
  readdirSync(new URL(`../../migrations/${database}`, import.meta.url)).map((file) => `${database}/${file}`),
)

/** With the columns that every release has. */
async function createOldSite(
  postgres: Postgres,
  { accountId, domain, excludedCountries = [] }: { accountId: string; domain: string; excludedCountries?: string[] },
): Promise<string> {
  const id = newId('site')
  await postgres`
    INSERT INTO sites (id, account_id, domain, hostnames, excluded_countries)
    VALUES (${id}, ${accountId}, ${domain}, ${[domain]}, ${excludedCountries})`
  return id
}

/** A folder with some of the migrations alone. */
function folderOf(t: TestContext, files: readonly string[]): URL {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-migrations-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of files) cpSync(new URL(`../../migrations/${file}`, import.meta.url), join(folder, file))
  return pathToFileURL(`${folder}/`)
}

test('a database of the first release, with data in it, becomes one of today and answers the same', async (t) => {
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  assert.deepEqual((await migrate(stores, folderOf(t, firstRelease))).sort(), firstRelease)

  const accountId = await createAccount(stores.postgres, { name: 'Old', plan: 'Starter' })
  const siteId = await createOldSite(stores.postgres, { accountId, domain: 'old.example', excludedCountries: ['FR'] })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Old' })
  const hits = [
    pageview({ at: '2026-11-13T10:00:00Z', pathname: '/a', title: 'A' }),
    pageview({ at: '2026-11-14T10:00:00Z', pathname: '/b', country: 'FR', visitor: 'excluded' }),
  ]
  await recordBatch(stores.clickhouse, {
    id: '00000000-0000-4000-8000-000000000001',
    events: hits.map((hit) => eventOf(hit, siteId, 'UTC')),
  })

  assert.deepEqual((await migrate(stores)).sort(), all.filter((file) => !firstRelease.includes(file)).sort())
  assert.deepEqual(await migrate(stores), [])

  const api = await startApi(stores, { now: () => Date.parse('2026-11-15T12:00:00Z') })
  t.after(() => api.close())
  const answer = await api.fetch('/api/v1/stats/pages?range=7d', { headers: { Authorization: `Bearer ${key.text}` } })
  assert.deepEqual(answer.json.data, [{ pathname: '/a', title: 'A', views: 1, visitors: 1 }])
})

test('days that were folded into the table before tallies are read from the events, then folded again', async (t) => {
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const before = all.filter((file) => file < (file.startsWith('clickhouse') ? 'clickhouse/0006' : 'postgres/0007'))
  await migrate(stores, folderOf(t, before))

  const accountId = await createAccount(stores.postgres, { name: 'Old', plan: 'Starter' })
  const siteId = await createOldSite(stores.postgres, { accountId, domain: 'old.example' })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Old' })
  const hits = ['2026-10-01', '2026-10-31', '2026-11-13'].map((day, index) =>
    pageview({ at: `${day}T10:00:00Z`, pathname: `/${index}`, visitor: `${index}` }),
  )
  await recordBatch(stores.clickhouse, {
    id: '00000000-0000-4000-8000-000000000002',
    events: hits.map((hit) => eventOf(hit, siteId, 'UTC')),
  })
  await stores.clickhouse.run(sql`
    INSERT INTO folded (site_id, dimension, cell, span, day, value, version, views, visitors)
    SELECT site_id, 'page', 0, 'day', day, pathname, 1, count(), 1 FROM events
    WHERE site_id = ${text(siteId)} GROUP BY site_id, day, pathname`)
  await stores.postgres`
    INSERT INTO site_folds (site_id, version, days, months, written_days, written_months)
    VALUES (${siteId}, 1, '{[2026-10-01,2026-11-15)}', '{[2026-10-01,2026-11-01)}',
      '{[2026-10-01,2026-11-15)}', '{[2026-10-01,2026-11-01)}')`
  await stores.postgres`
    INSERT INTO site_folding (site_id, considered_through, considered_at) VALUES (${siteId}, '2026-11-14', now())`

  await migrate(stores)
  assert.deepEqual(
    await stores.clickhouse.rows(
      sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'folded'`,
    ),
    [],
  )
  const api = await startApi(stores, { now: () => Date.parse('2026-11-15T12:00:00Z') })
  t.after(() => api.close())
  const headers = { Authorization: `Bearer ${key.text}` }
  const pages = async () =>
    (await api.fetch('/api/v1/stats/pages?range=custom&start=2026-10-01&end=2026-11-15', { headers })).json.data
  const expected = ['/0', '/1', '/2'].map((pathname) => ({ pathname, title: '', views: 1, visitors: 1 }))
  assert.deepEqual(await pages(), expected)
  const round = await foldRound(stores, { now: Date.parse('2026-11-15T12:00:00Z'), least: 1 })
  assert.equal(round?.days, 45) // from the first of October to the fourteenth of November
  api.directory.forget(siteId)
  assert.deepEqual(await pages(), expected)
})

test('tallies of days whose events are gone are still read after they have moved into two tables', async (t) => {
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  await migrate(
    stores,
    folderOf(
      t,
      all.filter((file) => file < 'clickhouse/0012' || file.startsWith('postgres')),
    ),
  )

  const accountId = await createAccount(stores.postgres, { name: 'Old', plan: 'Starter' })
  const siteId = await createOldSite(stores.postgres, { accountId, domain: 'old.example' })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Old' })
  const rows = ['page 0', 'referrer 0', 'channel 0', 'total 0'].map((subject, index) => ({
    site_id: siteId,
    place: `day 1 ${subject}`,
    day: '2026-10-02',
    value: ['/a', 'referrer.example', 'Direct', ''][index],
    views: 3,
    visitors: 2,
  }))
  await stores.clickhouse.insert('tallies', rows, 'old')
  await stores.postgres`
    INSERT INTO site_folds (site_id, version, days, written_days)
    VALUES (${siteId}, 1, '{[2026-10-01,2026-10-04)}', '{[2026-10-01,2026-10-04)}')`

  await migrate(stores)
  const api = await startApi(stores, { now: () => Date.parse('2026-11-15T12:00:00Z') })
  t.after(() => api.close())
  const headers = { Authorization: `Bearer ${key.text}` }
  const data = async (report: string) =>
    (await api.fetch(`/api/v1/stats/${report}?range=custom&start=2026-10-01&end=2026-10-03`, { headers })).json.data
  assert.deepEqual(await data('pages'), [{ pathname: '/a', title: '', views: 3, visitors: 2 }])
  assert.deepEqual(await data('referrers'), [{ referrer: 'referrer.example', views: 3, visitors: 2 }])
  assert.deepEqual((await data('timeseries'))[1], { date: '2026-10-02', visitors: 2, pageviews: 3 })
  const tables = await stores.clickhouse.rows<{ short: number; long: number }>(
    sql`SELECT (SELECT count() FROM short_tallies) AS short, (SELECT count() FROM long_tallies) AS long`,
  )
  assert.deepEqual(tables, [{ short: 2, long: 2 }])
})

test('titles get their country from the events; one whose event is gone stays, and running the migration twice changes nothing', async (t) => {
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  await migrate(
    stores,
    folderOf(
      t,
      all.filter((file) => file < 'clickhouse/0015' || file.startsWith('postgres')),
    ),
  )
  const accountId = await createAccount(stores.postgres, { name: 'Old', plan: 'Starter' })
  const siteId = await createOldSite(stores.postgres, { accountId, domain: 'old.example', excludedCountries: ['FR'] })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Old' })
  const events = [
    pageview({ at: '2026-11-13T10:00:00Z', pathname: '/a', title: 'German' }),
    pageview({ at: '2026-11-14T10:00:00Z', pathname: '/a', title: 'French', country: 'FR', visitor: 'f' }),
    pageview({ at: '2026-11-13T10:00:00Z', pathname: '/b' }),
    pageview({ at: '2026-11-13T10:00:00Z', pathname: '/c', visitor: 'g' }),
    pageview({ at: '2026-11-13T10:00:00Z', pathname: '/c', title: 'French', country: 'FR', visitor: 'f' }),
  ].map((hit) => eventOf(hit, siteId, 'UTC'))
  // As the version before wrote them: without a country, and merged to the latest.
  const row = (pathname: string, event_id: string, title: string, time = '2026-11-14 10:00:00.000') => ({
    site_id: siteId,
    pathname,
    latest: { time, event_id, title },
  })
  await stores.clickhouse.insert(
    'events',
    events.map((event) => ({
      site_id: siteId,
      day: event.day,
      time: new Date(event.time).toISOString(),
      visitor_id: event.visitorId,
      session_id: event.sessionId,
      event_id: event.eventId,
      batch_id: '00000000-0000-4000-8000-000000000003',
      name: event.name,
      hostname: event.hostname,
      pathname: event.pathname,
      title: event.title,
      channel: event.channel,
      country: event.country,
      device: event.device,
    })),
    'old events',
  )
  await stores.clickhouse.insert(
    'titles',
    [
      row('/a', events[1]?.eventId as string, 'French'),
      row('/b', '00000000-0000-4000-8000-00000000dead', 'Of a month that was dropped', '2024-01-01 10:00:00.000'),
      row('/c', events[4]?.eventId as string, 'French', '2026-11-13 10:00:00.000'),
    ],
    'old titles',
  )

  await migrate(stores)
  const api = await startApi(stores, { now: () => Date.parse('2026-11-15T12:00:00Z') })
  t.after(() => api.close())
  const titles = async () => {
    const { json } = await api.fetch('/api/v1/stats/pages?range=7d', {
      headers: { Authorization: `Bearer ${key.text}` },
    })
    return json.data.map(({ pathname, title }: { pathname: string; title: string }) => [pathname, title])
  }
  const expected = [
    ['/a', 'German'],
    ['/b', 'Of a month that was dropped'],
    ['/c', ''],
  ]
  assert.deepEqual(await titles(), expected)
  const again = async (name: string) =>
    stores.clickhouse.command(readFileSync(new URL(`../../migrations/clickhouse/${name}.sql`, import.meta.url), 'utf8'))
  await again('0015_titles_by_country')
  assert.deepEqual(await titles(), expected)
  // A process of the version before goes on writing for a while: without a country, which counts less than any with one.
  const french = events[1]?.eventId as string
  await stores.clickhouse.insert('titles', [row('/a', french, 'Unplaced', '2026-11-14 23:00:00.000')], 'meanwhile')
  assert.deepEqual(await titles(), expected)
  // What it wrote into the old table while the new one was made is found in the events.
  await stores.clickhouse.run(sql`DELETE FROM titles WHERE site_id = ${text(siteId)} AND pathname = '/a'`)
  await again('0016_titles_of_meanwhile')
  assert.deepEqual(await titles(), expected)
})
