// Runs `footfall serve` with two ClickHouse servers, one per shard, and kills and stops them in turn under load. Sites of the other shard
// must notice nothing: every request gets the right answer. Every acknowledged event is on its own shard once, and nowhere else.
//   npm run check:cluster -- --minutes 10
//   npm run check:cluster -- --seconds 30 --rate 40      the short form
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { type ClickHouse, openClickHouse } from '../../../src/stores/clickhouse.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import { createPostgresDatabase, openPostgres } from '../../../src/stores/postgres.ts'
import { eventKey } from '../../../src/traffic/recording.ts'
import { eventually } from '../../support/eventually.ts'
import { startOwnClickHouse } from '../../support/own-stores.ts'
import { launchServe } from '../../support/serve-process.ts'
import { databaseUrl, keySecrets, newDatabaseName } from '../../support/stores.ts'
import { type Ledger, startLoad } from '../collect/load.ts'
import { type Check, pause, quantile, runCheck } from '../runner.ts'

const shardCount = 2
const sitesOnEach = 2
/** Each key may ask 5,000 times per hour. */
const mostRequestsOfKey = 4_000
const eventsPerSecondOfSite = 25
const brokenMs = 6_000
const soundMs = 6_000
const noticeMs = 3_000

interface ShardedSite {
  id: string
  domain: string
  shard: number
  keys: string[]
  load: { ledger: Ledger; stop(): Promise<Ledger> }
  /** The pageviews of the last answer. */
  seen: number
}

await runCheck(
  { name: 'cluster', size: { option: 'minutes', default: 10 }, seconds: (minutes) => 300 + minutes * 90 },
  async (check, { rate = '200', seconds }) => {
    const forMs = seconds ? Number(seconds) * 1_000 : check.n * 60_000
    const shards = await Promise.all(Array.from({ length: shardCount }, startOwnClickHouse))
    check.onEnd(() => Promise.all(shards.map((shard) => shard.remove())))
    const postgres = await ownDatabase(check)
    const server = await launchServe(
      { postgres: postgres.url, clickhouse: 'http://nobody@127.0.0.1:1/unused' },
      { CLICKHOUSE_SHARDS: JSON.stringify(shards.map(({ url }) => [url])), LOG_LEVEL: 'error' },
    )
    check.onEnd(async () => {
      await server.kill()
      rmSync(server.spoolFolder, { recursive: true, force: true })
    })
    await server.untilReady()

    const accountId = await createAccount(postgres.client, { name: 'Cluster', plan: 'Agency' })
    const requests = Math.ceil((forMs / 1_000) * Number(rate) * 1.5)
    const sites: ShardedSite[] = []
    for (let index = 0; index < shardCount * sitesOnEach; index++) {
      const shard = 1 + (index % shardCount)
      const domain = `${randomUUID()}.example`
      const id = await createSite(postgres.client, { accountId, domain })
      await postgres.client`UPDATE sites SET shard = ${shard} WHERE id = ${id}`
      const keys: string[] = []
      for (let key = 0; key <= requests / mostRequestsOfKey; key++)
        keys.push((await createKey(postgres.client, keySecrets, { accountId, siteId: id, name: 'Cluster' })).text)
      const load = startLoad({ url: server.url, domain, lanes: 5, pauseMs: 5_000 / eventsPerSecondOfSite })
      sites.push({ id, domain, shard, keys, load, seen: 0 })
    }

    let [broken, lastBroken, soundSince] = [0, 0, 0]
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
        else check.fault('failed request', `shard ${site.shard} while ${broken || 'no shard'} was broken: ${found}`)
        return
      }
      const { data } = (await response.json()) as { data: { current: { pageviews: number } } }
      const { pageviews } = data.current
      if (response.headers.has('stats-warning')) counts.repeated++
      if (pageviews < before) check.fault('older answer', `${site.domain}: ${pageviews} after ${before}`)
      const sent = site.load.ledger.acknowledged.size + 5 // those that are on their way
      if (pageviews > sent) check.fault('wrong answer', `${site.domain}: ${pageviews} of ${sent} events`)
      site.seen = Math.max(site.seen, pageviews)
    }
    /** A process needs a moment to notice that a shard is back. */
    const isBroken = ({ shard }: ShardedSite) =>
      shard === broken || (shard === lastBroken && performance.now() - soundSince < noticeMs)

    let isOver = false
    const asking = (async () => {
      const sent: Promise<void>[] = []
      for (let index = 0; !isOver; index++) {
        sent.push(ask(index))
        await pause(1_000 / Number(rate))
      }
      await Promise.all(sent)
    })()

    const outages: string[] = []
    const until = performance.now() + forMs
    const ways = ['killed', 'stopped'] as const
    for (let nth = 0; performance.now() < until; nth++) {
      await pause(soundMs)
      const number = 1 + (nth % shardCount)
      const way = ways[Math.floor(nth / shardCount) % ways.length] as (typeof ways)[number]
      const shard = shards[number - 1] as (typeof shards)[number]
      broken = number
      if (way === 'killed') await shard.kill()
      else shard.signal('SIGSTOP')
      await pause(brokenMs)
      if (way === 'killed') await shard.start()
      else shard.signal('SIGCONT')
      ;[broken, lastBroken, soundSince] = [0, number, performance.now()]
      outages.push(`shard ${number} ${way}`)
      check.say(`shard ${number} was ${way}; ${counts.asked} requests`)
    }
    isOver = true
    await asking
    for (const site of sites) await site.load.stop()
    if (!server.isRunning()) check.fault('footfall serve ended', server.log())

    const clients = shards.map(({ url }, index) => openClickHouse(url, { shard: index + 1 }))
    check.onEnd(() => Promise.all(clients.map((client) => client.close())))
    const events = { acknowledged: 0, lost: 0, twice: 0, elsewhere: 0 }
    for (const site of sites) await compare(check, site, clients, events)
    for (const [index, site] of sites.entries()) {
      const expected = site.load.ledger.acknowledged.size
      await eventually(async () => {
        await ask(index)
        if (site.seen !== expected) throw new Error(`${site.seen} of ${expected}`)
      }, 30_000).catch((error: Error) => check.fault('wrong answer at the end', `${site.domain}: ${error.message}`))
    }
    const milliseconds = { median: Math.round(quantile(times, 0.5)), p99: Math.round(quantile(times, 0.99)) }
    return { replicated: false, rate: Number(rate), outages, requests: { ...counts, milliseconds }, events }
  },
  { rate: { type: 'string' }, seconds: { type: 'string' } },
)

