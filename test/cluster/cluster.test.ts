// Several shards: who is asked, who is written to, and what a shard that is down costs the others.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, deleteSite, findSite, type Site } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate, pendingClickHouseMigrations } from '../../src/cluster/migrate.ts'
import { eraseRows } from '../../src/erasure/job.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { declareRetention, dropRolledUpMonths, rollUpBeforeDropping } from '../../src/rollups/retention.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { siteSummaries } from '../../src/stats/site-summaries.ts'
import { sitesOverview } from '../../src/stats/sites-overview.ts'
import { Unavailable } from '../../src/stores/breaker.ts'
import { type ClickHouse, openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf } from '../support/events.ts'
import { freshShards, type Shards } from '../support/fresh-shards.ts'
import { runFootfall } from '../support/installation.ts'
import { keySecretsSetting } from '../support/serve-process.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const today = '2026-11-15T10:00:00Z'
const yesterday = '2026-11-14T10:00:00Z'

/** A site on each of two shards; the second has twice as many visitors. */
async function open(t: TestContext, at = today): Promise<Shards & { sites: [Site, Site] }> {
  const shards = await freshShards(2, (end) => t.after(end))
  const { postgres, cluster } = shards
  const accountId = await createAccount(postgres, { name: 'Sharded', plan: 'Agency' })
  const sites: Site[] = []
  for (const shard of [1, 2]) {
    const id = await createSite(postgres, { accountId, domain: `shard-${shard}.example` })
    await postgres`UPDATE sites SET shard = ${shard} WHERE id = ${id}`
    const site = (await findSite(postgres, id)) as Site
    const events = Array.from({ length: 2 * shard }, (_, index) =>
      eventOf({ at, visitor: `${index}`, title: 'A title' }, id, 'UTC'),
    )
    await recordBatch(cluster.of(site), { id: randomUUID(), events })
    sites.push(site)
  }
  return { ...shards, sites: sites as [Site, Site] }
}

const parameters = { range: { name: '7d' }, filters: {}, limit: 10 } as const
const signal = AbortSignal.timeout(60_000)
const queueKey = 'test'

const visitorsOf = async (stats: ReturnType<typeof createStatsService>, site: Site) => {
  const { data } = await stats.read({ report: 'overview', site, parameters, queueKey }, signal)
  return (data as { current: { visitors: number } }).current.visitors
}

const eventsOn = async (clickhouse: ClickHouse) =>
  (await clickhouse.rows<{ events: number }>(sql`SELECT count() AS events FROM events`))[0]?.events

test('a site is asked for on its own shard only, and the overview of both has the numbers of each', async (t) => {
  const { cluster, sites } = await open(t)
  const asked = [0, 0]
  const counting = clusterOf(
    cluster.shards.map((clickhouse, index) => ({
      ...clickhouse,
      rows: (...given) => {
        asked[index] = (asked[index] as number) + 1
        return clickhouse.rows(...given)
      },
    })),
  )
  const stats = createStatsService({ cluster: counting, now: () => now, cacheBytes: 0 })
  assert.deepEqual([await visitorsOf(stats, sites[0]), asked], [2, [1, 0]])
  assert.deepEqual([await visitorsOf(stats, sites[1]), asked], [4, [1, 1]])
  const backwards = [sites[1], sites[0]]
  const { json } = await stats.readSites({ report: sitesOverview, sites: backwards, parameters, queueKey }, signal)
  const rows = JSON.parse(json) as { site_id: string; current: { visitors: number } }[]
  assert.deepEqual(
    rows.map((row) => [row.site_id, row.current.visitors]),
    [
      [sites[1].id, 4],
      [sites[0].id, 2],
    ],
  )
  const { data } = await stats.readSites({ report: siteSummaries, sites, parameters, queueKey, now }, signal)
  assert.deepEqual(
    data.map(({ visitors }) => visitors),
    [2, 4],
  )
})

test('a shard that is down, or not configured, costs only its own sites', async (t) => {
  const { cluster, sites } = await open(t)
  const down = openClickHouse('http://nobody@127.0.0.1:1/nothing', { shard: 2 })
  t.after(() => down.close())
  for (const broken of [clusterOf([cluster.of(sites[0]), down]), clusterOf([cluster.of(sites[0])])]) {
    const stats = createStatsService({ cluster: broken, now: () => now, cacheBytes: 0 })
    await assert.rejects(visitorsOf(stats, sites[1]), Unavailable)
    assert.equal(await visitorsOf(stats, sites[0]), 2)
  }
})

