// Graceful shutdown and SIGKILL of an API process.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { before, beforeEach, test } from 'node:test'
import type { ApiProcess } from '../support/api-process.ts'
import { startCollectorProcess } from '../support/collector-process.ts'
import { inTime } from '../support/in-time.ts'
import type { StartedProcess } from '../support/process.ts'
import { openStores } from '../support/stores.ts'
import { ask, failed, noise, overview, sleep, type Timed, until, whileAsking } from './installation.ts'
import { installProcesses, openLine, type ProcessInstallation } from './process-installation.ts'

let installed: ProcessInstallation

before(async () => {
  installed = await installProcesses()
})

beforeEach(() => {
  installed.postgres.setFault({})
  installed.clickhouse.setFault({})
})

/** Sends SIGTERM; returns the exit code and how long the shutdown took. */
async function end(api: StartedProcess): Promise<{ code: number | null; ms: number }> {
  const began = performance.now()
  const code = await api.stop()
  return { code, ms: performance.now() - began }
}

test('SIGTERM refuses new connections, answers running requests and those on open connections, then exits with 0', async (test) => {
  const { startApi, clickhouse, customer } = installed
  const api = await startApi()
  const idle = await openLine(api)
  assert.equal((await idle.ask('/readyz')).status, 200)
  const quiet = await openLine(api)
  clickhouse.setFault({ latencyMs: 700 })
  const lines = await Promise.all(Array.from({ length: 8 }, () => openLine(api)))
  const underWay = lines.map((line) => line.ask('/api/v1/stats/overview?range=30d', customer.key))
  await sleep(300)

  const ending = end(api)
  await until('new connections are refused', 100, () =>
    fetch(`${api.url}/livez`).then(
      () => false,
      ({ cause }) => cause.code === 'ECONNREFUSED',
    ),
  )
  assert.deepEqual(await idle.ask('/readyz'), { status: 503, closes: true, text: '{"status":"ending"}' })
  const onItsWay = await quiet.ask('/livez')
  assert.deepEqual([onItsWay.status, onItsWay.closes], [200, true])
  for (const { status, closes } of await Promise.all(underWay)) assert.deepEqual([status, closes], [200, true])
  const { code, ms } = await ending
  test.diagnostic(`ended in ${Math.round(ms)} ms`)
  assert.equal(code, 0)
  inTime(ms <= 4_000 + noise(), `took ${Math.round(ms)} ms`)
  assert.doesNotMatch(api.log(), /"level":50/)
})

for (const [what, startOne] of [
  ['API', () => installed.startApi({ DRAIN_SECONDS: '2' })],
  [
    'collector',
    async () => startCollectorProcess((await openStores()).addresses, { environment: { DRAIN_SECONDS: '2' } }),
  ],
] as const) {
  test(`SIGTERM with DRAIN_SECONDS: the ${what} still accepts connections, returns 503 at /readyz, and exits after that time`, async (test) => {
    const drained = await startOne()
    assert.equal((await ask(drained, '/readyz')).status, 200)
    const ending = end(drained)
    const began = performance.now()
    await until('/readyz returns 503', 300, async () => (await ask(drained, '/readyz')).status === 503)
    while (performance.now() - began < 1_500) {
      // Each request uses a new connection, because each response closes its own.
      const [ready, alive] = [await ask(drained, '/readyz'), await ask(drained, '/livez')]
      assert.deepEqual([ready.status, ready.text], [503, '{"status":"ending"}'])
      assert.deepEqual([alive.status, alive.headers.get('connection')], [200, 'close'])
      await sleep(50)
    }
    const { code, ms } = await ending
    test.diagnostic(`ended in ${Math.round(ms)} ms`)
    assert.equal(code, 0)
    assert.ok(ms >= 2_000, `took ${Math.round(ms)} ms`)
    inTime(ms <= 6_000 + noise(), `took ${Math.round(ms)} ms`)
  })

  test(`Ctrl-C: the ${what} does not wait for load balancers`, async () => {
    const drained = await startOne()
    const ended = once(drained.child, 'exit')
    const began = performance.now()
    drained.child.kill('SIGINT')
    await until('new connections are refused', 1_000, () =>
      fetch(`${drained.url}/livez`).then(
        () => false,
        ({ cause }) => cause.code === 'ECONNREFUSED',
      ),
    )
    inTime(performance.now() - began < 1_900, 'not within 1,900 ms')
    assert.deepEqual((await ended)[0], 0)
  })
}

test('unused connections do not delay the shutdown', async (test) => {
  const api = await installed.startApi()
  const lines = await Promise.all(Array.from({ length: 5 }, () => openLine(api)))
  for (const line of lines.slice(2)) await line.ask('/livez')
  const { code, ms } = await end(api)
  test.diagnostic(`ended in ${Math.round(ms)} ms`)
  assert.equal(code, 0)
  inTime(ms <= 2_500 + noise(), `took ${Math.round(ms)} ms`)
})

test('SIGTERM while all dependencies hang: exits within 10 s with 0', async (test) => {
  const { startApi, postgres, clickhouse, customer } = installed
  const api = await startApi()
  await sleep(700) // what was read before the first poll is read again after it
  assert.equal((await overview(api, customer.key)).status, 200)
  postgres.setFault({ blackHole: true })
  clickhouse.setFault({ blackHole: true })
  const asking = overview(api, customer.key, '&country=DE')
  await sleep(500)
  const { code, ms } = await end(api)
  test.diagnostic(`ended in ${Math.round(ms)} ms`)
  failed(await asking, { boundMs: 2_500, counted: true })
  assert.equal(code, 0)
  inTime(ms <= 10_000, `took ${Math.round(ms)} ms`)
})

test('five restarts of two processes under load, behind a balancer that follows /readyz: no request fails', async (test) => {
  const { startApi, customer } = installed
  const start = () => startApi({ DRAIN_SECONDS: '1' })
  const apis = [await start(), await start()]
  const isEnding = [false, false]
  let turn = 0
  /** Acts like a load balancer: round robin among the processes that are not ending. */
  const request = async (): Promise<Timed> => {
    const first = turn++ % 2
    return overview(apis[isEnding[first] ? 1 - first : first] as ApiProcess, customer.key)
  }
  const restarts = (async () => {
    for (let restart = 0; restart < 5; restart++) {
      const index = restart % 2
      const old = apis[index] as ApiProcess
      const ended = old.stop()
      await until('/readyz returns 503', 800, async () => (await ask(old, '/readyz')).status === 503)
      isEnding[index] = true
      assert.equal(await ended, 0)
      apis[index] = await start()
      isEnding[index] = false
    }
  })()
  const clients = Array.from({ length: 7 }, () => whileAsking(request, () => restarts))
  const answers = (await Promise.all(clients)).flat()
  test.diagnostic(`${answers.length} requests`)
  const failures = answers.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`)
  assert.deepEqual(failures, [])
  assert.ok(answers.length > 100)
})

test('kill -9 breaks only the requests of that process', async (test) => {
  const { startApi, clickhouse, customer } = installed
  const [victim, other] = [await startApi(), await startApi()]
  clickhouse.setFault({ latencyMs: 500 })
  const lost = assert.rejects(overview(victim, customer.key, '&device=mobile'))
  const safe = overview(other, customer.key, '&device=mobile')
  await sleep(200)
  victim.child.kill('SIGKILL')
  await lost
  assert.equal((await safe).status, 200)
  clickhouse.setFault({})
  const began = performance.now()
  const next = await startApi()
  test.diagnostic(`another process serves after ${Math.round(performance.now() - began)} ms`)
  assert.equal((await overview(next, customer.key)).status, 200)
})
