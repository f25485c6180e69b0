// What must hold while a replica is behind, away or new, one step at a time. Only with replicas.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { queryObjects } from 'node:v8'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createSite, findSite, type Site } from '../../../src/accounts/sites.ts'
import type { Context } from '../../../src/cli/command.ts'
import { shard } from '../../../src/cli/shard.ts'
import { type Cluster, openCluster } from '../../../src/cluster/cluster.ts'
import { migrate, pendingClickHouseMigrations } from '../../../src/cluster/migrate.ts'
import { catchUp, replicasInKeeper } from '../../../src/cluster/replica-lag.ts'
import { replicate } from '../../../src/cluster/replicas.ts'
import { openBatches } from '../../../src/collector/shipper/batches.ts'
import { openDeadLetters } from '../../../src/collector/shipper/dead-letters.ts'
import { openPlacements } from '../../../src/collector/shipper/placements.ts'
import { releaseKept, shipNextBatch } from '../../../src/collector/shipper/ship-batch.ts'
import { openShipped } from '../../../src/collector/shipper/shipped.ts'
import { openSpoolFile } from '../../../src/collector/spool/files.ts'
import { copyDifferences } from '../../../src/moving/copy.ts'
import { readCoverage } from '../../../src/rollups/coverage.ts'
import { rollUpRound } from '../../../src/rollups/loop.ts'
import { rollUpSite } from '../../../src/rollups/roll-up.ts'
import { createStatsService } from '../../../src/stats/service.ts'
import { type ClickHouse, createClickHouseDatabase, openClickHouse, serversOf } from '../../../src/stores/clickhouse.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { eventOf } from '../../support/events.ts'
import { eventually } from '../../support/eventually.ts'
import { newDatabaseName } from '../../support/stores.ts'
import { type Check, pause, quantile } from '../runner.ts'
import type { Server, Servers } from './servers.ts'

interface Installation {
  check: Check
  servers: Servers
  postgres: Postgres
  cluster: Cluster
  accountId: string
}

const now = Date.parse('2026-11-15T12:00:00Z')
const closed = '2026-11-14'
const patientMs = 60_000
const maxLatency = 1.1

/** Returns the latency against one server. */
export async function runScenarios(check: Check, servers: Servers, postgres: Postgres): Promise<number> {
  const cluster = openCluster({ CLICKHOUSE_URL: '', CLICKHOUSE_SHARDS: servers.addresses })
  check.onEnd(() => cluster.close())
  await migrate({ postgres, cluster })
  const accountId = await createAccount(postgres, { name: 'Scenarios', plan: 'Agency' })
  const installation = { check, servers, postgres, cluster, accountId }
  for (const scenario of [
    oneWipedDisk,
    aloneWithABatch,
    lostDisk,
    lostDiskAndAnswer,
    copyAgain,
    manyReads,
    slowReplica,
    killedReplica,
    aloneBefore,
    goneForGood,
  ]) {
    check.say(`scenario: ${scenario.name}`)
    await scenario(installation)
  }
  return latencyAgainstOneServer(installation)
}

