// ClickHouse is up, but answers some queries not at all, late, or in pieces.
import assert from 'node:assert/strict'
import { sql, texts } from '../../src/stores/clickhouse-sql.ts'
import type { ApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { needing } from '../support/needing.ts'
import { type ClickHouseInstallation, installClickHouse, newQuery } from './clickhouse-installation.ts'
import { startFaultyClickHouse } from './faulty-clickhouse.ts'
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

const { before, beforeEach, test } = needing('ClickHouse')

let installed: ClickHouseInstallation
let api: ApiProcess
/** Every query for this site takes 2.5 s, longer than a query may take. */
let slow: Customer
/** Every query for this site takes 50 ms. */
let steady: Customer

before(async () => {
  installed = await installClickHouse()
  const { stores, clickhouse, customer } = installed
  slow = await newCustomer(stores.postgres)
  steady = await newCustomer(stores.postgres)
  // Fifty parts, because ClickHouse checks between parts whether a query was cancelled.
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

/** The number of running ClickHouse queries for these sites. */
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

test('a truncated ClickHouse response is never used as data, wherever it is cut', async (test) => {
  const { proxy, customer } = installed
  const pages = (limit: number) => ask(api, `/api/v1/stats/pages?range=30d&limit=${limit}`, customer.key)
  const whole = await pages(60)
  assert.equal(whole.json.data.length, 60)
  let cut = 0
  let complete = 0
  for (let limit = 59; limit > 0; limit--) {
    proxy.setFault({ reset: true }) // start with a new connection, because bytes are counted from its first one
    proxy.setFault({ cutAfterBytes: 900 + 33 * (60 - limit) }) // a probe fits
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
  assert.ok(cut >= 15 && complete >= 15, `${cut} cut, ${complete} complete: the cuts miss the responses`)
})

test('a ClickHouse response that arrives in pieces is complete', async () => {
  const { proxy, customer } = installed
  const whole = await ask(api, '/api/v1/stats/pages?range=90d&limit=60', customer.key)
  proxy.setFault({ sliceBytes: 7 })
  const sliced = await ask(api, '/api/v1/stats/pages?range=90d&limit=60', customer.key)
  answered(sliced, 200, 500)
  assert.deepEqual(sliced.json.data, whole.json.data)
})

test('a query over the time limit returns 500 within 2.5 s and is cancelled; other requests do not wait, and ClickHouse stays up', async () => {
  const { customer } = installed
  const told = changes(api, 'ClickHouse').length
  const asking = Array.from({ length: 4 }, () => overview(api, slow.key))
  await until('all queries run', 1_500, async () => (await running(slow.siteId)) === 4)
  answered(await ask(api, newQuery(), customer.key), 200, 250)
  for (const answer of await Promise.all(asking)) failed(answer, { boundMs: 2_500, counted: true })
  await until('no query runs', 500, async () => (await running(slow.siteId)) === 0)
  answered(await ask(api, newQuery(), customer.key), 200, 250)
  assert.deepEqual(changes(api, 'ClickHouse').slice(told), [])
})

test('when a client disconnects, its query is cancelled', async (test) => {
  const gone = new AbortController()
  const asking = ask(api, '/api/v1/stats/pages?range=7d', slow.key, { signal: gone.signal })
  await until('the query runs', 1_000, async () => (await running(slow.siteId)) === 1)
  gone.abort()
  await assert.rejects(asking, { name: 'AbortError' })
  const stopped = await until('the query is stopped', 500, async () => (await running(slow.siteId)) === 0)
  test.diagnostic(`stopped in ${stopped} ms`)
})

test('64 parallel requests of one key all succeed, four at a time, and no other key waits for them', async (test) => {
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
  const other = await ask(api, newQuery(), customer.key)
  const answers = await burst
  isRunning = false
  await watching
  test.diagnostic(`at most ${most} at once; all within ${Math.round(Math.max(...answers.map(({ ms }) => ms)))} ms`)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  answered(other, 200, 300)
  assert.ok(most > 1 && most <= 4, `${most} queries of one key at once`)
})

test('many keys together never run more than 16 ClickHouse queries', async (test) => {
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
  test.diagnostic(`at most ${most} at once`)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.ok(most > 4 && most <= 16, `${most} at once`)
})

test('a request that waits in the queue for 5 s gets an error', async (test) => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => overview(api, slow.key)))
  const times = answers.map(({ ms }) => Math.round(ms)).sort((a, b) => a - b)
  test.diagnostic(`after ${times.join(', ')} ms`)
  for (const answer of answers) failed(answer, { boundMs: 5_000, counted: true })
  assert.ok((times.at(-1) as number) >= 4_900, 'the last requests never left the queue')
  await until('no query runs', 500, async () => (await running(slow.siteId)) === 0)
})

test('a query over the memory limit fails without affecting others', async () => {
  const { stores, clickhouse, customer } = installed
  const heavy = await newCustomer(stores.postgres)
  await clickhouse.command(`INSERT INTO stored_events (site_id, day, time, visitor_id, session_id, name, pathname)
    SELECT '${heavy.siteId}', today(), now64(3) - 1, number, number, 'pageview', toString(number) || repeat('x', 100)
    FROM numbers(300000)`)
  const strict = await installed.startApi('?ch_max_memory_usage=20000000')
  failed(await ask(strict, '/api/v1/stats/pages?range=7d', heavy.key), { boundMs: 2_500, counted: true })
  answered(await ask(strict, newQuery(), customer.key), 200, 500)
  assert.deepEqual(changes(strict, 'ClickHouse'), [])
  assert.equal(await strict.stop(), 0)
})

test('a query that ClickHouse refuses because it is full is retried once, a moment later', async () => {
  const { customer, proxy, target, clickhousePort } = installed
  const full = await startFaultyClickHouse(clickhousePort)
  atEnd(full.close)
  target.port = full.port
  proxy.setFault({ reset: true })
  proxy.setFault({})
  await until('ClickHouse is reached', 2_000, async () => (await ask(api, newQuery(), customer.key)).status === 200)
  const told = changes(api, 'ClickHouse').length
  full.refuse({ code: 202, status: 500, times: 1 })
  answered(await ask(api, '/api/v1/stats/overview?range=7d', customer.key), 200, 500)
  full.refuse({ code: 202, status: 500, times: 2 })
  failed(await ask(api, '/api/v1/stats/overview?range=30d', customer.key), { boundMs: 500, counted: true })
  assert.deepEqual(changes(api, 'ClickHouse').slice(told), [])
  target.port = clickhousePort
})

test('when ClickHouse is killed during a query, the query fails within 300 ms, and queries work within a second of its return', async (test) => {
  const { kill, start, customer } = installed
  const asking = overview(api, slow.key)
  await until('the query runs', 1_000, async () => (await running(slow.siteId)) === 1)
  const began = performance.now()
  await kill()
  const answer = await asking
  failed({ ...answer, ms: performance.now() - began }, { boundMs: 300, counted: true })
  await start()
  const healed = await until('it answers', 1_000, async () => (await ask(api, newQuery(), customer.key)).status === 200)
  test.diagnostic(`healed in ${healed} ms`)
})
