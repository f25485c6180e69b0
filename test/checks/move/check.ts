// Adds a shard, and moves sites to it and back, under load. At each step of a move it kills the process that moves the site, the shippers,
// or the new shard. No request may fail, no process may give an answer that is older than its last one, every
// acknowledged event must be stored once, and nothing may be left behind.
//   npm run check:move -- --rounds 4
//   npm run check:move -- --rounds 1 --rate 20 --events 60      the short form
//   npm run check:move -- --servers replicated      each shard with two replicas
// With CLICKHOUSE_SHARDS and CLICKHOUSE_CONTROL it uses that cluster, otherwise servers of its own.
import { execFileSync, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { freePort } from '../../../dev/clickhouse/server.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { openCluster } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { openSpoolFile, spoolFiles } from '../../../src/collector/spool/files.ts'
import type { Step } from '../../../src/moving/move-site.ts'
import { rollUpSite } from '../../../src/rollups/roll-up.ts'
import { verifySite } from '../../../src/rollups/verify.ts'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { eventOf } from '../../support/events.ts'
import { eventually } from '../../support/eventually.ts'
import { runFootfall } from '../../support/installation.ts'
import { launchServe, type ServeProcess } from '../../support/serve-process.ts'
import { keySecrets } from '../../support/stores.ts'
import { findServers, type Server } from '../cluster/servers.ts'
import { startLoad } from '../collect/load.ts'
import { answerOf } from '../deploy/answer.ts'
import { startLoadBalancer } from '../deploy/load-balancer.ts'
import { ownDatabase } from '../own-database.ts'
import { startPaced } from '../paced.ts'
import { quantile, runCheck } from '../runner.ts'
import { compareEvents, type LoadedSite, noEvents } from '../stored-events.ts'

const allSteps: readonly Step[] = ['copying', 'holding', 'comparing', 'changing', 'moved', 'released']

/** What is killed when a move reaches a step. */
const kills: readonly { what: 'mover' | 'shippers' | 'new shard'; at: Step }[] = [
  { what: 'new shard', at: 'copying' },
  ...allSteps.map((at) => ({ what: 'mover', at }) as const),
  ...(['holding', 'comparing', 'moved'] as const).map((at) => ({ what: 'shippers', at }) as const),
]
/** Moves at the same time. */
const together = 3
const lanes = 2
const historyDays = 40
/** Each may ask 5,000 times per hour. */
const maxRequestsOfKey = 4_000

interface MovingSite extends LoadedSite {
  keys: string[]
  /** The pageviews of the last answer of each process. */
  seen: Map<number, number>
}

await runCheck(
  {
    name: 'move',
    options: { rounds: 4, rate: 100, events: 200, servers: '' },
    seconds: ({ rounds }) => 180 + rounds * 240,
  },
  async (check, { rounds, rate, events: eventRate, servers: kind }) => {
    const servers = await findServers(2, kind)
    check.onEnd(servers.remove)
    const { client: postgres, url } = await ownDatabase(check)
    const oneShard = JSON.stringify(servers.addresses.slice(0, 1))
    const bothShards = JSON.stringify(servers.addresses)
    const cluster = openCluster({ CLICKHOUSE_URL: '', CLICKHOUSE_SHARDS: servers.addresses })
    check.onEnd(() => cluster.close())
    await migrate({ postgres, cluster: { ...cluster, shards: cluster.shards.slice(0, 1) } })

    const accountId = await createAccount(postgres, { name: 'Moving', plan: 'Agency' })
    const requests = rounds * 120 * rate
    const sites: MovingSite[] = []
    for (let index = 0; index < kills.length; index++) {
      const domain = `${randomUUID()}.example`
      const id = await createSite(postgres, { accountId, domain })
      await writeHistory(cluster.of({ shard: 1 }), id)
      await rollUpSite({ postgres, clickhouse: cluster.of({ shard: 1 }) }, id, dayAgo(1))
      const keys = await Promise.all(
        Array.from({ length: 1 + requests / kills.length / maxRequestsOfKey }, () =>
          createKey(postgres, keySecrets, { accountId, siteId: id, name: 'Moving' }),
        ),
      )
      const load = { ledger: { acknowledged: new Set<string>() } } as LoadedSite['load']
      sites.push({ id, domain, shard: 1, load, keys: keys.map((key) => key.text), seen: new Map() })
    }

    const ports = [await freePort(), await freePort()]
    const settings = { DRAIN_SECONDS: '1', FOOTFALL_DEADLINE_FACTOR: '20', LOG_LEVEL: 'error' }
    const launch = (port: number, shards: string, spool?: string): Promise<ServeProcess> =>
      launchServe(
        { postgres: url, clickhouse: 'http://nobody@127.0.0.1:1/unused' },
        { ...settings, CLICKHOUSE_SHARDS: shards, PORT: `${port}`, ...(spool && { SPOOL_FOLDER: spool }) },
      )
    const processes: ServeProcess[] = []
    check.onEnd(async () => {
      await Promise.all(processes.map((one) => one.stop()))
      for (const { spoolFolder } of processes) rmSync(spoolFolder, { recursive: true, force: true })
    })
    for (const port of ports) processes.push(await launch(port, oneShard))
    await Promise.all(processes.map((one) => one.untilReady()))
    const balancer = await startLoadBalancer(ports)
    check.onEnd(balancer.close)

    const agent = new Agent({ keepAlive: true })
    check.onEnd(() => agent.destroy())
    const times: number[] = []
    let asked = 0
    async function ask(index: number): Promise<void> {
      const site = sites[index % sites.length] as MovingSite
      const port = ports.filter(balancer.isReady)[index % 2] ?? (ports.find(balancer.isReady) as number)
      const before = site.seen.get(port) ?? 0
      const began = performance.now()
      const { status, body } = await answerOf(
        `http://127.0.0.1:${port}/api/v1/stats/overview?range=12m&site_id=${site.id}`,
        agent,
        { Authorization: `Bearer ${site.keys[index % site.keys.length]}` },
      )
      times.push(performance.now() - began)
      asked++
      if (status !== 200) return check.fault('failed request', `${site.domain}: ${status} ${body.slice(0, 300)}`)
      const { pageviews } = (JSON.parse(body) as { data: { current: { pageviews: number } } }).data.current
      if (pageviews < before) check.fault('older answer', `${site.domain}: ${pageviews} after ${before}`)
      const sent = historyDays + site.load.ledger.acknowledged.size + lanes // those that are on their way
      if (pageviews < historyDays || pageviews > sent)
        check.fault('wrong answer', `${site.domain}: ${pageviews}, and ${sent} were sent`)
      site.seen.set(port, Math.max(before, site.seen.get(port) ?? 0, pageviews))
    }
    const asking = startPaced(rate, ask)
    const pauseMs = (lanes * 1_000 * sites.length) / eventRate
    for (const site of sites) site.load = startLoad({ url: balancer.url, domain: site.domain, lanes, pauseMs })

    const footfall = async (...words: string[]) => {
      const environment = { ...(processes[0] as ServeProcess).environment, CLICKHOUSE_SHARDS: bothShards }
      return runFootfall(words, { PATH: process.env.PATH ?? '', ...environment })
    }

    // A shard is added: every process gets its address, then new sites may go there.
    for (const [index, port] of ports.entries()) {
      const { stop, spoolFolder } = processes[index] as ServeProcess
      await stop()
      processes[index] = await launch(port, bothShards, spoolFolder)
      await eventually(async () => {
        if (!balancer.isReady(port)) throw new Error('not ready')
      }, 60_000)
    }
    await eventually(async () => {
      const added = await footfall('shard', 'add')
      if (added.code !== 0) throw new Error(added.stderr)
    }, 30_000)
    check.say(`A shard was added; ${asked} requests`)

    const counts = { moves: 0, kills: 0 }
    const holds: number[] = []
    /** Moves a site, and kills something at a step. Then the command finishes the move. */
    async function move(site: MovingSite, { what, at }: (typeof kills)[number]): Promise<void> {
      const shard = site.shard === 1 ? 2 : 1
      const child = fork(new URL('mover.ts', import.meta.url), [site.id, `${shard}`], {
        env: { ...process.env, DATABASE_URL: url, CLICKHOUSE_SHARDS: bothShards },
      })
      const ended = once(child, 'exit')
      let heldAt = 0
      child.on('message', async ({ step, outcome }: { step?: Step; outcome?: string }) => {
        if (step === 'holding') heldAt = performance.now()
        if (step === 'released' && what !== 'shippers') holds.push(performance.now() - heldAt)
        if (step === at) {
          counts.kills++
          if (what === 'mover') return void child.kill('SIGKILL')
          if (what === 'shippers') killShippers(processes)
          if (what === 'new shard') await Promise.all(newShard(shard).map((server) => server.kill()))
        }
        if (step && child.connected) child.send('go on')
        if (outcome && outcome !== 'moved' && what === 'shippers') check.fault('a move failed', outcome)
      })
      await ended
      if (what === 'new shard') await Promise.all(newShard(shard).map((server) => server.start()))
      // The lease of a killed process expires after 30 seconds.
      await postgres`UPDATE leases SET expires_at = now() WHERE name = ${`move ${site.id}`}`
      await eventually(async () => {
        const held = await postgres`SELECT FROM site_moves WHERE site_id = ${site.id} AND hold IS NOT NULL`
        if (held.length > 0) throw new Error('its events are still held back')
      }, 30_000)
      const isMoved = (await shardOf(site)) === shard
      if (!isMoved) {
        const moved = await footfall('site', 'move', site.domain, `${shard}`)
        if (moved.code !== 0) check.fault('a move cannot be continued', `${what} at ${at}: ${moved.stderr}`)
      }
      if ((await shardOf(site)) !== shard) check.fault('a site has not moved', `${what} at ${at}`)
      site.shard = shard
      counts.moves++
      check.say(`${what} killed at ${at}: now on shard ${shard}${isMoved ? '' : ', continued'}; ${asked} requests`)
    }
    /** Only while no site is there: without replicas its sites would get errors. */
    const newShard = (shard: number): readonly Server[] =>
      sites.some((one) => one.shard === shard) ? [] : (servers.shards[shard - 1] ?? [])
    const shardOf = async ({ id }: MovingSite): Promise<number> => {
      const [row] = await postgres<[{ shard: number }]>`SELECT shard FROM sites WHERE id = ${id}`
      return row.shard
    }

    // A site stays on its shard while a replica is down, and the command says which one.
    if (servers.isReplicated) {
      const [, away] = servers.shards[0] as readonly Server[]
      await away?.kill()
      const refused = await footfall('site', 'move', sites[0]?.domain ?? '', '2')
      if (!refused.stderr.includes('Not every replica of shard 1 has all rows: replica 2 ('))
        check.fault('a site leaves a shard without one of its replicas', refused.stderr)
      await away?.start()
    }
    for (let round = 0; round < rounds; round++) {
      const waiting = sites.map((site, index) => ({ site, kill: kills[index] as (typeof kills)[number] }))
      const [first] = waiting.splice(0, 1) as [(typeof waiting)[number]]
      await move(first.site, first.kill)
      await Promise.all(
        Array.from({ length: together }, async () => {
          for (let next = waiting.shift(); next; next = waiting.shift()) await move(next.site, next.kill)
        }),
      )
      // The old copies may be erased, as if 20 minutes had passed.
      await postgres`UPDATE deleted_sites SET erase_after = now()`
      const purged = await footfall('site', 'purge')
      if (purged.code !== 0) check.fault('the old copies are not erased', purged.stderr)
      await postgres`UPDATE deleted_sites SET erased_at = erased_at - interval '2 minutes'`
    }
    await asking.stop()
    for (const site of sites) await site.load.stop()

    const events = noEvents()
    for (const site of sites) {
      await compareEvents(check, site, cluster.of(site), cluster.shards, events)
      const { wrong } = await verifySite({ postgres, clickhouse: cluster.of(site) }, site.id)
      if (wrong.length > 0) check.fault('wrong rollups', `${site.domain}: ${JSON.stringify(wrong.slice(0, 3))}`)
    }
    for (const [index, site] of sites.entries()) {
      const expected = historyDays + site.load.ledger.acknowledged.size
      await eventually(async () => {
        await ask(index)
        if (Math.max(...site.seen.values()) !== expected) throw new Error(`${[...site.seen.values()]} of ${expected}`)
      }, 30_000).catch((error: Error) => check.fault('wrong answer at the end', `${site.domain}: ${error.message}`))
    }
    for (const { spoolFolder } of processes) {
      await eventually(async () => {
        for (const number of spoolFiles(spoolFolder)) {
          const file = openSpoolFile(spoolFolder, number)
          const left = file.prepare('SELECT count(*) AS groups FROM groups').get() as { groups: number }
          file.close()
          if (left.groups > 0) throw new Error(`${left.groups} groups`)
        }
      }).catch((error: Error) => check.fault('events are left in a spool', error.message))
    }
    return {
      replicated: servers.isReplicated,
      ...counts,
      requests: {
        asked,
        milliseconds: { median: Math.round(quantile(times, 0.5)), p99: Math.round(quantile(times, 0.99)) },
      },
      heldSeconds: { median: seconds(quantile(holds, 0.5)), worst: seconds(Math.max(...holds)) },
      events,
    }
  },
)

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10
}

function dayAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
}

/** One event on each of the days before today. */
async function writeHistory(clickhouse: ClickHouse, siteId: string): Promise<void> {
  const events = Array.from({ length: historyDays }, (_, day) =>
    eventOf({ at: `${dayAgo(day + 1)}T12:00:00Z`, visitor: `${day}`, title: 'Old' }, siteId, 'UTC'),
  )
  for (const some of Map.groupBy(events, ({ day }) => day.slice(0, 7)).values())
    await recordBatch(clickhouse, { id: randomUUID(), events: some })
}

function killShippers(processes: readonly ServeProcess[]): void {
  for (const { pid } of processes) {
    const found = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', `${pid}`], { encoding: 'utf8' })
    const [shipper] = found.split('\n').filter((line) => line.includes('shipper/main.ts'))
    if (!shipper) throw new Error(`footfall serve has no shipper: ${found}`)
    process.kill(Number.parseInt(shipper, 10), 'SIGKILL')
  }
}