/** A day does not become readable while a replica misses its rows, so the loss of the other disk changes no answer. */
async function oneWipedDisk(installation: Installation): Promise<void> {
  const { check, postgres, cluster, servers } = installation
  const site = await siteOn(installation, 1)
  const clickhouse = cluster.of(site)
  const stores = { postgres, clickhouse }
  const [first, last] = servers.shards[0] as [Server, Server]
  await insert(clickhouse, site, 40, `${closed}T10:00:00Z`)
  const views = async () => viewsOf(cluster, (await findSite(postgres, site.id)) as Site)
  const rolledUp = async () => (await readCoverage(postgres, site.id))?.versions.length
  expect(check, 'views before a rollup', await views(), 40)
  await first.kill()
  const failures: string[] = []
  const onError = ({ message }: Error) => failures.push(message)
  expect(check, 'a round without a replica', await rollUpRound(stores, { now, siteId: site.id, onError }), {
    sites: 0,
    days: 0,
    failed: 1,
  })
  if (failures.length !== 1 || !failures[0]?.startsWith('Not every replica of shard 1 has all rows: replica 1 ('))
    check.fault('what a round without a replica reports', failures.join('; '))
  // The replica may die after the round has begun. ClickHouse refuses the rows as soon as Keeper has noticed.
  await eventually(async () => {
    const known = await replicasInKeeper(serversOf(clickhouse)[1] as ClickHouse)
    if ([...known.values()].every((isActive) => isActive)) throw new Error('Keeper has not noticed')
  }, patientMs)
  expect(
    check,
    'days rolled up without a replica',
    await rollUpSite(stores, site.id, closed).catch(() => 'none'),
    'none',
  )
  expect(check, 'versions without a replica', await rolledUp(), 0)
  expect(check, 'views without a replica', await views(), 40)
  await last.wipe?.()
  await first.start()
  await last.start()
  await createTables(installation, 2)
  await eventually(async () => {
    const cause = await clickhouse.replicas?.incomplete()
    if (cause) throw new Error(cause)
  }, patientMs)
  expect(check, 'views after a lost disk', await views(), 40)
  expect(check, 'days rolled up', await rollUpSite(stores, site.id, closed), 14)
  for (const replica of serversOf(clickhouse)) {
    const [row] = await replica.rowsPatiently<{ views: number }>(
      sql`SELECT sum(views) AS views FROM short_rollups WHERE site_id = ${text(site.id)} AND dimension = 'total' AND grouping_set = 0 AND startsWith(rollup_key, 'day ')`,
    )
    if (row?.views !== 40) check.fault('rollup rows on each replica', `${row?.views} instead of 40`)
  }
  expect(check, 'views after a rollup', await views(), 40)
}

/** A batch that one replica has stays in the spool until the other has it, and later ones do not wait. */
async function aloneWithABatch(installation: Installation): Promise<void> {
  const { check, cluster, servers } = installation
  const site = await siteOn(installation, 1)
  const shipper = openShipper(cluster.of(site), check)
  const last = servers.shards[0]?.[1] as Server
  await last.kill()
  for (const events of [3, 4]) {
    shipper.spool(site, events)
    await eventually(shipper.ship, patientMs)
  }
  expect(check, 'batches that wait for a second replica', shipper.kept(), 7)
  await shipper.release()
  expect(check, 'batches that still wait', shipper.kept(), 7)
  await last.start()
  await eventually(async () => {
    await shipper.release()
    if (shipper.kept() > 0) throw new Error('the batches still wait')
  }, patientMs)
  for (const replica of serversOf(cluster.of(site))) {
    expect(check, 'events on each replica', await eventsOf(replica, site), 7)
  }
}

/** The only replica with a batch loses its disk: the events come from the spool again. */
const lostDisk = (installation: Installation) => loseOnlyDisk(installation, { survivor: 1, isAnswerLost: false })

/** The same with the replica that is written first, for a batch that the shipper does not know to be there. */
const lostDiskAndAnswer = (installation: Installation) =>
  loseOnlyDisk(installation, { survivor: 0, isAnswerLost: true })

async function loseOnlyDisk(
  installation: Installation,
  { survivor, isAnswerLost }: { survivor: number; isAnswerLost: boolean },
): Promise<void> {
  const { check, cluster, servers } = installation
  const site = await siteOn(installation, 1)
  const shard = cluster.of(site)
  const lost = { isAnswerLost }
  const shipper = openShipper(
    {
      ...shard,
      async insert(...given) {
        const only = await shard.insert(...given)
        if (lost.isAnswerLost) throw new Error('The answer is lost')
        return only
      },
    },
    check,
  )
  const [lasting, wiped] = [servers.shards[0]?.[survivor] as Server, servers.shards[0]?.[1 - survivor] as Server]
  await lasting.kill()
  shipper.spool(site, 5)
  if (isAnswerLost) await shipper.ship().catch(() => {})
  else await eventually(shipper.ship, patientMs)
  await wiped.wipe?.()
  await lasting.start()
  await wiped.start()
  await createTables(installation, 2 - survivor)
  lost.isAnswerLost = false
  await eventually(async () => {
    await shipper.ship()
    await shipper.release()
    if (shipper.kept() > 0) throw new Error('the batch still waits')
  }, patientMs)
  for (const replica of serversOf(shard)) {
    expect(check, 'events after a lost disk', await eventsOf(replica, site), 5)
  }
}

