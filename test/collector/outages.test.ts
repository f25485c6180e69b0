// How a collector behaves while a dependency is down: it keeps what it acknowledged, or it returns 503.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { spoolFiles } from '../../src/collector/spool/files.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { storedId } from '../../src/traffic/recording.ts'
import { startCollectorProcess } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { missing } from '../support/needing.ts'
import { startOwnPostgres } from '../support/own-servers.ts'
import { createEmptyStores, openStores, type Stores } from '../support/stores.ts'

async function newSite({ postgres }: Pick<Stores, 'postgres'>) {
  const domain = `${randomUUID()}.example`
  const accountId = await createAccount(postgres, { name: 'Outages', plan: 'Free' })
  const id = await createSite(postgres, { accountId, domain })
  return { id, domain, page: { n: 'pageview', u: `https://${domain}/`, d: domain } }
}

test('PostgreSQL down: events of known sites are accepted, and unknown sites are not guessed', {
  skip: missing('PostgreSQL'),
}, async (t) => {
  const server = await startOwnPostgres()
  t.after(() => server.remove())
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const postgres = openPostgres(server.url, 2)
  await migrate({ postgres, cluster: stores.cluster })
  const [known, other] = [await newSite({ postgres }), await newSite({ postgres })]
  await postgres.end()
  const collector = await startCollectorProcess({ postgres: server.url, clickhouse: stores.addresses.clickhouse })
  t.after(() => collector.stop())
  await eventually(async () => assert.equal((await collector.post(known.page)).status, 202))

  await server.kill()
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (let time = 0; time < 5; time++) {
    assert.equal((await collector.post(known.page)).status, 202)
    const refused = await collector.post(other.page)
    assert.equal(refused.status, 503)
    assert.match(refused.headers.get('Retry-After') ?? '', /^[1-9]\d*$/)
  }
  await server.start()
  await eventually(async () => assert.equal((await collector.post(other.page)).status, 202))
})

/** A collector whose system calls can be made to fail, and the record of what it acknowledged. */
async function openHarmed(t: TestContext, environment: Record<string, string> = {}) {
  const stores = await openStores()
  const site = await newSite(stores)
  const { postgres, clickhouse } = stores.addresses
  const collector = await startCollectorProcess({ postgres, clickhouse }, { environment })
  t.after(() => collector.stop())
  const acknowledged: string[] = []
  async function send(): Promise<number> {
    const id = randomUUID()
    const { status } = await collector.post({ ...site.page, id })
    if (status === 202) acknowledged.push(id)
    return status
  }
  await eventually(async () => assert.equal(await send(), 202))

  return {
    collector,
    addresses: { postgres, clickhouse },
    send,
    /** Returns a function that ends the failure. */
    harm(calls: string, how: string): () => Promise<void> {
      const strace = spawn('strace', [
        ...['-f', '-q', '-p', `${collector.pid}`, '-e', `trace=${calls}`],
        ...['-e', `inject=${calls}:${how}`],
      ])
      let said = ''
      strace.stderr.on('data', (chunk) => {
        said += chunk
      })
      return async () => {
        strace.kill('SIGINT')
        await once(strace, 'exit')
        assert.match(said, /INJECTED|DELAYED/)
      }
    },
    /** Asserts that it accepts events again soon, and keeps doing so. */
    async takesAgain(): Promise<void> {
      await eventually(async () => assert.equal(await send(), 202), maxBackMs)
      for (let time = 0; time < 20; time++) assert.equal(await send(), 202)
    },
    async everythingArrivesOnce(): Promise<void> {
      const client = openClickHouse(clickhouse)
      t.after(() => client.close())
      await eventually(async () => {
        const rows = await client.rows<{ event_id: string; times: number }>(sql`
          SELECT toString(event_id) AS event_id, count() AS times FROM events WHERE site_id = ${text(site.id)} GROUP BY event_id`)
        assert.ok(rows.every(({ times }) => times === 1))
        const held = new Set(rows.map(({ event_id }) => event_id))
        assert.deepEqual(
          acknowledged.filter((id) => !held.has(storedId(id))),
          [],
        )
      }, 20_000)
    },
  }
}

const maxBackMs = 5_000

const brokenDisks = [
  ['fails to sync', 'fdatasync,fsync', 'EIO'],
  ['is full', 'pwrite64', 'ENOSPC'],
] as const

