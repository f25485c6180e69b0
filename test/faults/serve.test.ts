// `footfall serve` and its stores: whichever is down, at start or later, the process stays and goes on by itself (decision D-135).
import assert from 'node:assert/strict'
import { before, beforeEach, type TestContext, test } from 'node:test'
import { createSite } from '../../src/accounts/sites.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { atEnd } from '../support/at-end.ts'
import { browserAgent } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { type OwnStores, type StoreName, startOwnStores } from '../support/own-stores.ts'
import { launchServe, type ServeProcess } from '../support/serve-process.ts'
import { ask, newCustomer, newKey, sleep, until } from './installation.ts'

let stores: OwnStores
/** Nothing here is about speed, and the machine may be busy. */
const longestMs = 30_000

before(async () => {
  stores = await startOwnStores()
  atEnd(() => stores.remove())
})

beforeEach(async () => {
  for (const store of Object.values(stores.all)) {
    store.signal('SIGCONT')
    await store.start()
  }
})

async function asOperator<Value>(work: (postgres: Postgres) => Promise<Value>): Promise<Value> {
  const postgres = openPostgres(stores.addresses.postgres, 2)
  try {
    return await work(postgres)
  } finally {
    await postgres.end({ timeout: 1 })
  }
}

const bringUpToDate = () =>
  asOperator(async (postgres) => {
    const clickhouse = openClickHouse(stores.addresses.clickhouse)
    await migrate({ postgres, clickhouse })
    await clickhouse.close()
  })

async function serve(t: TestContext, settings: Record<string, string> = {}): Promise<ServeProcess> {
  const server = await launchServe(stores.addresses, settings)
  t.after(() => server.stop())
  return server
}

const messages = ({ log }: ServeProcess): string[] =>
  log()
    .split('\n')
    .map((line) => /"msg":"([^"]*)"/.exec(line)?.[1] ?? '')
    .filter((message) => /migrations wait|up to date/.test(message))

interface Customer {
  domain: string
  key: string
}

const customer = (): Promise<Customer> =>
  asOperator(async (postgres) => {
    const { accountId } = await newCustomer(postgres)
    const domain = `serve-${Math.random().toString(36).slice(2)}.example`
    const siteId = await createSite(postgres, { accountId, domain })
    return { domain, key: await newKey(postgres, { accountId, siteId }) }
  })

/** The status, or 0 when nobody answers. */
function send({ collectorUrl }: ServeProcess, { domain }: Pick<Customer, 'domain'>, path: string): Promise<number> {
  const body = JSON.stringify({ n: 'pageview', u: `https://${domain}${path}`, d: domain })
  return fetch(`${collectorUrl}/api/event`, { method: 'POST', body, headers: { 'User-Agent': browserAgent } }).then(
    ({ status }) => status,
    () => 0,
  )
}

/** A hit goes all the way, from the collector to an answer. */
async function counts(server: ServeProcess, { domain, key }: Customer): Promise<void> {
  const path = `/page/${Math.random()}`
  await until('the hit is taken', longestMs, async () => {
    assert.ok(server.isRunning(), server.log())
    return (await send(server, { domain }, path)) === 202
  })
  await until('the hit is counted', longestMs, async () => {
    assert.ok(server.isRunning(), server.log())
    const answer = await ask(server, `/api/v1/stats/pages?range=24h&limit=100`, key).catch(() => undefined)
    return answer?.status === 200 && answer.text.includes(path)
  })
}

test('started without PostgreSQL: it says once that migrations wait, and serves when PostgreSQL is there', async (t) => {
  const { PostgreSQL } = stores.all
  await PostgreSQL.kill()
  const server = await serve(t)
  await until('it says so', longestMs, () => messages(server).length > 0)
  await sleep(3_000)
  assert.deepEqual(messages(server), ['PostgreSQL does not answer; migrations wait for it'])
  assert.ok(server.isRunning())
  await PostgreSQL.start()
  await server.untilReady()
  assert.match(messages(server).at(-1) as string, /^PostgreSQL answers; both databases are up to date$/)
  await counts(server, await customer())
})

