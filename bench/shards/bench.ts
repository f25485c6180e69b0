// Answers about small sites with 1, 2 and 4 shards: how many per second, what CPU each costs, and how many rows ClickHouse reads. All
// servers are on this machine and share its cores, so more servers cannot answer more; what must hold is that an answer costs the same and
// reads the same however many shards there are. The layouts are measured in turn.
//   npm run bench:shards [-- --sites 400 --seconds 4 --rounds 8]
import { availableParallelism } from 'node:os'
import { type Logger, pino } from 'pino'
import { type ClickHouseServer, startClickHouse } from '../../dev/clickhouse/server.ts'
import { type Cluster, clusterOf } from '../../src/cluster/cluster.ts'
import { clickhouseMigrations } from '../../src/cluster/migrate.ts'
import type { StatsSite } from '../../src/stats/report.ts'
import { createStatsService, type StatsService } from '../../src/stats/service.ts'
import { createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, texts, uint } from '../../src/stores/clickhouse-sql.ts'
import { readOptions } from '../../test/support/options.ts'
import { cpuSeconds, machineTime, round, since, spreadOf } from '../api/measure.ts'

const values = readOptions('shards', { sites: 400, seconds: 4, rounds: 8 })
const layouts = [1, 2, 4] as const
const eventsEach = 3_000
const days = 60
const questionsAtOnce = 8
/** Rows read and CPU, compared with one shard. Merges leave parts of other sizes, so that a query reads a granule more or less. */
const maxRows = 1.05
const maxCpu = 1.1
const now = Date.parse('2026-11-15T12:00:00Z')

const say = (text: string): void => void process.stderr.write(`${text}\n`)
setTimeout(() => process.exit(1), 20 * 60_000).unref()

interface Layout {
  shards: number
  cluster: Cluster
  stats: StatsService
  sites: StatsSite[]
  perSecond: number[]
  cpuMs: number[]
}

const servers: ClickHouseServer[] = []
const rowsRead = new Map<number, number>()
try {
  for (let nth = 0; nth < 4; nth++) servers.push(await startClickHouse())
  const ids = Array.from({ length: values.sites }, (_, nth) => `site_${String(nth).padStart(16, 'a')}`)
  const made: Layout[] = []
  for (const shards of layouts) made.push(await makeLayout(shards, ids))
  const expected = JSON.stringify(await answersOf(made[0] as Layout))
  for (const layout of made.slice(1)) {
    if (JSON.stringify(await answersOf(layout)) !== expected)
      throw new Error(`With ${layout.shards} shards the answers differ`)
  }
  for (const { shards } of made) rowsRead.set(shards, await countRows(shards, ids))
  const machine = machineTime()
  for (let nth = 0; nth < values.rounds; nth++) {
    // Each comes first in every third round.
    for (let turn = 0; turn < made.length; turn++) await measure(made[(nth + turn) % made.length] as Layout)
    say(`Round ${nth + 1}: ${made.map(({ shards, perSecond }) => `${shards}: ${perSecond.at(-1)}/s`).join(', ')}`)
  }
  const measured = made.map(({ shards, perSecond, cpuMs }) => ({
    shards,
    answersPerSecond: { median: Math.round(spreadOf(perSecond).median), best: Math.round(Math.max(...perSecond)) },
    cpuMsPerAnswer: spreadOf(cpuMs),
    rowsPerAnswer: rowsRead.get(shards),
  }))
  const [one, ...more] = measured as [(typeof measured)[number], ...typeof measured]
  const ok = more.every(
    ({ cpuMsPerAnswer, rowsPerAnswer }) =>
      (rowsPerAnswer ?? 0) <= maxRows * (one.rowsPerAnswer ?? 0) &&
      cpuMsPerAnswer.p10 <= maxCpu * one.cpuMsPerAnswer.p10,
  )
  const cores = availableParallelism()
  const note = `all servers share ${cores} cores: more servers cannot answer more here`
  for (const { cluster } of made) await cluster.close()
  console.log(
    JSON.stringify({ bench: 'shards', sites: ids.length, note, measured, maxRows, maxCpu, ...since(machine), ok }),
  )
  process.exitCode = ok ? 0 : 1
} finally {
  await Promise.all(servers.map((server) => server.stop()))
}
process.exit()

