// An API process with its own ClickHouse behind its own proxy, so that a test may break either.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseServer, startClickHouse } from '../../dev/clickhouse/server.ts'
import { clickhouseMigrations } from '../../src/cluster/migrate.ts'
import { type ClickHouse, createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { openStores, type Stores } from '../support/stores.ts'
import {
  answered,
  ask,
  type Customer,
  changes,
  failed,
  isCounted,
  isUp,
  newCustomer,
  record,
  until,
} from './installation.ts'

export interface ClickHouseInstallation {
  /** Sends SIGKILL. */
  kill(): Promise<void>
  /** Starts it again with the same port and data. */
  start(): Promise<void>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Repairs whatever a test has broken. */
  heal(api: ApiProcess): Promise<void>
  /** The target of the proxy. */
  target: { port: number }
  clickhousePort: number
  proxy: FaultProxy
  /** The URL of ClickHouse through the proxy. */
  url: string
  /** A direct connection to ClickHouse, without the proxy. */
  clickhouse: ClickHouse
  stores: Stores
  /** A site with one visitor. */
  customer: Customer
  /** `settings` are URL parameters: `?ch_max_memory_usage=…`. */
  startApi(settings?: string): Promise<ApiProcess>
}

export async function installClickHouse(): Promise<ClickHouseInstallation> {
  const stores = await openStores()
  const folder = mkdtempSync(join(tmpdir(), 'footfall-faults-'))
  let clickhouseServer: ClickHouseServer = await startClickHouse({ folder })
  const { port } = clickhouseServer
  let isRunning = true
  const kill = async () => {
    isRunning = false
    await clickhouseServer.kill()
  }
  const start = async () => {
    clickhouseServer = await startClickHouse({ folder, port })
    isRunning = true
    // It reports that it is alive before it has loaded its tables.
    await until('ClickHouse serves', 5_000, async () => {
      const url = `http://127.0.0.1:${port}/?user=footfall&password=footfall`
      return (await fetch(url, { method: 'POST', body: 'SELECT count() FROM footfall.titles' })).ok
    })
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => void (isRunning && process.kill(clickhouseServer.pid, name))
  atEnd(async () => {
    if (isRunning) await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  const target = { port }
  const proxy = await startFaultProxy(target)
  atEnd(() => proxy.close())
  const address = (at: number, settings = '') => `http://footfall:footfall@127.0.0.1:${at}/footfall${settings}`
  await createClickHouseDatabase(address(port))
  const clickhouse = openClickHouse(address(port))
  atEnd(() => clickhouse.close())
  for (const statement of clickhouseMigrations()) await clickhouse.command(statement)
  const customer = await newCustomer(stores.postgres)
  await record(clickhouse, customer.siteId, {})
  return {
    stores,
    clickhouse,
    customer,
    proxy,
    url: address(proxy.port),
    target,
    clickhousePort: port,
    kill,
    start,
    signal,
    async heal(api) {
      proxy.setFault({})
      target.port = port
      signal('SIGCONT')
      if (!isRunning) await start()
      await until('ClickHouse is up', 6_000, () => isUp(api, 'ClickHouse'))
    },
    async startApi(settings) {
      const api = await startApiProcess({
        postgres: stores.addresses.postgres,
        clickhouse: address(proxy.port, settings),
      })
      atEnd(() => api.stop())
      return api
    },
  }
}

let queries = 0

/** A report that was not requested before: each limit and range is another query. */
export const newQuery = (): string => {
  queries++
  const ranges = ['7d', '30d', '90d', '12m']
  return `/api/v1/stats/pages?range=${ranges[queries % 4]}&limit=${1 + ((queries >> 2) % 100)}`
}

export interface Outage {
  begin(): Promise<unknown> | unknown
  end(): Promise<unknown> | unknown
  /** How long the first failing request may take. */
  firstMs: number
  healMs: number
}

/** Runs through an outage: cached responses are sent again, other queries fail at once, and the API recovers by itself. */
export async function goThrough(
  { customer: { key } }: ClickHouseInstallation,
  api: ApiProcess,
  { begin, end, firstMs, healMs }: Outage,
): Promise<string> {
  const known = newQuery()
  await until('ClickHouse answers', 5_000, async () => (await ask(api, known, key)).status === 200)
  const before = await ask(api, known, key)
  assert.equal(before.json.data[0].visitors, 1)
  const told = changes(api, 'ClickHouse').length

  await begin()
  const [again, unknown] = await Promise.all([ask(api, known, key), ask(api, newQuery(), key)])
  answered(again, 200, firstMs)
  assert.equal(again.text, before.text, 'the same bytes, including generated_at')
  failed(unknown, { boundMs: firstMs, counted: true })
  await until('the metric shows ClickHouse down', 1_000, async () => !(await isUp(api, 'ClickHouse')))

  failed(await ask(api, newQuery(), key), { boundMs: 50, counted: true })
  const repeated = await ask(api, known, key)
  answered(repeated, 200, 50)
  assert.equal(repeated.text, before.text)
  for (const header of ['etag', 'stats-period', 'cache-control']) {
    assert.equal(repeated.headers.get(header), before.headers.get(header), header)
  }
  assert.ok(isCounted(repeated))
  await refusesAsEver(api, key)

  await end()
  const healedMs = await until('a new query is answered', healMs, async () => {
    const answer = await ask(api, newQuery(), key)
    if (answer.status === 200) assert.equal(answer.json.data[0].visitors, 1, 'never incomplete data')
    return answer.status === 200
  })
  assert.equal(await isUp(api, 'ClickHouse'), true)
  assert.deepEqual(changes(api, 'ClickHouse').slice(told), ['down', 'up'], 'one log line per change')
  return `first 500 after ${Math.round(unknown.ms)} ms, next after ${Math.round(repeated.ms)} ms, healed in ${healedMs} ms`
}

/** Asserts that responses without ClickHouse stay the same. */
export async function refusesAsEver(api: ApiProcess, key: string): Promise<void> {
  assert.equal((await ask(api, newQuery(), 'ff_s_made-up')).status, 401)
  assert.equal((await ask(api, '/api/v1/stats/pages?limit=0', key)).json.error.code, 'invalid_parameter')
  assert.equal((await ask(api, '/api/v1/stats/pages?site_id=site_aaaaaaaaaaaaaaaa', key)).json.error.code, 'forbidden')
  assert.equal((await ask(api, '/readyz')).status, 200)
}
