// Outages of ClickHouse. One process goes through all of them in turn and is never restarted.
import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import type { ApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { startApi } from '../support/world.ts'
import {
  type ClickHouseInstallation,
  goThrough,
  installClickHouse,
  newQuestion,
  refusesAsEver,
} from './clickhouse-installation.ts'
import { startFaultyEngine } from './faulty-engine.ts'
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

let installed: ClickHouseInstallation
let api: ApiProcess

before(async () => {
  installed = await installClickHouse()
  api = await installed.startApi()
})

beforeEach(() => installed.heal(api))

test('a process that starts without ClickHouse refuses as ever, fails questions at once, and finds it by itself', async (test) => {
  const { kill, start, startApi, customer } = installed
  await kill()
  const late = await startApi() // ready, or this would throw
  await refusesAsEver(late, customer.key)
  failed(await ask(late, newQuestion(), customer.key), { boundMs: 300, counted: true })
  await refusesAfter(1_000, late, await newCustomer(installed.stores.postgres, {}, 'Starter'))
  await until('the metric says so', 500, async () => !(await isUp(late, 'ClickHouse')))
  failed(await ask(late, newQuestion(), customer.key), { boundMs: 50, counted: true })
  await start()
  const healed = await until(
    'it answers',
    1_000,
    async () => (await ask(late, newQuestion(), customer.key)).status === 200,
  )
  test.diagnostic(`healed in ${healed} ms`)
  assert.deepEqual(changes(late, 'ClickHouse'), ['down', 'up'])
  assert.equal(await late.stop(), 0)
})

/** The limit of the plan holds for what fails, too. */
async function refusesAfter(limit: number, late: ApiProcess, { key }: Customer): Promise<void> {
  const spend = async () => {
    for (let sent = 0; sent < limit / 20; sent++) assert.equal((await ask(late, newQuestion(), key)).status, 500)
  }
  await Promise.all(Array.from({ length: 20 }, spend))
  const refused = await ask(late, newQuestion(), key)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0')
}

test('ClickHouse killed and refusing: the last answer or 500 within 300 ms, back within a second', async (test) => {
  const { kill: begin, start: end } = installed
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 300, healMs: 1_000 }))
})

test('ClickHouse hung: the first to ask waits 2.5 s, the next not at all, back within a second', async (test) => {
  const begin = () => installed.signal('SIGSTOP')
  const end = () => installed.signal('SIGCONT')
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 2_500, healMs: 1_000 }))
})

test('a network slow by 3 s: as if ClickHouse hung', async (test) => {
  const begin = () => installed.proxy.setFault({ latencyMs: 3_000 })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 2_500, healMs: 1_000 }))
})

test('a network that swallows everything: as if ClickHouse hung, and connections that died are replaced', async (test) => {
  const begin = () => installed.proxy.setFault({ blackHole: true })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 2_500, healMs: 1_000 }))
})

test('a network that resets every connection: the last answer or 500 within 300 ms', async (test) => {
  const begin = () => installed.proxy.setFault({ reset: true })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 300, healMs: 1_000 }))
})

test('ClickHouse refusing our password: 500 within 300 ms, and asked no more than every 5 s', async (test) => {
  const { proxy, target, enginePort } = installed
  const stranger = await startFaultyEngine(enginePort)
  atEnd(stranger.close)
  stranger.refuse({ code: 516, status: 403, times: Number.POSITIVE_INFINITY })
  const begin = () => {
    target.port = stranger.port
    proxy.setFault({ reset: true }) // no connection to the old one stays
    proxy.setFault({})
  }
  const end = async () => {
    const before = stranger.asked()
    await sleep(4_000)
    const asked = stranger.asked() - before
    test.diagnostic(`asked ${asked} times in 4 s`)
    assert.ok(asked <= 1, `asked ${asked} times in 4 s`)
    target.port = enginePort
    proxy.setFault({ reset: true })
    proxy.setFault({})
  }
  test.diagnostic(await goThrough(installed, api, { begin, end, firstMs: 300, healMs: 5_000 }))
})

test('an answer is repeated for ten minutes and not a moment longer', async () => {
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