/** On a server that was wiped. Replicas are counted from 1. */
async function createTables({ postgres, cluster, servers }: Installation, replica: number): Promise<void> {
  await servers.createDatabase(servers.addresses[0]?.[replica - 1] as string)
  const wiped = serversOf(cluster.shards[0] as ClickHouse)[replica - 1] as ClickHouse
  await eventually(async () => {
    await migrate({ postgres, cluster }) // leaves out a server that does not answer yet
    if ((await pendingClickHouseMigrations(wiped)).length > 0) throw new Error('the server has no tables yet')
  }, patientMs)
}

/** Rows are copied to a shard again only after every replica there has deleted the old ones. */
async function copyAgain(installation: Installation): Promise<void> {
  const { check, cluster } = installation
  const [source, target] = cluster.shards as [ClickHouse, ClickHouse]
  const site = await siteOn(installation, 1)
  await insert(source, site, 6, `${closed}T10:00:00Z`)
  await insert(target, site, 2, `${closed}T10:00:00Z`)
  const [first] = serversOf(target) as [ClickHouse]
  await first.command('SYSTEM STOP MERGES events') // and deletions
  let isCopied = false
  const copying = copyDifferences({ siteId: site.id, source, target }).then(() => {
    isCopied = true
  })
  try {
    await pause(2_000)
    if (isCopied) check.fault('rows are copied again', 'before a replica has deleted the old ones')
  } finally {
    await first.command('SYSTEM START MERGES events')
  }
  await copying
  for (const replica of serversOf(target)) expect(check, 'events copied again', await eventsOf(replica, site), 6)
}

/** Nothing is kept for a query that was answered. */
async function manyReads({ check, cluster }: Installation): Promise<void> {
  const [shard] = cluster.shards as [ClickHouse]
  await shard.rows(sql`SELECT 1`)
  const before = Number(queryObjects(Promise))
  for (let nth = 0; nth < 1_000; nth++) await shard.rows(sql`SELECT 1`)
  const kept = Number(queryObjects(Promise)) - before
  if (kept > 500) check.fault('many reads', `${kept} promises are kept after 1,000 queries`)
}

/** A query that takes long goes on; one whose replica stands still is answered by the other. */
async function slowReplica({ check, cluster, servers }: Installation): Promise<void> {
  const [shard] = cluster.shards as [ClickHouse]
  const [first, last] = serversOf(shard) as [ClickHouse, ClickHouse]
  let sent = 0
  const slow = sql`SELECT sleep(1.5)`
  const counting = (replica: ClickHouse): ClickHouse => ({
    ...replica,
    rows: (...given) => {
      if (given[0] === slow) sent++
      return replica.rows(...given)
    },
  })
  const reads = replicate([counting(first), counting(last)])
  await reads.rows(slow)
  if (sent !== 1) check.fault('a slow query', `was sent ${sent} times`)
  const server = servers.shards[0]?.[0] as Server
  await server.stop()
  try {
    const began = performance.now()
    await reads.rows(sql`SELECT 1`)
    const ms = performance.now() - began
    if (ms > 1_500) check.slow('a stopped replica', `an answer took ${Math.round(ms)} ms`)
  } finally {
    await server.resume()
    await eventually(() => catchUp(first, [first, last], 1_000), patientMs)
  }
}

