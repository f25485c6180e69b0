// Runs `footfall serve` with two shards, and kills and stops their servers in turn under load. A shard with replicas may lose one of
// them: every request gets the right answer. If a whole shard is down, sites of the other one must notice nothing. Every acknowledged
// event is on its own shard once, on every replica, and nowhere else.
//   npm run check:cluster -- --minutes 10
//   npm run check:cluster -- --seconds 30 --rate 40 --events 100      the short form
//   npm run check:replicas      is check:cluster -- --servers replicated: each shard has two replicas
// With CLICKHOUSE_SHARDS and CLICKHOUSE_CONTROL it uses that cluster (servers.ts), otherwise servers of its own.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { catchUp } from '../../../src/cluster/replica-lag.ts'
import { type ClickHouse, openClickHouse } from '../../../src/stores/clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { launchServe } from '../../support/serve-process.ts'
import { keySecrets } from '../../support/stores.ts'
import { type Load, startLoad } from '../collect/load.ts'
import { ownDatabase } from '../own-database.ts'
import { startPaced } from '../paced.ts'
import { pause, quantile, runCheck } from '../runner.ts'
import { compareEvents, noEvents } from '../stored-events.ts'
import { migrateWith, outagesOf } from './outages.ts'
import { runScenarios } from './scenarios.ts'
import { findServers } from './servers.ts'

const shardCount = 2
const sitesOnEach = 2
/** Connections that send events of a site. */
const lanes = 5
/** Each key may ask 5,000 times per hour. */
const maxRequestsOfKey = 4_000
const brokenMs = 6_000
const soundMs = 6_000
const noticeMs = 3_000
const recoveryMs = 60_000

interface ShardedSite {
  id: string
  domain: string
  shard: number
  keys: string[]
  load: Load
  /** The pageviews of the last answer. */
  seen: number
}

