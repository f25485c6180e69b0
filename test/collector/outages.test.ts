// What a collector does while something it needs is away: it keeps its promises, or it says 503 before it makes one.
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
import { spoolFiles } from '../../src/collector/spool-file.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { startCollectorProcess } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { startOwnPostgres } from '../support/own-servers.ts'
import { createEmptyStores, openStores, type Stores } from '../support/stores.ts'

async function newSite({ postgres }: Pick<Stores, 'postgres'>) {
  const domain = `${randomUUID()}.example`
  const accountId = await createAccount(postgres, { name: 'Outages', plan: 'Free' })
  const id = await createSite(postgres, { accountId, domain })
  return { id, domain, page: { n: 'pageview', u: `https://${domain}/`, d: domain } }
}

test('PostgreSQL away: known sites go on, of others it is not guessed', async (t) => {
  const server = await startOwnPostgres()
  t.after(() => server.remove())
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const postgres = openPostgres(server.url, 2)
  await migrate({ postgres, clickhouse: stores.clickhouse })
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

/** A collector whose system calls can be harmed, and the ledger of what it acknowledged. */
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
    /** Returns what ends it. */
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
    /** Soon, and not just once. */
    async takesAgain(): Promise<void> {
      await eventually(async () => assert.equal(await send(), 202), longestBackMs)
      for (let time = 0; time < 20; time++) assert.equal(await send(), 202)
    },
    async everythingArrivesOnce(): Promise<void> {
      const engine = openClickHouse(clickhouse)
      t.after(() => engine.close())
      await eventually(async () => {
        const rows = await engine.rows<{ event_id: string; times: number }>(sql`
          SELECT event_id, count() AS times FROM events WHERE site_id = ${text(site.id)} GROUP BY event_id`)
        assert.ok(rows.every(({ times }) => times === 1))
        const held = new Set(rows.map(({ event_id }) => event_id))
        assert.deepEqual(
          acknowledged.filter((id) => !held.has(id)),
          [],
        )
      }, 20_000)
    },
  }
}

const longestBackMs = 5_000

const brokenDisks = [
  ['fails to sync', 'fdatasync,fsync', 'EIO'],
  ['is full', 'pwrite64', 'ENOSPC'],
] as const

for (const [what, calls, error] of brokenDisks)
  test(`a disk that ${what}: nothing of that group is acknowledged, and a new file is begun`, async (t) => {
    const { send, harm, takesAgain, everythingArrivesOnce } = await openHarmed(t)
    const heal = harm(calls, `error=${error}`)
    await eventually(async () => assert.equal(await send(), 503), 20_000)
    for (let time = 0; time < 5; time++) assert.equal(await send(), 503)
    await heal()
    await takesAgain()
    await everythingArrivesOnce()
  })

test('a disk that cannot be listed for a while: one new file is begun, not one for every look at it', async (t) => {
  const { collector, send, harm, takesAgain, everythingArrivesOnce } = await openHarmed(t)
  const heal = harm('getdents64', 'error=EIO')
  await eventually(async () => assert.equal(await send(), 503), 20_000)
  await pause(2_000) // ten looks
  await heal()
  await takesAgain()
  assert.equal(spoolFiles(collector.spoolFolder).at(-1), 2)
  await everythingArrivesOnce()
})

test('a disk that takes three seconds for a group is no place to queue for; when it is fast again all is taken again', async (t) => {
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

/** Loaded into every thread: that of the spool throws where nobody catches it once there is a file `end` in its folder. */
const mortalThread = `
  import { existsSync } from 'node:fs'
  import { isMainThread, workerData } from 'node:worker_threads'
  const look = () => {
    if (existsSync(workerData.folder + '/end')) throw new Error('A fault of the thread')
  }
  if (!isMainThread) setInterval(look, 20)`

test('the thread of the spool ends: so does the process, with an error, and the next one ships what was acknowledged', async (t) => {
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

test('a session goes on through a restart of the collector and through kill -9', async (t) => {
  const stores = await openStores()
  const site = await newSite(stores)
  const { postgres, clickhouse } = stores.addresses
  const first = await startCollectorProcess({ postgres, clickhouse })
  await first.post({ ...site.page, u: `${site.page.u}?utm_source=News` })
  await first.stop()
  // An orderly end ships everything, so the second reads the engine; kill -9 leaves its hit in the spool, so the third reads that too.
  const second = await startCollectorProcess({ postgres, clickhouse }, { spoolFolder: first.spoolFolder })
  await second.post(site.page)
  await second.kill()
  const third = await startCollectorProcess({ postgres, clickhouse }, { spoolFolder: first.spoolFolder })
  t.after(() => third.stop())
  await third.post(site.page)
  const engine = openClickHouse(clickhouse)
  t.after(() => engine.close())
  await eventually(async () => {
    const rows = await engine.rows<{ sessions: number; sources: number; events: number }>(sql`
      SELECT uniqExact(session_id) AS sessions, countIf(utm_source = 'News') AS sources, count() AS events
      FROM events WHERE site_id = ${text(site.id)}`)
    assert.deepEqual(rows, [{ sessions: 1, sources: 3, events: 3 }])
  })
})
