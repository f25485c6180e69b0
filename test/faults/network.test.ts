// Names that do not resolve, connections that cannot be opened, and clocks that jump.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { before, test } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { missing } from '../support/needing.ts'
import { startOwnRedis } from '../support/own-servers.ts'
import { openStores, type Stores } from '../support/stores.ts'
import type { Step } from '../support/unsteady-world.ts'
import {
  answered,
  ask,
  type Customer,
  changes,
  failed,
  isUp,
  newCustomer,
  overview,
  record,
  sleep,
  until,
} from './installation.ts'

let stores: Stores
let customer: Customer

before(async () => {
  stores = await openStores()
  customer = await newCustomer(stores.postgres)
  await record(stores.clickhouse, customer.siteId, {})
})

/** An API whose clock and name server follow these steps, with a host name for each store. `next` goes one step on. */
async function startUnsteadyApi(steps: Step[], redis?: string): Promise<ApiProcess & { next(): void }> {
  const { postgres, clickhouse } = stores.addresses
  const named = (url: string, name: string) => Object.assign(new URL(url), { hostname: name }).href
  const api = await startApiProcess(
    {
      postgres: named(postgres, 'postgres.test'),
      clickhouse: named(clickhouse, 'clickhouse.test'),
      ...(redis && { redis }),
    },
    {
      NODE_OPTIONS: `--import=${new URL('../support/unsteady-world.ts', import.meta.url).href}`,
      UNSTEADY_STEPS: JSON.stringify(steps),
    },
  )
  atEnd(() => {
    api.child.kill('SIGKILL')
  })
  return { ...api, next: () => process.kill(api.pid, 'SIGUSR2') }
}

for (const names of ['fail', 'hang'] as const) {
  test(`when name resolution ${names}s at start, requests fail in time and the process finds its dependencies by itself`, async (test) => {
    const api = await startUnsteadyApi([{ names }, { names: 'answer' }])
    answered(await overview(api, 'ff_s_made-up'), 401, 50)
    failed(await overview(api, customer.key), { boundMs: 350, counted: false })
    await until('the metric shows PostgreSQL down', 500, async () => !(await isUp(api, 'PostgreSQL')))
    api.next()
    const boundMs = names === 'fail' ? 1_000 : 3_000 // a name query that hangs is repeated after 2 s
    const healed = await until('it answers', boundMs, async () => (await overview(api, customer.key)).status === 200)
    test.diagnostic(`healed in ${healed} ms`)
    assert.deepEqual(changes(api, 'PostgreSQL'), ['down', 'up'])
    assert.equal(await api.stop(), 0)
  })
}

for (const names of ['fail', 'hang'] as const) {
  test(`when name resolution ${names}s later, nothing changes: the last good address is used`, async () => {
    const api = await startUnsteadyApi([{ names: 'answer' }, { names }])
    await until('it answers', 3_000, async () => (await overview(api, customer.key)).status === 200)
    api.next()
    await sleep(3_000) // by now idle connections to ClickHouse are closed
    await stores.postgres`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'footfall' AND state = 'idle' AND pid != pg_backend_pid()`
    const { key } = await newCustomer(stores.postgres)
    await until('a new connection to PostgreSQL', 2_000, async () => (await overview(api, key)).status === 200)
    answered(await overview(api, customer.key, '&country=DE'), 200, 500)
    assert.deepEqual(changes(api, 'ClickHouse'), [])
    assert.equal(await api.stop(), 0)
  })
}

test('hosts that drop connections: 500 within 350 ms for PostgreSQL and 2.5 s for ClickHouse', async () => {
  const port = await deafPort()
  const { postgres, clickhouse } = stores.addresses
  const at = (url: string) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href
  const withoutPostgres = await startApiProcess({ postgres: at(postgres), clickhouse })
  failed(await overview(withoutPostgres, customer.key), { boundMs: 350, counted: false })
  assert.equal(await withoutPostgres.stop(), 0)
  const withoutClickHouse = await startApiProcess({ postgres, clickhouse: at(clickhouse) })
  await until(
    'the key is cached',
    3_000,
    async () => (await overview(withoutClickHouse, customer.key, '&limit=0')).status === 400,
  )
  failed(await overview(withoutClickHouse, customer.key), { boundMs: 2_500, counted: true })
  await until('the metric shows ClickHouse down', 500, async () => !(await isUp(withoutClickHouse, 'ClickHouse')))
  failed(await overview(withoutClickHouse, customer.key), { boundMs: 50, counted: true })
  assert.equal(await withoutClickHouse.stop(), 0)
})

/** A port with a full connection queue: the kernel drops every further connection. */
async function deafPort(): Promise<number> {
  const port = await freePort()
  const script = `require('net').createServer().listen({ port: ${port}, host: '127.0.0.1', backlog: 1 }, () => process.kill(process.pid, 'SIGSTOP'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' })
  atEnd(() => child.kill('SIGKILL'))
  await until('the port listens', 5_000, () => canConnect(port))
  await until('the queue is full', 5_000, async () => !(await canConnect(port)))
  return port
}

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    atEnd(() => socket.destroy())
    socket.on('error', () => resolve(false))
    setTimeout(() => resolve(false), 200)
  })

test('a clock that jumps an hour forward or back changes only generated_at', {
  skip: missing('Redis'),
}, async () => {
  const redis = await startOwnRedis()
  atEnd(() => redis.remove())
  const hour = 3_600_000
  const api = await startUnsteadyApi([{}, { clockMs: hour }, { clockMs: -hour }, {}], redis.url)
  await until('it answers', 3_000, async () => (await overview(api, customer.key)).status === 200)
  const seen = async () => {
    const answer = await ask(api, '/api/v1/stats/overview?range=12m', customer.key)
    assert.equal(answer.status, 200, answer.text)
    const aheadMs = Date.parse(answer.json.meta.generated_at) - Date.now()
    return {
      aheadHours: Math.round(aheadMs / hour) || 0,
      reset: Number(answer.headers.get('x-ratelimit-reset')),
      remaining: Number(answer.headers.get('x-ratelimit-remaining')),
    }
  }
  const { reset, remaining } = await seen()
  for (const [index, aheadHours] of [1, -1, 0].entries()) {
    api.next()
    await sleep(100)
    assert.deepEqual(await seen(), { aheadHours, reset, remaining: remaining - 1 - index })
  }
  assert.deepEqual([changes(api, 'PostgreSQL'), changes(api, 'ClickHouse')], [[], []])
  assert.equal(await api.stop(), 0)
})