/** A query whose replica is gone is answered by the other one. Requests would not show it: the API repeats its last answer. */
async function killedReplica({ check, cluster, servers }: Installation): Promise<void> {
  const [shard] = cluster.shards as [ClickHouse]
  const [first, last] = serversOf(shard) as [ClickHouse, ClickHouse]
  const fresh = replicate([first, last])
  await fresh.rows(sql`SELECT 1`)
  const server = servers.shards[0]?.[0] as Server
  await server.kill()
  await fresh.rows(sql`SELECT 1`).catch((error: Error) => check.fault('a query fails with its replica', error.message))
  await server.start()
  await eventually(() => catchUp(first, [first, last], 1_000), patientMs)
}

/** The p10 of the same query through the shard and on its first server alone, one after the other. */
async function latencyAgainstOneServer(installation: Installation): Promise<number> {
  const { check, cluster } = installation
  const site = await siteOn(installation, 1)
  const shard = cluster.of(site)
  const [first] = serversOf(shard) as [ClickHouse]
  await insert(shard, site, 200, `${closed}T10:00:00Z`)
  const statement = sql`SELECT uniqExact(visitor_id) AS visitors FROM events WHERE site_id = ${text(site.id)}`
  const times: [number[], number[]] = [[], []]
  for (let nth = 0; nth < 300; nth++) {
    for (const [index, clickhouse] of [shard, first].entries()) {
      const began = performance.now()
      await clickhouse.rows(statement)
      times[index]?.push(performance.now() - began)
    }
  }
  const ratio = quantile(times[0], 0.1) / quantile(times[1], 0.1)
  if (ratio > maxLatency) check.slow('latency', `${ratio.toFixed(2)} times one server, at most ${maxLatency}`)
  return Number(ratio.toFixed(3))
}

/** A shard with one server gets a second one: its rows are copied. */
const aloneBefore = (installation: Installation) =>
  withDatabase(installation, async (open, urls) => {
    const { check, postgres } = installation
    const alone = open(urls.slice(0, 1))
    await migrate({ postgres, cluster: alone })
    const site = { id: `site_${randomUUID()}`, shard: 1 }
    await insert(alone.of(site), site, 9, `${closed}T10:00:00Z`)
    const both = open(urls)
    await migrate({ postgres, cluster: both })
    await insert(both.of(site), site, 2, `${closed}T11:00:00Z`)
    for (const replica of serversOf(both.of(site))) {
      await eventually(() => catchUp(replica, serversOf(both.of(site)), 1_000), patientMs)
      expect(check, 'events of a server that was alone', await eventsOf(replica, site), 11)
    }
  })

/** A replica is taken out only when its server is gone. The other one then works alone, and waits for it until then. */
const goneForGood = (installation: Installation) =>
  withDatabase(installation, async (open, urls) => {
    const { check, postgres, servers } = installation
    const both = open(urls)
    await migrate({ postgres, cluster: both })
    const [clickhouse] = both.shards as [ClickHouse]
    const [first] = serversOf(clickhouse) as [ClickHouse]
    const [, gone] = [...(await replicasInKeeper(first)).keys()].sort() as [string, string]
    const drop = () =>
      shard['drop-replica'].run({ positionals: ['1', gone], options: {} }, { cluster: both } as Context).then(
        () => 'dropped',
        ({ message }: Error) => message,
      )
    expect(check, 'a running replica', await drop(), `Replica ${gone} of shard 1 is connected to Keeper.`)
    const server = servers.shards[1]?.[1] as Server
    await server.kill()
    try {
      await eventually(async () => {
        if ((await drop()) !== 'dropped') throw new Error('Keeper has not noticed')
      }, patientMs)
      expect(check, 'replicas that are left', (await replicasInKeeper(first)).size, 1)
      const alone = open(urls.slice(0, 1))
      await alone.shards[0]?.run(sql`INSERT INTO titles (site_id, pathname) SELECT 'a', '/'`)
    } finally {
      await server.start()
    }
    // It still has its tables, but it gets no rows any more.
    const cause = await clickhouse.replicas?.incomplete()
    if (!cause?.includes('replica 2 (')) check.fault('a replica that was taken out and started again', `${cause}`)
  })