test('started with a ClickHouse that does not answer, and migrations for it: they wait for that one too', async (t) => {
  const { ClickHouse } = stores.all
  await bringUpToDate()
  // As if the last file was new. It may safely run again, as all of them.
  await asOperator(
    (postgres) => postgres`
    DELETE FROM migrations WHERE name = (SELECT max(name) FROM migrations WHERE name LIKE 'clickhouse/%')`,
  )
  for (const harm of ['SIGSTOP', 'SIGKILL'] as const) {
    if (harm === 'SIGSTOP') ClickHouse.signal(harm)
    else await ClickHouse.kill()
    const server = await serve(t)
    await until('it says so', longestMs, () => messages(server).length > 0)
    await sleep(1_000)
    assert.deepEqual(messages(server), ['ClickHouse does not answer; migrations wait for it'])
    if (harm === 'SIGSTOP') {
      server.child.kill('SIGTERM')
      await until('SIGTERM ends the wait', 10_000, () => !server.isRunning())
      assert.equal(server.child.exitCode, 0)
      ClickHouse.signal('SIGCONT')
    } else {
      await ClickHouse.start()
      await server.untilReady()
      await counts(server, await customer())
    }
  }
})

test('SIGTERM ends the wait for a PostgreSQL that hangs', async (t) => {
  const { PostgreSQL } = stores.all
  PostgreSQL.signal('SIGSTOP')
  try {
    const server = await serve(t)
    await until('it says so', longestMs, () => messages(server).length > 0)
    server.child.kill('SIGTERM')
    await until('it has ended', 10_000, () => !server.isRunning())
    assert.equal(server.child.exitCode, 0)
  } finally {
    PostgreSQL.signal('SIGCONT')
  }
})

test('a migration that cannot be applied ends it with one sentence', async (t) => {
  await bringUpToDate()
  const name = 'postgres/0001_accounts.sql'
  const edit = (from: string, to: string) =>
    asOperator(
      (postgres) => postgres`
    UPDATE migrations SET checksum = replace(checksum, ${from}, ${to}) WHERE name = ${name}`,
    )
  const [row] = await asOperator((postgres) => postgres`SELECT checksum FROM migrations WHERE name = ${name}`)
  await edit(row?.checksum, 'edited')
  try {
    const server = await serve(t)
    await until('it has ended', longestMs, () => !server.isRunning())
    assert.equal(server.child.exitCode, 1)
    assert.match(server.log(), /^footfall: Migration postgres\/0001_accounts.sql was edited after it was applied\./m)
    assert.doesNotMatch(server.log(), / {4}at /, 'no stack')
  } finally {
    await edit('edited', row?.checksum)
  }
})

for (const missing of ['Redis', 'ClickHouse'] as const)
  test(`started without ${missing}, with nothing to migrate: it serves what it can at once, and all when ${missing} is there`, async (t) => {
    await bringUpToDate()
    const one = await customer()
    await stores.all[missing].kill()
    const server = await serve(t)
    await server.untilReady()
    await until('an event is taken', longestMs, async () => {
      return (await send(server, one, '/')) === 202
    })
    await stores.all[missing].start()
    await counts(server, one)
  })

test('each store killed, stopped and started again while it runs: the same process goes on', async (t) => {
  await bringUpToDate()
  const one = await customer()
  const server = await serve(t)
  await server.untilReady()
  await counts(server, one)
  const shipper = shipperOf(server)
  for (const name of ['PostgreSQL', 'Redis', 'ClickHouse'] satisfies StoreName[]) {
    const store = stores.all[name]
    // Longer than one round of counting open days, so that it meets a PostgreSQL that is away.
    const awayMs = name === 'PostgreSQL' ? 5_500 : 1_500
    store.signal('SIGSTOP')
    await sleep(awayMs)
    store.signal('SIGCONT')
    await counts(server, one)
    await store.kill()
    await sleep(awayMs)
    await store.start()
    await counts(server, one)
    await store.kill()
    await store.start()
    await counts(server, await eventually(customer)) // a PostgreSQL that listens may still refuse
  }
  assert.equal(shipperOf(server), shipper, 'nor did the shipper end')
})

/** The last that was started. */
const shipperOf = ({ log }: ServeProcess): string | undefined => [...log().matchAll(/"shipper":(\d+)/g)].at(-1)?.[1]
