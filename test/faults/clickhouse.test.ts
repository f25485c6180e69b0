// Outages of ClickHouse. One process goes through all of them in turn and is never restarted.
import assert from 'node:assert/strict'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import type { ApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { needing } from '../support/needing.ts'
import { startApi } from '../support/world.ts'
import {
  type ClickHouseInstallation,
  goThrough,
  installClickHouse,
  newQuery,
  refusesAsEver,
} from './clickhouse-installation.ts'
import { startFaultyClickHouse } from './faulty-clickhouse.ts'
import {
  answered,
  ask,
  type Customer,
  changes,
  failed,
  isUp,
  newCustomer,
  overview,
  sleep,
  until,
} from './installation.ts'

const { before, beforeEach, test } = needing('ClickHouse')

let installed: ClickHouseInstallation
let api: ApiProcess

before(async () => {
  installed = await installClickHouse()
  api = await installed.startApi()
})

beforeEach(() => installed.heal(api))

test('a process that starts without ClickHouse still refuses bad requests, fails queries at once, and connects by itself', async (test) => {
  const { kill, start, startApi, customer } = installed
  await kill()
  const late = await startApi() // throws unless it becomes ready
  await refusesAsEver(late, customer.key)
  failed(await ask(late, newQuery(), customer.key), { boundMs: 300, counted: true })
  await refusesAfter(1_000, late, await newCustomer(installed.stores.postgres, {}, 'Starter'))
  await until('the metric shows ClickHouse down', 500, async () => !(await isUp(late, 'ClickHouse')))
  failed(await ask(late, newQuery(), customer.key), { boundMs: 50, counted: true })
  await start()
  const healed = await until(
    'it answers',
    1_000,
    async () => (await ask(late, newQuery(), customer.key)).status === 200,
  )
  test.diagnostic(`healed in ${healed} ms`)
  assert.deepEqual(changes(late, 'ClickHouse'), ['down', 'up'])
  assert.equal(await late.stop(), 0)
})

/** The limit of the plan applies to failed requests too. */
async function refusesAfter(limit: number, late: ApiProcess, { key }: Customer): Promise<void> {
  const spend = async () => {
    for (let sent = 0; sent < limit / 20; sent++) assert.equal((await ask(late, newQuery(), key)).status, 500)
  }
  await Promise.all(Array.from({ length: 20 }, spend))
  const refused = await ask(late, newQuery(), key)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0')
}

test('ClickHouse killed: cached responses or 500 within 300 ms, recovery within a second', async (test) => {
  const { kill: begin, start: end } = installed
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 300, healMs: 1_000 }))
})

test('ClickHouse hung: the first request waits 2.5 s, the next not at all, recovery within a second', async (test) => {
  const begin = () => installed.signal('SIGSTOP')
  const end = () => installed.signal('SIGCONT')
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 2_500, healMs: 1_000 }))
})

test('a network delay of 3 s is handled like a hung ClickHouse', async (test) => {
  const begin = () => installed.proxy.setFault({ latencyMs: 3_000 })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 2_500, healMs: 1_000 }))
})

test('a network that drops all packets is handled like a hung ClickHouse, and dead connections are replaced', async (test) => {
  const begin = () => installed.proxy.setFault({ blackHole: true })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 2_500, healMs: 1_000 }))
})

test('a network that resets every connection: cached responses or 500 within 300 ms', async (test) => {
  const begin = () => installed.proxy.setFault({ reset: true })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 300, healMs: 1_000 }))
})

test('ClickHouse refusing the password: 500 within 300 ms, and one attempt per 5 s at most', async (test) => {
  const { proxy, target, clickhousePort } = installed
  const stranger = await startFaultyClickHouse(clickhousePort)
  atEnd(stranger.close)
  stranger.refuse({ code: 516, status: 403, times: Number.POSITIVE_INFINITY })
  const begin = () => {
    target.port = stranger.port
    proxy.setFault({ reset: true }) // so that no connection to the old server stays open
    proxy.setFault({})
  }
  const end = async () => {
    const before = stranger.asked()
    await sleep(4_000)
    const asked = stranger.asked() - before
    test.diagnostic(`asked ${asked} times in 4 s`)
    assert.ok(asked <= 1, `asked ${asked} times in 4 s`)
    target.port = clickhousePort
    proxy.setFault({ reset: true })
    proxy.setFault({})
  }
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 300, healMs: 5_000 }))
})

test('during an outage a cached response is sent for ten minutes and no longer', async () => {
  const { stores, customer, proxy, url } = installed
  const clock = { ms: Date.now() }
  const now = () => clock.ms
  const clickhouse = openClickHouse(url)
  const server = await startApi({ ...stores, clickhouse }, { now, limiter: memoryLimiter(now) })
  atEnd(async () => {
    await server.close()
    await clickhouse.close()
  })
  const get = () => overview({ url: `http://127.0.0.1:${server.port}` }, customer.key)
  const before = await get()
  answered(before, 200, 500)
  proxy.setFault({ reset: true })
  clock.ms += 10 * 60_000
  const last = await get()
  answered(last, 200, 300)
  assert.equal(last.text, before.text)
  clock.ms += 1
  failed(await get(), { boundMs: 300, counted: true })
})