test('queries that hang on one shard do not hold up the other', async (t) => {
  const { cluster, sites } = await open(t)
  const hanging: ClickHouse = { ...cluster.of(sites[1]), rows: () => new Promise(() => {}) }
  const stats = createStatsService({
    cluster: clusterOf([cluster.of(sites[0]), hanging]),
    now: () => now,
    cacheBytes: 0,
  })
  for (let query = 0; query < 40; query++) {
    const request = { report: 'overview', site: sites[1], parameters, queueKey: `key ${query}` } as const
    void stats.read(request, signal).catch(() => {})
  }
  assert.equal(await visitorsOf(stats, sites[0]), 2)
})

test('a new site goes where most of the disk is free, and anywhere if the disks are equally full', async (t) => {
  const { postgres, sites } = await open(t)
  const { accountId } = sites[0]
  const shardOfNew = async (...free: number[]) => {
    for (const [index, share] of free.entries())
      await postgres`UPDATE shards SET free_share = ${share} WHERE number = ${index + 1}`
    const id = await createSite(postgres, { accountId, domain: `${randomUUID()}.example` })
    return (await findSite(postgres, id))?.shard
  }
  assert.equal(await shardOfNew(0.2, 0.6), 2)
  assert.equal(await shardOfNew(0.6, 0.2), 1)
  const chosen = new Set<number | undefined>()
  for (let nth = 0; nth < 40; nth++) chosen.add(await shardOfNew(0.5, 0.51))
  assert.deepEqual(chosen, new Set([1, 2]))
})

test('a server without tables gets them, and the others are left alone', async (t) => {
  const { postgres, cluster, sites } = await open(t)
  const emptied = cluster.of(sites[1])
  const tables = await emptied.rows<{ name: string }>(
    sql`SELECT name FROM system.tables WHERE database = currentDatabase()`,
  )
  for (const { name } of tables) await emptied.command(`DROP TABLE ${name} SYNC`)
  const all = [
    'clickhouse/0001_baseline.sql',
    'clickhouse/0002_deduplication.sql',
    'clickhouse/0003_ledger.sql',
    'clickhouse/0004_visits.sql',
    'clickhouse/0005_low_cardinality.sql',
    'clickhouse/0006_sessions.sql',
    'clickhouse/0007_imported_sums.sql',
  ]
  assert.deepEqual(await pendingClickHouseMigrations(emptied), all)
  assert.deepEqual(await migrate({ postgres, cluster }), all)
  assert.deepEqual(await pendingClickHouseMigrations(emptied), [])
  assert.deepEqual([await eventsOn(cluster.of(sites[0])), await eventsOn(emptied)], [2, 0])
  assert.deepEqual(await migrate({ postgres, cluster }), [])
})

test('a server that is down does not keep the others from being migrated, unless there is a new file for it', async (t) => {
  const { postgres, cluster, sites } = await open(t)
  const down = openClickHouse('http://nobody@127.0.0.1:1/nothing', { shard: 2 })
  t.after(() => down.close())
  const broken = clusterOf([cluster.of(sites[0]), down])
  const causes: string[] = []
  const leftOut = (cause: Unavailable) => void causes.push(cause.message)
  assert.deepEqual(await migrate({ postgres, cluster: broken }, { leftOut }), [])
  assert.match(causes.join(), /^ClickHouse does not answer: [^,]+$/)
  await postgres`DELETE FROM migrations WHERE name LIKE 'clickhouse/%'`
  await assert.rejects(migrate({ postgres, cluster: broken }), Unavailable)
})

test('a shard rolls up, sweeps and erases its own sites only', async (t) => {
  const { postgres, cluster, sites } = await open(t, yesterday)
  const [first, second] = cluster.shards as [ClickHouse, ClickHouse]
  const covered = async () =>
    (
      await postgres<{ shard: number }[]>`
        SELECT shard FROM sites WHERE id IN (SELECT site_id FROM rollup_coverage WHERE days <> '{}') ORDER BY shard`
    ).map(({ shard }) => shard)
  await rollUpRound({ postgres, clickhouse: second }, { now, minYearEvents: 1 })
  assert.deepEqual(await covered(), [2])
  await rollUpRound({ postgres, clickhouse: first }, { now, minYearEvents: 1 })
  assert.deepEqual(await covered(), [1, 2])
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  const rolledUp = (await Promise.all(sites.map(({ id }) => findSite(postgres, id)))) as Site[]
  assert.deepEqual(await Promise.all(rolledUp.map((site) => visitorsOf(stats, site))), [2, 4])

  for (const { id } of sites) await deleteSite(postgres, id)
  await eraseRows({ postgres, clickhouse: first })
  assert.deepEqual([await eventsOn(first), await eventsOn(second)], [0, 4])
  await eraseRows({ postgres, clickhouse: second })
  assert.equal(await eventsOn(second), 0)
})

