import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { schemaFiles } from '../../dev/docs/schema-files.ts'
import { findSite } from '../../src/accounts/sites.ts'
import { migrate, pendingMigrations } from '../../src/cluster/migrate.ts'
import { listDeletedSites } from '../../src/erasure/deleted-sites.ts'
import { eraseRows } from '../../src/erasure/job.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { freshEmptyStores } from '../support/fresh-stores.ts'
import { startApi } from '../support/world.ts'
import { file, migrateToBefore } from './before-low-cardinality.ts'
import { dumps, loadDump } from './dump.ts'
import { now } from './dumped-installation.ts'

/** Worked out by hand from dumped-installation.ts: eight visitors on eight days. */
const ever = 'range=custom&start=2024-05-01&end=2026-11-15'
const nothing = { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 }
const unknown = { visitors: null, pageviews: null, sessions: null, bounce_rate: null, avg_duration: null }
const expected: Record<string, unknown> = {
  // One session of 60 s, one of 30 s, six bounces: 90 s of 8 sessions.
  [`overview?${ever}`]: {
    current: { visitors: 8, pageviews: 9, sessions: 8, bounce_rate: 75, avg_duration: 11 },
    previous: nothing,
    change: unknown,
  },
  // Days whose events are gone.
  'overview?range=custom&start=2024-05-01&end=2024-05-31': {
    current: { visitors: 2, pageviews: 3, sessions: 2, bounce_rate: 50, avg_duration: 30 },
    previous: nothing,
    change: unknown,
  },
  'timeseries?range=custom&start=2024-05-30&end=2024-06-01': [
    { date: '2024-05-30', visitors: 0, pageviews: 0 },
    { date: '2024-05-31', visitors: 1, pageviews: 1 },
    { date: '2024-06-01', visitors: 0, pageviews: 0 },
  ],
  'timeseries?range=custom&start=2026-11-09&end=2026-11-11': [
    { date: '2026-11-09', visitors: 0, pageviews: 0 },
    { date: '2026-11-10', visitors: 1, pageviews: 1 },
    { date: '2026-11-11', visitors: 0, pageviews: 0 },
  ],
  // The title from France is later, and does not count.
  [`pages?${ever}`]: [
    { pathname: '/a', title: 'New A', views: 5, visitors: 5 },
    { pathname: '/b', title: '', views: 3, visitors: 3 },
    { pathname: '/c', title: 'C', views: 1, visitors: 1 },
  ],
  [`pages?${ever}&country=US&device=mobile`]: [
    { pathname: '/a', title: 'New A', views: 1, visitors: 1 },
    { pathname: '/b', title: '', views: 1, visitors: 1 },
  ],
  [`referrers?${ever}`]: [{ referrer: 'news.example', views: 3, visitors: 2 }],
  [`channels?${ever}`]: [
    { channel: 'Direct', visitors: 3, percentage: 38 }, // 37.5
    { channel: 'Email', visitors: 2, percentage: 25 },
    { channel: 'Referral', visitors: 2, percentage: 25 },
    { channel: 'Organic Search', visitors: 1, percentage: 13 }, // 12.5
  ],
  [`devices?${ever}`]: [
    { name: 'Desktop', visitors: 5 },
    { name: 'Mobile', visitors: 3 },
  ],
  [`geo?${ever}`]: [
    { name: 'Germany', visitors: 5 },
    { name: 'United States', visitors: 3 },
  ],
  [`events?${ever}`]: [{ name: 'signup', count: 1, visitors: 1 }],
  [`utm?${ever}`]: [{ name: 'newsletter', visitors: 2 }],
  [`utm?${ever}&device=mobile&hostname=blog.shop.example`]: [{ name: 'newsletter', visitors: 1 }],
}