await runCheck(
  {
    name: 'cluster',
    options: { minutes: 10, seconds: 0, rate: 200, events: 500, servers: '' },
    seconds: ({ minutes }) => 300 + minutes * 90,
  },
  async (check, { minutes, seconds, rate, events: eventRate, servers: kind }) => {
    const forMs = (seconds || minutes * 60) * 1_000
    const servers = await findServers(shardCount, kind)
    check.onEnd(servers.remove)
    const postgres = await ownDatabase(check)
    const latencyRatio = servers.isReplicated ? await runScenarios(check, servers, postgres.client) : null
    const server = await launchServe(
      { postgres: postgres.url, clickhouse: 'http://nobody@127.0.0.1:1/unused' },
      { CLICKHOUSE_SHARDS: JSON.stringify(servers.addresses), LOG_LEVEL: 'error' },
    )
    check.onEnd(async () => {
      await server.kill()
      rmSync(server.spoolFolder, { recursive: true, force: true })
    })
    await server.untilReady()

    const accountId = await createAccount(postgres.client, { name: 'Cluster', plan: 'Agency' })
    const requests = Math.ceil((forMs / 1_000) * rate * 1.5)
    const sites: ShardedSite[] = []
    for (let index = 0; index < shardCount * sitesOnEach; index++) {
      const shard = 1 + (index % shardCount)
      const domain = `${randomUUID()}.example`
      const id = await createSite(postgres.client, { accountId, domain })
      await postgres.client`UPDATE sites SET shard = ${shard} WHERE id = ${id}`
      const keys: string[] = []
      for (let key = 0; key <= requests / maxRequestsOfKey; key++)
        keys.push((await createKey(postgres.client, keySecrets, { accountId, siteId: id, name: 'Cluster' })).text)
      const pauseMs = (lanes * 1_000 * shardCount * sitesOnEach) / eventRate
      const load = startLoad({ url: server.url, domain, lanes, pauseMs })
      sites.push({ id, domain, shard, keys, load, seen: 0 })
    }

    let [outage, broken, lastBroken, soundSince] = ['nothing', 0, 0, 0]
    const times: number[] = []
    const counts = { asked: 0, ofBrokenShard: 0, repeated: 0, failedOfBrokenShard: 0 }

    async function ask(index: number): Promise<void> {
      const site = sites[index % sites.length] as ShardedSite
      const before = site.seen
      const began = performance.now()
      const wasBroken = isBroken(site)
      const response = await fetch(`${server.url}/api/v1/stats/overview?range=7d&site_id=${site.id}`, {
        headers: { Authorization: `Bearer ${site.keys[index % site.keys.length]}` },
      }).catch((error: Error) => error)
      const ms = performance.now() - began
      counts.asked++
      const mayFail = wasBroken || isBroken(site)
      if (mayFail) counts.ofBrokenShard++
      else times.push(ms)
      if (response instanceof Error || response.status !== 200) {
        const found = response instanceof Error ? response.message : `${response.status} ${await response.text()}`
        if (mayFail) counts.failedOfBrokenShard++
        else check.fault('failed request', `shard ${site.shard}, ${outage}: ${found}`, server.log().slice(-1_500))
        return
      }
      const { data } = (await response.json()) as { data: { current: { pageviews: number } } }
      const { pageviews } = data.current
      if (response.headers.has('stats-warning')) counts.repeated++
      if (pageviews < before) check.fault('older answer', `${site.domain}, ${outage}: ${pageviews} after ${before}`)
      const sent = site.load.ledger.acknowledged.size + lanes // those that are on their way
      if (pageviews > sent) check.fault('wrong answer', `${site.domain}: ${pageviews} of ${sent} events`)
      site.seen = Math.max(site.seen, pageviews)
    }
    /** A process needs a moment to notice that a shard is back. */
    const isBroken = ({ shard }: ShardedSite) =>
      shard === broken || (shard === lastBroken && performance.now() - soundSince < noticeMs)

    // Each key once before the load. PostgreSQL has 250 ms to find a key that a process does not know yet, and the servers here share two
    // cores; what happens when PostgreSQL is slow is the subject of test/faults.
    const keyCount = sites[0]?.keys.length ?? 0
    for (let index = 0; index < sites.length * keyCount; index++) await ask(index)
    const asking = startPaced(rate, ask)

    const clients = servers.addresses.map((urls, index) => urls.map((url) => openClickHouse(url, { shard: index + 1 })))
    check.onEnd(() => Promise.all(clients.flat().map((client) => client.close())))
    const possible = outagesOf(servers, () => migrateWith(server.environment))
    const outages: string[] = []
    const until = performance.now() + forMs
    for (let nth = 0; performance.now() < until; nth++) {
      await pause(soundMs)
      const { name, downShard, begin, end } = possible[nth % possible.length] as (typeof possible)[number]
      ;[outage, broken] = [name, downShard]
      await begin()
      await pause(brokenMs)
      await end()
      ;[broken, lastBroken, soundSince] = [0, downShard, performance.now()]
      if (servers.isReplicated) await eventually(() => areComplete(clients), recoveryMs)
      const recoveredMs = Math.round(performance.now() - soundSince)
      outages.push(name)
      check.say(`${name}; sound again ${recoveredMs} ms after its end; ${counts.asked} requests`)
    }
    await asking.stop()
    for (const site of sites) await site.load.stop()
    if (!server.isRunning()) check.fault('footfall serve ended', server.log())

    const events = noEvents()
    for (const site of sites) {
      for (const replica of clients[site.shard - 1] ?? [])
        await compareEvents(check, site, replica, clients.flat(), events)
    }
    for (const [index, site] of sites.entries()) {
      const expected = site.load.ledger.acknowledged.size
      await eventually(async () => {
        await ask(index)
        if (site.seen !== expected) throw new Error(`${site.seen} of ${expected}`)
      }, 30_000).catch((error: Error) => check.fault('wrong answer at the end', `${site.domain}: ${error.message}`))
    }
    const milliseconds = { median: Math.round(quantile(times, 0.5)), p99: Math.round(quantile(times, 0.99)) }
    return {
      replicated: servers.isReplicated,
      latencyRatio,
      outages,
      requests: { ...counts, milliseconds },
      events,
    }
  },
)

/** Every replica has every row. */
async function areComplete(shards: readonly (readonly ClickHouse[])[]): Promise<void> {
  for (const replicas of shards) {
    for (const replica of replicas) await catchUp(replica, replicas, 1_000)
  }
}
