// An API process whose ClickHouse a test may break: an engine of its own, reached through a network of its own.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseServer, startClickHouse } from '../../dev/clickhouse/server.ts'
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
  /** kill -9. */
  kill(): Promise<void>
  /** Starts it again, on the same port and data. */
  start(): Promise<void>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Whatever a test has left behind. */
  heal(api: ApiProcess): Promise<void>
  /** Where the proxy leads to. */
  target: { port: number }
  enginePort: number
  proxy: FaultProxy
  /** The engine through the proxy. */
  url: string
  /** The engine itself, past the proxy. */
  clickhouse: ClickHouse
  stores: Stores
  /** A site with one visitor. */
  customer: Customer
  /** `settings` are parameters of the address: `?ch_max_memory_usage=…`. */
  startApi(settings?: string): Promise<ApiProcess>
}

export async function installClickHouse(): Promise<ClickHouseInstallation> {
  const stores = await openStores()
  const folder = mkdtempSync(join(tmpdir(), 'footfall-faults-'))
  let engine: ClickHouseServer = await startClickHouse({ folder })
  const { port } = engine
  let isRunning = true
  const kill = async () => {
    isRunning = false
    await engine.kill()
  }
  const start = async () => {
    engine = await startClickHouse({ folder, port })
    isRunning = true
    // It says that it lives before it has read its tables.
    await until('the engine serves', 5_000, async () => {
      const url = `http://127.0.0.1:${port}/?user=footfall&password=footfall`
      return (await fetch(url, { method: 'POST', body: 'SELECT count() FROM footfall.titles' })).ok
    })
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => void (isRunning && process.kill(engine.pid, name))
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
  const migrations = new URL('../../migrations/clickhouse/', import.meta.url)
  for (const file of readdirSync(migrations).sort()) {
    await clickhouse.command(readFileSync(new URL(file, migrations), 'utf8'))
  }
  const customer = await newCustomer(stores.postgres)
  await record(clickhouse, customer.siteId, {})
  return {
    stores,
    clickhouse,
    customer,
    proxy,
    url: address(proxy.port),
    target,
    enginePort: port,
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

let questions = 0

/** A report nobody has asked for yet: each limit and range is a question of its own. */
export const newQuestion = (): string => {
  questions++
  const ranges = ['7d', '30d', '90d', '12m']
  return `/api/v1/stats/pages?range=${ranges[questions % 4]}&limit=${1 + ((questions >> 2) % 100)}`
}

export interface Outage {
  begin(): Promise<unknown> | unknown
  end(): Promise<unknown> | unknown
  /** The price at which the first request finds out. */
  firstMs: number
  healMs: number
}

/** Goes through an outage: what was answered is answered again, the rest fails at once, and it ends by itself. */
export async function goThrough(
  { customer: { key } }: ClickHouseInstallation,
  api: ApiProcess,
  { begin, end, firstMs, healMs }: Outage,
): Promise<string> {
  const known = newQuestion()
  await until('the engine answers', 5_000, async () => (await ask(api, known, key)).status === 200)
  const before = await ask(api, known, key)
  assert.equal(before.json.data[0].visitors, 1)
  const told = changes(api, 'ClickHouse').length

  await begin()
  const [again, unknown] = await Promise.all([ask(api, known, key), ask(api, newQuestion(), key)])
  answered(again, 200, firstMs)
  assert.equal(again.text, before.text, 'the same bytes, with the time at which they were computed')
  failed(unknown, { boundMs: firstMs, counted: true })
  await until('the metric says that ClickHouse is down', 1_000, async () => !(await isUp(api, 'ClickHouse')))

  failed(await ask(api, newQuestion(), key), { boundMs: 50, counted: true })
  const repeated = await ask(api, known, key)
  answered(repeated, 200, 50)
  assert.equal(repeated.text, before.text)
  for (const header of ['etag', 'stats-period', 'cache-control']) {
    assert.equal(repeated.headers.get(header), before.headers.get(header), header)
  }
  assert.ok(isCounted(repeated))
  await refusesAsEver(api, key)

  await end()
  const healedMs = await until('a new question is answered', healMs, async () => {
    const answer = await ask(api, newQuestion(), key)
    if (answer.status === 200) assert.equal(answer.json.data[0].visitors, 1, 'never a part of the truth')
    return answer.status === 200
  })
  assert.equal(await isUp(api, 'ClickHouse'), true)
  assert.deepEqual(changes(api, 'ClickHouse').slice(told), ['down', 'up'], 'one line for each change')
  return `first 500 after ${Math.round(unknown.ms)} ms, next after ${Math.round(repeated.ms)} ms, healed in ${healedMs} ms`
}

/** What does not need the engine does not notice. */
export async function refusesAsEver(api: ApiProcess, key: string): Promise<void> {
  assert.equal((await ask(api, newQuestion(), 'ff_s_made-up')).status, 401)
  assert.equal((await ask(api, '/api/v1/stats/pages?limit=0', key)).json.error.code, 'invalid_parameter')
  assert.equal((await ask(api, '/api/v1/stats/pages?site_id=site_aaaaaaaaaaaaaaaa', key)).json.error.code, 'forbidden')
  assert.equal((await ask(api, '/readyz')).status, 200)
}
