// ClickHouse answers, but not every question, not at once or not in one piece.
import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import { sql, texts } from '../../src/stores/clickhouse-sql.ts'
import type { ApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { type ClickHouseInstallation, installClickHouse, newQuestion } from './clickhouse-installation.ts'
import { startFaultyEngine } from './faulty-engine.ts'
import {
  answered,
  ask,
  type Customer,
  changes,
  failed,
  newCustomer,
  newKey,
  overview,
  record,
  until,
} from './installation.ts'

let installed: ClickHouseInstallation
let api: ApiProcess
/** Every question about this site takes 2.5 s, longer than a question may. */
let slow: Customer
/** Every question about this site takes 50 ms. */
let steady: Customer

before(async () => {
  installed = await installClickHouse()
  const { stores, clickhouse, customer } = installed
  slow = await newCustomer(stores.postgres)
  steady = await newCustomer(stores.postgres)
  // In fifty parts: the engine looks between parts whether a question is still wanted.
  await clickhouse.command('SYSTEM STOP MERGES events')
  for (let part = 0; part < 50; part++) await record(clickhouse, slow.siteId, {})
  await record(clickhouse, steady.siteId, {})
  await record(clickhouse, customer.siteId, ...Array.from({ length: 60 }, (_, page) => ({ pathname: `/page-${page}` })))
  await clickhouse.command('RENAME TABLE events TO stored_events')
  await clickhouse.command(`CREATE VIEW events AS SELECT * FROM stored_events WHERE
    if(site_id = '${slow.siteId}', sleepEachRow(0.05), if(site_id = '${steady.siteId}', sleepEachRow(0.049), 0)) = 0`)
  api = await installed.startApi()
})

beforeEach(() => installed.heal(api))

/** How many questions about a site the engine works on right now. */
async function running(...siteIds: string[]): Promise<number> {
  const [row] = await installed.clickhouse.rows<{ count: number }>(sql`
    SELECT count() AS count FROM system.processes
    WHERE multiSearchAny(query, ${texts(siteIds)}) AND query NOT LIKE '%system.processes%'`)
  return row?.count ?? 0
}

async function newKnownKey(customer: Customer): Promise<string> {
  const key = await newKey(installed.stores.postgres, customer)
  await until('the key works', 3_000, async () => (await overview(api, key)).status === 200)
  return key
}

test('an answer that is cut short is never taken for data, wherever it is cut', async (test) => {
  const { proxy, customer } = installed
  const pages = (limit: number) => ask(api, `/api/v1/stats/pages?range=30d&limit=${limit}`, customer.key)
  const whole = await pages(60)
  assert.equal(whole.json.data.length, 60)
  let cut = 0
  let complete = 0
  for (let limit = 59; limit > 0; limit--) {
    proxy.setFault({ reset: true }) // begin with a new connection: bytes are counted from its first
    proxy.setFault({ cutAfterBytes: 900 + 33 * (60 - limit) }) // a probe passes
    const answer = await pages(limit)
    if (answer.status === 200) {
      assert.deepEqual(answer.json.data, whole.json.data.slice(0, limit))
      complete++
    } else {
      failed(answer, { boundMs: 1_000, counted: true })
      cut++
    }
  }
  proxy.setFault({})
  test.diagnostic(`${cut} cut, ${complete} complete`)
  assert.ok(cut >= 15 && complete >= 15, `${cut} cut, ${complete} complete: the cuts are not where the answers are`)
})

test('an answer that arrives in pieces is complete', async () => {
  const { proxy, customer } = installed
  const whole = await ask(api, '/api/v1/stats/pages?range=90d&limit=60', customer.key)
  proxy.setFault({ sliceBytes: 7 })
  const sliced = await ask(api, '/api/v1/stats/pages?range=90d&limit=60', customer.key)
  answered(sliced, 200, 500)
  assert.deepEqual(sliced.json.data, whole.json.data)
})

test('a question that takes too long is 500 within 2.5 s and stopped; nobody else waits, and ClickHouse stays up', async () => {
  const { customer } = installed
  const told = changes(api, 'ClickHouse').length
  const asking = Array.from({ length: 4 }, () => overview(api, slow.key))
  await until('all of them run', 1_500, async () => (await running(slow.siteId)) === 4)
  answered(await ask(api, newQuestion(), customer.key), 200, 250)
  for (const answer of await Promise.all(asking)) failed(answer, { boundMs: 2_500, counted: true })
  await until('none of them runs', 500, async () => (await running(slow.siteId)) === 0)
  answered(await ask(api, newQuestion(), customer.key), 200, 250)
  assert.deepEqual(changes(api, 'ClickHouse').slice(told), [])
})

test('a client that goes away takes its question with it', async (test) => {
  const gone = new AbortController()
  const asking = ask(api, '/api/v1/stats/pages?range=7d', slow.key, { signal: gone.signal })
  await until('the question runs', 1_000, async () => (await running(slow.siteId)) === 1)
  gone.abort()
  await assert.rejects(asking, { name: 'AbortError' })
  const stopped = await until('the question is stopped', 500, async () => (await running(slow.siteId)) === 0)
  test.diagnostic(`stopped in ${stopped} ms`)
})

test('64 parallel calls of one key all succeed, four at a time, and no other key waits behind them', async (test) => {
  const { customer } = installed
  const key = await newKnownKey(steady)
  let most = 0
  let isRunning = true
  const watching = (async () => {
    while (isRunning) most = Math.max(most, await running(steady.siteId))
  })()
  const burst = Promise.all(
    Array.from({ length: 64 }, (_, index) => ask(api, `/api/v1/stats/pages?range=7d&limit=${index + 1}`, key)),
  )
  await until('the burst has begun', 2_000, async () => (await running(steady.siteId)) > 0)
  const other = await ask(api, newQuestion(), customer.key)
  const answers = await burst
  isRunning = false
  await watching
  test.diagnostic(`${most} at once at most; all within ${Math.round(Math.max(...answers.map(({ ms }) => ms)))} ms`)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  answered(other, 200, 300)
  assert.ok(most > 1 && most <= 4, `${most} of one key at once`)
})

test('many keys together never have more than 16 questions at the engine', async (test) => {
  const keys = []
  for (let index = 0; index < 8; index++) keys.push(await newKnownKey(steady))
  let most = 0
  let isRunning = true
  const watching = (async () => {
    while (isRunning) most = Math.max(most, await running(steady.siteId))
  })()
  const answers = await Promise.all(keys.flatMap((key) => Array.from({ length: 8 }, () => overview(api, key))))
  isRunning = false
  await watching
  test.diagnostic(`${most} at once at most`)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.ok(most > 4 && most <= 16, `${most} at once`)
})

test('whoever waits for a turn is told after 5 s', async (test) => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => overview(api, slow.key)))
  const times = answers.map(({ ms }) => Math.round(ms)).sort((a, b) => a - b)
  test.diagnostic(`after ${times.join(', ')} ms`)
  for (const answer of answers) failed(answer, { boundMs: 5_000, counted: true })
  assert.ok((times.at(-1) as number) >= 4_900, 'the last ones had no turn in that time')
  await until('none of them runs', 500, async () => (await running(slow.siteId)) === 0)
})