for (const version of readdirSync(dumps).sort()) {
  test(`an installation of ${version} becomes one of today and answers the same`, async (t) => {
    const stores = await freshEmptyStores((end) => t.after(end))
    const { postgres, clickhouse } = stores
    const key = await loadDump(new URL(`${version}/`, dumps), stores)
    const pending = await pendingMigrations(postgres)
    assert.ok(pending.every((name) => !name.includes('/0001_')))
    const headers = { Authorization: `Bearer ${key}` }
    const bodies = async () => {
      const api = await startApi(stores, { now: () => Date.parse(now) })
      const answers = Object.keys(expected).map((query) => api.fetch(`/api/v1/stats/${query}`, { headers }))
      const texts = (await Promise.all(answers)).map(({ text }) => text)
      await api.close()
      return texts
    }
    // With the columns of events that it had. ClickHouse had no list of its own then. Its tables are there, so applying the first file
    // again changes nothing.
    const visits = 'clickhouse/0004_visits.sql'
    const sessions = 'clickhouse/0006_sessions.sql'
    assert.deepEqual(await migrateToBefore(t, stores, visits, sessions), [
      ...pending.filter((name) => name.startsWith('postgres/')),
      'clickhouse/0001_baseline.sql',
      'clickhouse/0002_deduplication.sql',
      'clickhouse/0003_ledger.sql',
      'clickhouse/0007_imported_sums.sql',
    ])
    const before = await bodies()
    assert.deepEqual(await migrate(stores), [visits, file, sessions])
    assert.deepEqual(await bodies(), before)
    assert.deepEqual(await pendingMigrations(postgres), [])
    for (const [path, schema] of Object.entries(await schemaFiles(stores))) {
      assert.equal(schema, readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'), path)
    }

    const api = await startApi(stores, { now: () => Date.parse(now) })
    t.after(() => api.close())
    const answers = async () => {
      const found: Record<string, unknown> = {}
      for (const query of Object.keys(expected)) {
        const { status, json } = await api.fetch(`/api/v1/stats/${query}`, { headers })
        found[query] = status === 200 ? json.data : json
      }
      return found
    }
    assert.deepEqual(await answers(), expected)

    // Its ledger is one that work goes on with: the day with a late event is rolled up again.
    const site = await findSite(postgres, 'shop.example')
    assert.ok(site)
    assert.deepEqual(
      site.coverage.versions.map((one) => [one.version, one.days.length > 0, one.months.length > 0]),
      [
        [1, true, true],
        [2, true, true],
      ],
    )
    assert.equal(await rollUpSite(stores, site.id, '2026-11-14'), 1)
    api.directory.forget(site.id)
    assert.deepEqual(await answers(), expected)
    assert.deepEqual(await verifySite(stores, site.id), { days: 45, notRetained: 31, missingDays: [], wrong: [] })

    // And its tables take new events.
    const event = eventOf(
      pageview({ at: '2026-11-15T09:00:00Z', pathname: '/new', title: 'New' }),
      site.id,
      site.timeZone,
    )
    await recordBatch(clickhouse, { id: randomUUID(), events: [event] })
    const { json } = await api.fetch('/api/v1/stats/pages?range=24h', { headers })
    assert.deepEqual(json.data, [
      { pathname: '/a', title: 'New A', views: 1, visitors: 1 },
      { pathname: '/new', title: 'New', views: 1, visitors: 1 },
    ])
    // A deleted site is still known, and is erased.
    const [deleted, ...others] = await listDeletedSites(postgres)
    assert.deepEqual([deleted?.domain, deleted?.erasedAt, others], ['gone.example', null, []])
    const left = () =>
      clickhouse.rows(sql`
        SELECT (SELECT count() FROM events WHERE site_id = ${text(deleted?.id ?? '')}) AS events,
          (SELECT count() FROM titles WHERE site_id = ${text(deleted?.id ?? '')}) AS titles`)
    assert.deepEqual(await left(), [{ events: 1, titles: 1 }])
    await eraseRows(stores)
    assert.deepEqual(await left(), [{ events: 0, titles: 0 }])
  })
}

test('an upgrade waits until no replica misses rows of a rolled-up day, and none gets to miss any later', async (t) => {
  const stores = await freshEmptyStores((end) => t.after(end))
  const { postgres } = stores
  const name = 'postgres/0012_no_replica_gaps.sql'
  await migrate(stores)
  await postgres`ALTER TABLE replica_gaps DROP CONSTRAINT every_replica_has_every_rolled_up_day`
  await postgres`DELETE FROM migrations WHERE name = ${name}`
  /** As the previous version did, in the statement that made a day readable. */
  const noteGap = () => postgres`INSERT INTO replica_gaps (shard, replica, mark) VALUES (1, 2, 1)`
  await noteGap()
  await assert.rejects(migrate(stores), /A replica misses rows of rolled-up days/)
  await postgres`DELETE FROM replica_gaps`
  assert.deepEqual(await migrate(stores), [name])
  await assert.rejects(noteGap(), /every_replica_has_every_rolled_up_day/)
})