/** The same traffic, on the first `shards` servers, in a database of its own. */
async function makeLayout(shards: number, ids: readonly string[]): Promise<Layout> {
  const clients = await Promise.all(servers.slice(0, shards).map((server, nth) => openShard(server, nth + 1, shards)))
  const sites = ids.map((id, nth) => siteOf(id, 1 + (nth % shards)))
  for (const clickhouse of clients) {
    for (const statement of clickhouseMigrations()) await clickhouse.command(statement)
    const own = sites.filter(({ shard }) => shard === clickhouse.shard).map(({ id }) => id)
    await clickhouse.run(sql`
      INSERT INTO events (site_id, day, time, visitor_id, session_id, event_id, name, hostname, pathname, country, device)
      SELECT site, toDate(at), at, cityHash64(site, nth % 300, toDate(at)) AS visitor, visitor, nth, 'pageview', 'example.com',
        concat('/page/', toString(nth % 40)), ['DE', 'FR', 'US'][1 + nth % 3], 'Desktop'
      FROM
      (
        SELECT arrayJoin(${texts(own)}) AS site, number AS nth,
          toDateTime64('2026-11-15 11:00:00', 3, 'UTC') - toIntervalSecond(intDiv(nth * 86400 * ${uint(days)}, ${uint(eventsEach)})) AS at
        FROM numbers(${uint(eventsEach)})
      )`)
    await clickhouse.command('OPTIMIZE TABLE events FINAL')
  }
  say(`${shards} ${shards === 1 ? 'shard' : 'shards'}: ${ids.length * eventsEach} events`)
  const cluster = clusterOf(clients)
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  return { shards, cluster, stats, sites, perSecond: [], cpuMs: [] }
}

async function openShard(server: ClickHouseServer, shard: number, shards: number, log?: Logger) {
  const url = `${server.url}/layout_${shards}`
  await createClickHouseDatabase(url)
  return openClickHouse(url, { shard, log })
}

function siteOf(id: string, shard: number): StatsSite {
  const nothing = {
    versions: [],
    today: null,
    settledThrough: null,
    invalidations: 0,
    eventsFrom: '1970-01-01',
    imported: [],
  }
  return { id, timeZone: 'UTC', excludedCountries: [], goals: [], shard, coverage: nothing }
}

async function ask({ stats, sites }: Layout, nth: number): Promise<unknown> {
  const site = sites[nth % sites.length] as StatsSite
  const parameters = { range: { name: '30d' }, filters: {}, limit: 10 } as const
  const { data } = await stats.read(
    { report: 'overview', site, parameters, queueKey: site.id },
    AbortSignal.timeout(60_000),
  )
  return data
}

async function answersOf(layout: Layout): Promise<unknown[]> {
  const found: unknown[] = []
  for (let nth = 0; nth < layout.sites.length; nth++) found.push(await ask(layout, nth))
  return found
}

/** On average over all sites. */
async function countRows(shards: number, ids: readonly string[]): Promise<number> {
  let rows = 0
  const write = (line: string) => {
    rows += (JSON.parse(line) as { rowsRead?: number }).rowsRead ?? 0
  }
  const log = pino({}, { write })
  const clients = await Promise.all(
    servers.slice(0, shards).map((server, nth) => openShard(server, nth + 1, shards, log)),
  )
  const cluster = clusterOf(clients)
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  const sites = ids.map((id, nth) => siteOf(id, 1 + (nth % shards)))
  await answersOf({ shards, cluster, stats, sites, perSecond: [], cpuMs: [] })
  await new Promise((resolve) => setTimeout(resolve, 1_000)) // the log comes after the answer
  await cluster.close()
  return Math.round(rows / ids.length)
}

async function measure(layout: Layout): Promise<void> {
  const until = performance.now() + values.seconds * 1_000
  const cpu = () => servers.slice(0, layout.shards).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0)
  const [began, before] = [performance.now(), cpu()]
  let asked = 0
  await Promise.all(
    Array.from({ length: questionsAtOnce }, async () => {
      while (performance.now() < until) await ask(layout, asked++)
    }),
  )
  layout.perSecond.push(round(asked / ((performance.now() - began) / 1_000), 1))
  layout.cpuMs.push(round(((cpu() - before) * 1_000) / asked, 3))
}