test('old events are dropped on all shards, and only when every shard has rolled them up', async (t) => {
  const { postgres, cluster } = await open(t, '2023-05-10T10:00:00Z')
  await declareRetention(postgres, '2024-10-01')
  const failing = { ...(cluster.shards[1] as ClickHouse), run: () => Promise.reject(new Error('no space')) }
  await rollUpBeforeDropping({ postgres, cluster: clusterOf([cluster.shards[0] as ClickHouse, failing]) }, {})
  assert.deepEqual(await dropRolledUpMonths({ postgres, cluster }, '0 seconds'), [])
  await rollUpBeforeDropping({ postgres, cluster }, {})
  assert.deepEqual(await dropRolledUpMonths({ postgres, cluster }, '0 seconds'), ['202305'])
  assert.deepEqual(await Promise.all(cluster.shards.map(eventsOn)), [0, 0])
})

test('a backup holds all shards, and is restored into as many or more', async (t) => {
  const { settings } = await open(t)
  const folder = mkdtempSync(join(tmpdir(), 'footfall-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const backup = join(folder, 'backup')
  const run = (words: string[], more: Record<string, string>) =>
    runFootfall(words, { PATH: process.env.PATH ?? '', KEY_SECRETS: keySecretsSetting, ...more })
  const taken = await run(['backup', backup, '--json'], settings)
  assert.equal(taken.code, 0, taken.stderr)

  const small = await freshShards(1, (end) => t.after(end))
  const verified = await run(['backup', 'verify', backup], small.settings)
  assert.equal(verified.code, 0, verified.stderr)
  const refused = await run(['restore', backup], small.settings)
  assert.deepEqual([refused.code, /2 shards.*CLICKHOUSE_SHARDS/s.test(refused.stderr)], [1, true], refused.stderr)

  const large = await freshShards(3, (end) => t.after(end))
  const restored = await run(['restore', backup, '--json'], large.settings)
  assert.equal(restored.code, 0, restored.stderr)
  assert.deepEqual(await Promise.all(large.cluster.shards.map(eventsOn)), [2, 4, 0])
  assert.equal((await large.postgres`SELECT FROM shards`).count, 3, 'new sites may go to the third')
  const found = await large.postgres<{ shard: number }[]>`SELECT shard FROM sites ORDER BY domain`
  assert.deepEqual(
    found.map(({ shard }) => shard),
    [1, 2],
  )
})

test('footfall doctor names each shard, and the one that is down', async (t) => {
  const { settings } = await open(t)
  const [first] = JSON.parse(settings.CLICKHOUSE_SHARDS) as string[][]
  const look = async (shards: unknown) => {
    const more = { ...settings, CLICKHOUSE_SHARDS: JSON.stringify(shards), KEY_SECRETS: keySecretsSetting }
    const { code, stdout } = await runFootfall(['doctor', '--json'], { PATH: process.env.PATH ?? '', ...more })
    const findings = JSON.parse(stdout) as { check: string; state: string; found: string }[]
    return { code, ...findings.find(({ check }) => check === 'ClickHouse') }
  }
  const sound = await look(JSON.parse(settings.CLICKHOUSE_SHARDS))
  assert.match(sound.found ?? '', /^shard 1: version [\d.]+; shard 2: version [\d.]+$/)
  const broken = await look([first, ['http://nobody@127.0.0.1:1/nothing']])
  assert.deepEqual([broken.code, broken.state], [1, 'failed'])
  assert.match(broken.found ?? '', /^shard 1: version [\d.]+; shard 2: does not answer/)
})

test('footfall shard status shows the sites, events and disk of each shard, and what is missing', async (t) => {
  const { settings } = await open(t)
  const look = async (shards: unknown, ...words: string[]) => {
    const more = { ...settings, CLICKHOUSE_SHARDS: JSON.stringify(shards), KEY_SECRETS: keySecretsSetting }
    return runFootfall(['shard', 'status', ...words], { PATH: process.env.PATH ?? '', ...more })
  }
  const all = JSON.parse(settings.CLICKHOUSE_SHARDS) as string[][]
  const sound = await look(all, '--json')
  const { servers: rows } = JSON.parse(sound.stdout) as {
    servers: { shard: number; sites: number; events: number; disk: { free: number } }[]
  }
  assert.deepEqual(
    rows.map(({ shard, sites, events }) => ({ shard, sites, events })),
    [
      { shard: 1, sites: 1, events: 2 },
      { shard: 2, sites: 1, events: 4 },
    ],
  )
  assert.ok(rows.every(({ disk }) => disk.free > 0))
  const down = await look([all[0], ['http://nobody@127.0.0.1:1/nothing']])
  assert.equal(down.code, 1)
  assert.match(down.stdout, /^2 +1 +does not answer$/m)
  const missing = await look([all[0]])
  assert.deepEqual(
    [missing.code, /Shard 2 is not in CLICKHOUSE_SHARDS and has sites: 1/.test(missing.stdout)],
    [1, true],
  )
})
