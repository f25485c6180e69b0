// An API process with its own PostgreSQL behind its own proxy, so that a test may break either.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyText } from '../../src/accounts/key-text.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { inTime } from '../support/in-time.ts'
import { type OwnServer, startOwnPostgres } from '../support/own-servers.ts'
import { openStores } from '../support/stores.ts'
import {
  answered,
  ask,
  type Customer,
  changes,
  failed,
  isCounted,
  isUp,
  medianOf,
  newCustomer,
  newKey,
  noise,
  overview,
  record,
  sleep,
  until,
  whileAsking,
} from './installation.ts'

export interface PostgresInstallation {
  server: OwnServer
  proxy: FaultProxy
  api: ApiProcess
  /** A key that the process has cached. Its site has a visitor from Germany, and one from France whose country is excluded. */
  warm: Customer
  /** A cached account key of the same account. */
  accountKey: string
  startApi(): Promise<ApiProcess>
  /** Repairs whatever a test has broken. */
  heal(): Promise<void>
  /** Runs with a connection outside the API. */
  asAdmin<Value>(work: (admin: Postgres) => Promise<Value>): Promise<Value>
}

/** Twenty connections, three of them for superusers. The API logs in with a password. */
export async function installPostgres(): Promise<PostgresInstallation> {
  const stores = await openStores()
  const server = await startOwnPostgres('max_connections=20')
  atEnd(() => server.remove())
  const proxy = await startFaultProxy({ port: server.port })
  atEnd(() => proxy.close())
  await untilItServes(server)
  const asAdmin: PostgresInstallation['asAdmin'] = async (work) => {
    const admin = openPostgres(server.url)
    try {
      return await work(admin)
    } finally {
      await admin.end({ timeout: 1 })
    }
  }
  writeFileSync(
    join(server.folder, 'data', 'pg_hba.conf'),
    'host all footfall_api 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n',
  )
  const [warm, accountKey] = await asAdmin(async (admin) => {
    await migrate({ postgres: admin, cluster: stores.cluster })
    await admin.unsafe(`
      CREATE ROLE footfall_api LOGIN PASSWORD 'first';
      GRANT SELECT ON ALL TABLES IN SCHEMA public TO footfall_api;
      SELECT pg_reload_conf()`)
    const customer = await newCustomer(admin, { excludedCountries: ['FR'] })
    return [customer, await newKey(admin, { accountId: customer.accountId })]
  })
  await record(stores.clickhouse, warm.siteId, { country: 'DE' }, { country: 'FR' })
  const startApi = () =>
    startApiProcess({
      postgres: `postgres://footfall_api:first@127.0.0.1:${proxy.port}/postgres`,
      clickhouse: stores.addresses.clickhouse,
    })
  const api = await startApi()
  atEnd(() => api.stop())
  async function heal() {
    proxy.setFault({})
    server.signal('SIGCONT')
    if (!server.isRunning()) await server.start()
    await until('PostgreSQL is up', 5_000, () => isUp(api, 'PostgreSQL'))
  }
  return { server, proxy, api, warm, accountKey, startApi, asAdmin, heal }
}

export const becomesKnown = (api: ApiProcess, key: string, query = ''): Promise<number> =>
  until('the key works', 3_000, async () => (await overview(api, key, query)).status === 200)

/** A server in crash recovery listens before it accepts queries. */
export const untilItServes = (server: OwnServer): Promise<number> =>
  until('PostgreSQL serves', 10_000, async () => {
    const sql = openPostgres(server.url)
    const serves = await sql`SELECT 1`.then(
      () => true,
      () => false,
    )
    await sql.end({ timeout: 0 })
    return serves
  })

export interface Outage {
  begin(): Promise<unknown> | unknown
  end(): Promise<unknown> | unknown
  /** How long the first request that needs PostgreSQL may take. */
  firstColdMs: number
  healMs: number
}

/** Runs through an outage: cached keys work, unknown keys get 500, and the API recovers by itself. */
export async function goThrough(installed: PostgresInstallation, { begin, end, firstColdMs, healMs }: Outage) {
  const { api, warm, accountKey, asAdmin } = installed
  const cold = await asAdmin(async (admin) => ({
    keys: [await newCustomer(admin), await newCustomer(admin), await newCustomer(admin)].map(({ key }) => key),
    site: await createSite(admin, { accountId: warm.accountId, domain: `${crypto.randomUUID()}.example` }),
  }))
  const [firstKey, nextKey, lastKey] = cold.keys as [string, string, string]
  await sleep(700) // until the process has heard of all changes
  await becomesKnown(api, warm.key)
  await becomesKnown(api, accountKey, `&site_id=${warm.siteId}`)
  const usual = Math.round(
    medianOf(
      await whileAsking(
        () => overview(api, warm.key),
        () => sleep(500),
      ),
    ),
  )
  const told = changes(api, 'PostgreSQL').length
  let healedMs = 0

  const meanwhile = await whileAsking(
    () => overview(api, warm.key),
    async () => {
      await begin()
      failed(await overview(api, firstKey), { boundMs: firstColdMs, counted: false })
      await until('the metric shows PostgreSQL down', 1_500, async () => !(await isUp(api, 'PostgreSQL')))
      failed(await overview(api, nextKey), { boundMs: 50, counted: false })
      failed(await overview(api, newKeyText('site')), { boundMs: 50, counted: false })
      answered(await overview(api, 'ff_s_made-up'), 401, 50)
      failed(await overview(api, accountKey, `&site_id=${cold.site}`), { boundMs: 50, counted: true })
      assert.equal((await ask(api, '/readyz')).status, 200)
      await end()
      healedMs = await until('an unknown key works', healMs, async () => {
        const { status } = await overview(api, lastKey)
        assert.notEqual(status, 401, 'an outage must not reject a key')
        return status === 200
      })
    },
  )

  assert.deepEqual(statusesOf(meanwhile), [200], 'requests with cached keys succeed')
  assert.ok(meanwhile.every(isCounted))
  assert.deepEqual([...new Set(meanwhile.map(({ json }) => json.data.current.visitors))], [1], 'exclusions hold')
  const waited = Math.round(medianOf(meanwhile))
  inTime(waited < 2 * usual + noise() / 2, `cached keys waited ${waited} ms, usually ${usual} ms`)
  assert.equal((await overview(api, accountKey, `&site_id=${cold.site}`)).status, 200)
  assert.equal(await isUp(api, 'PostgreSQL'), true)
  assert.deepEqual(changes(api, 'PostgreSQL').slice(told), ['down', 'up'], 'one log line per change')
  return `healed in ${healedMs} ms; ${meanwhile.length} requests meanwhile, half of them within ${waited} ms, usually ${usual} ms`
}

export const statusesOf = (answers: readonly { status: number }[]): number[] => [
  ...new Set(answers.map(({ status }) => status)),
]