test('a question that needs too much memory fails alone', async () => {
  const { stores, clickhouse, customer } = installed
  const heavy = await newCustomer(stores.postgres)
  await clickhouse.command(`INSERT INTO stored_events (site_id, day, time, visitor_id, session_id, name, pathname)
    SELECT '${heavy.siteId}', today(), now64(3) - 1, number, number, 'pageview', toString(number) || repeat('x', 100)
    FROM numbers(300000)`)
  const strict = await installed.startApi('?ch_max_memory_usage=20000000')
  failed(await ask(strict, '/api/v1/stats/pages?range=7d', heavy.key), { boundMs: 2_500, counted: true })
  answered(await ask(strict, newQuestion(), customer.key), 200, 500)
  assert.deepEqual(changes(strict, 'ClickHouse'), [])
  assert.equal(await strict.stop(), 0)
})

test('a ClickHouse that is full is asked once more, a moment later', async () => {
  const { customer, proxy, target, enginePort } = installed
  const full = await startFaultyEngine(enginePort)
  atEnd(full.close)
  target.port = full.port
  proxy.setFault({ reset: true })
  proxy.setFault({})
  await until('it is reached', 2_000, async () => (await ask(api, newQuestion(), customer.key)).status === 200)
  const told = changes(api, 'ClickHouse').length
  full.refuse({ code: 202, status: 500, times: 1 })
  answered(await ask(api, '/api/v1/stats/overview?range=7d', customer.key), 200, 500)
  full.refuse({ code: 202, status: 500, times: 2 })
  failed(await ask(api, '/api/v1/stats/overview?range=30d', customer.key), { boundMs: 500, counted: true })
  assert.deepEqual(changes(api, 'ClickHouse').slice(told), [])
  target.port = enginePort
})

test('ClickHouse killed under a question: it fails within 300 ms, and another is answered within a second of its return', async (test) => {
  const { kill, start, customer } = installed
  const asking = overview(api, slow.key)
  await until('the question runs', 1_000, async () => (await running(slow.siteId)) === 1)
  const began = performance.now()
  await kill()
  const answer = await asking
  failed({ ...answer, ms: performance.now() - began }, { boundMs: 300, counted: true })
  await start()
  const healed = await until(
    'it answers',
    1_000,
    async () => (await ask(api, newQuestion(), customer.key)).status === 200,
  )
  test.diagnostic(`healed in ${healed} ms`)
})