/** With a database of its own on the second shard. */
async function withDatabase(
  { servers }: Installation,
  work: (open: (addresses: string[]) => Cluster, urls: string[]) => Promise<void>,
): Promise<void> {
  const database = newDatabaseName()
  const urls = (servers.addresses[1] as string[]).map(
    (url) => Object.assign(new URL(url), { pathname: `/${database}` }).href,
  )
  for (const url of urls) await createClickHouseDatabase(url)
  const opened: Cluster[] = []
  const open = (addresses: string[]) => {
    opened.push(openCluster({ CLICKHOUSE_URL: '', CLICKHOUSE_SHARDS: [addresses] }))
    return opened.at(-1) as Cluster
  }
  try {
    await work(open, urls)
  } finally {
    for (const url of urls) {
      const clickhouse = openClickHouse(Object.assign(new URL(url), { pathname: '/default' }).href)
      await clickhouse.command(`DROP DATABASE ${database} SYNC`).finally(() => clickhouse.close())
    }
    for (const cluster of opened) await cluster.close()
  }
}

async function siteOn({ postgres, accountId }: Installation, shard: number): Promise<Site> {
  const id = await createSite(postgres, { accountId, domain: `${randomUUID()}.example` })
  await postgres`UPDATE sites SET shard = ${shard} WHERE id = ${id}`
  return (await findSite(postgres, id)) as Site
}

async function insert(shard: ClickHouse, { id }: { id: string }, count: number, at: string): Promise<void> {
  const events = Array.from({ length: count }, (_, nth) => eventOf({ at, visitor: `${nth}` }, id, 'UTC'))
  await recordBatch(shard, { id: randomUUID(), events })
}

/** As a new process would answer. */
async function viewsOf(cluster: Cluster, site: Site): Promise<number> {
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  const parameters = { range: { name: '7d' }, filters: {}, limit: 10 } as const
  const { data } = await stats.read(
    { report: 'overview', site, parameters, queueKey: 'check' },
    AbortSignal.timeout(patientMs),
  )
  return (data as { current: { pageviews: number } }).current.pageviews
}

async function eventsOf(server: ClickHouse, { id }: { id: string }): Promise<number | undefined> {
  const [row] = await server.rowsPatiently<{ events: number }>(
    sql`SELECT count() AS events FROM events WHERE site_id = ${text(id)}`,
  )
  return row?.events
}

function openShipper(clickhouse: ClickHouse, check: Check) {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const placements = openPlacements(folder)
  const [batches, deadLetters, shipped] = [
    openBatches(folder, placements),
    openDeadLetters(folder),
    openShipped(folder),
  ]
  const file = openSpoolFile(folder, 1)
  check.onEnd(() => {
    for (const one of [placements, batches, deadLetters, shipped, file]) one.close()
    rmSync(folder, { recursive: true })
  })
  const stores = { clickhouse, batches, deadLetters, shipped, retainedFrom: async () => '1970-01-01', now: () => now }
  let isRetry = false
  let group = 0
  return {
    spool(site: Site, count: number) {
      const lines = Array.from({ length: count }, (_, nth) =>
        JSON.stringify({ event: eventOf({ at: `${closed}T09:00:00Z`, visitor: `${nth}` }, site.id, 'UTC') }),
      )
      file
        .prepare('INSERT INTO groups (number, shard, events, lines) VALUES (?, ?, ?, ?)')
        .run(++group, site.shard, count, lines.join('\n'))
    },
    async ship() {
      const wasRetry = isRetry
      isRetry = true
      await shipNextBatch(stores, wasRetry)
      isRetry = false
    },
    release: () => releaseKept(stores),
    kept: () =>
      (file.prepare('SELECT coalesce(sum(events), 0) AS events FROM groups').get() as { events: number }).events,
  }
}

function expect(check: Check, what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    check.fault(what, `${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
}