async function compare(
  check: Check,
  { id, domain, shard, load }: ShardedSite,
  clients: readonly ClickHouse[],
  counts: { acknowledged: number; lost: number; twice: number; elsewhere: number },
): Promise<void> {
  const acknowledged = new Set([...load.ledger.acknowledged].map(eventKey))
  const held = async (clickhouse: ClickHouse) => {
    const rows = await clickhouse.rowsPatiently<{ id: string; times: number }>(sql`
      SELECT toString(event_id) AS id, count() AS times FROM events WHERE site_id = ${text(id)} GROUP BY event_id`)
    return new Map(rows.map((row) => [row.id, row.times]))
  }
  const own = clients[shard - 1] as ClickHouse
  await eventually(async () => {
    if ((await held(own)).size < acknowledged.size) throw new Error('not all events have arrived')
  }, 60_000).catch(() => {})
  const found = await held(own)
  const lost = [...acknowledged].filter((one) => !found.has(one)).length
  const twice = [...found.values()].filter((times) => times > 1).length
  let elsewhere = 0
  for (const other of clients) if (other !== own) elsewhere += (await held(other)).size
  if (lost > 0) check.fault('lost', `${lost} of ${acknowledged.size} acknowledged events of ${domain}`)
  if (twice > 0) check.fault('twice', `${twice} events of ${domain}`)
  if (elsewhere > 0) check.fault('on the wrong shard', `${elsewhere} events of ${domain}`)
  counts.acknowledged += acknowledged.size
  counts.lost += lost
  counts.twice += twice
  counts.elsewhere += elsewhere
}

async function ownDatabase(check: Check) {
  const name = newDatabaseName()
  const url = Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href
  await createPostgresDatabase(url)
  const client = openPostgres(url, 2)
  check.onEnd(async () => {
    await client.end({ timeout: 1 })
    const admin = openPostgres(databaseUrl, 1)
    await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  return { url, client }
}