for (const [what, calls, error] of brokenDisks)
  test(`a disk that ${what}: no event of that group is acknowledged, and a new file is created`, async (t) => {
    const { send, harm, takesAgain, everythingArrivesOnce } = await openHarmed(t)
    const heal = harm(calls, `error=${error}`)
    await eventually(async () => assert.equal(await send(), 503), 20_000)
    for (let time = 0; time < 5; time++) assert.equal(await send(), 503)
    await heal()
    await takesAgain()
    await everythingArrivesOnce()
  })

test('a disk that cannot be listed for a while: one new file is created, not one per measurement', async (t) => {
  const { collector, send, harm, takesAgain, everythingArrivesOnce } = await openHarmed(t)
  const heal = harm('getdents64', 'error=EIO')
  await eventually(async () => assert.equal(await send(), 503), 20_000)
  await pause(2_000) // ten measurements
  await heal()
  await takesAgain()
  assert.equal(spoolFiles(collector.spoolFolder).at(-1), 2)
  await everythingArrivesOnce()
})

test('while the disk takes three seconds for a group, no requests queue for it; when it is fast again, all are accepted', async (t) => {
  const { send, harm, takesAgain, everythingArrivesOnce } = await openHarmed(t)
  const heal = harm('fdatasync,fsync', 'delay_enter=3000000')
  const sent: Promise<number>[] = []
  const answers: number[] = []
  const sending = setInterval(() => sent.push(send().then((status) => answers.push(status))), 100)
  t.after(() => clearInterval(sending))
  await eventually(async () => assert.ok(answers.includes(503)), 20_000)
  await pause(3_000)
  await heal()
  await takesAgain()
  clearInterval(sending)
  await Promise.all(sent)
  assert.deepEqual([...new Set(answers)].sort(), [202, 503])
  await everythingArrivesOnce()
})

/** Loaded into every thread. The thread of the spool throws an uncaught error once its folder has a file `end`. */
const mortalThread = `
  import { existsSync } from 'node:fs'
  import { isMainThread, workerData } from 'node:worker_threads'
  const look = () => {
    if (existsSync(workerData.folder + '/end')) throw new Error('A fault of the thread')
  }
  if (!isMainThread) setInterval(look, 20)`

test('when the spool thread ends, the process exits with an error, and the next one ships all acknowledged events', async (t) => {
  const environment = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(mortalThread)}` }
  const { collector, addresses, send, everythingArrivesOnce } = await openHarmed(t, environment)
  assert.equal(await send(), 202)
  const ended = once(collector.child, 'exit', { signal: AbortSignal.timeout(10_000) })
  writeFileSync(join(collector.spoolFolder, 'end'), '')
  assert.deepEqual(await ended, [1, null])
  assert.match(collector.log(), /"level":60.*A fault of the thread/)
  const next = await startCollectorProcess(addresses, { spoolFolder: collector.spoolFolder })
  t.after(() => next.stop())
  await everythingArrivesOnce()
})

test('a session continues through a restart of the collector and through kill -9', async (t) => {
  const stores = await openStores()
  const site = await newSite(stores)
  const { postgres, clickhouse } = stores.addresses
  const first = await startCollectorProcess({ postgres, clickhouse })
  await first.post({ ...site.page, u: `${site.page.u}?utm_source=News&utm_campaign=Spring` })
  await first.stop()
  // A graceful shutdown ships everything, so the second process reads ClickHouse. kill -9 leaves a hit in the spool, so the third reads that
  // too.
  const second = await startCollectorProcess({ postgres, clickhouse }, { spoolFolder: first.spoolFolder })
  await second.post(site.page)
  const spooled = await newSite(stores) // its session is only in the spool
  await second.post(spooled.page)
  await second.kill()
  const third = await startCollectorProcess({ postgres, clickhouse }, { spoolFolder: first.spoolFolder })
  t.after(() => third.stop())
  await third.post(site.page)
  await third.post(spooled.page)
  const client = openClickHouse(clickhouse)
  t.after(() => client.close())
  await eventually(async () => {
    const rows = await client.rows<{ sessions: number; sources: number; events: number }>(sql`
      SELECT uniqExact(session_id) AS sessions, countIf((utm_source, utm_campaign) = ('News', 'Spring')) AS sources, count() AS events
      FROM events WHERE site_id = ${text(site.id)}`)
    assert.deepEqual(rows, [{ sessions: 1, sources: 3, events: 3 }])
    const others = await client.rows<{ sessions: number; events: number }>(sql`
      SELECT uniqExact(session_id) AS sessions, count() AS events FROM events WHERE site_id = ${text(spooled.id)}`)
    assert.deepEqual(others, [{ sessions: 1, events: 2 }])
  })
})
