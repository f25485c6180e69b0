// One port, two API processes and their supervisor.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import type { ApiProcess } from '../support/api-process.ts'
import { needing } from '../support/needing.ts'
import { startOwnRedis } from '../support/own-servers.ts'
import { overview, until } from './installation.ts'
import { installProcesses } from './process-installation.ts'

const { test } = needing('Redis')

const installed = await installProcesses()

async function startTwo(test: { after(end: () => Promise<unknown>): void }): Promise<ApiProcess> {
  const redis = await startOwnRedis()
  const api = await installed.startApi({ API_PROCESSES: '2' }, { redis: redis.url })
  test.after(async () => {
    await api.stop()
    await redis.remove()
  })
  await until('both run', 10_000, async () => workersOf(api).length === 2 && (await metricsOf(api)).every(Boolean))
  return api
}

const workersOf = ({ pid }: ApiProcess): number[] =>
  execFileSync('bash', ['-c', `pgrep -P ${pid} || true`], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
    .map(Number)

/** For each process, whether its metrics can be read. */
const metricsOf = async ({ metricsUrl }: ApiProcess): Promise<boolean[]> => {
  const next = new URL(metricsUrl)
  next.port = `${Number(next.port) + 1}`
  const readable = (url: string | URL) =>
    fetch(url, { signal: AbortSignal.timeout(500) }).then(
      ({ ok }) => ok,
      () => false,
    )
  return Promise.all([metricsUrl, next].map(readable))
}

const ask = (api: ApiProcess) => overview(api, installed.customer.key)

test('a killed process is replaced, and meanwhile the other one answers', async (test) => {
  const api = await startTwo(test)
  const [victim] = workersOf(api) as [number]
  process.kill(victim, 'SIGKILL')
  const began = performance.now()
  await until('the process has exited', 1_000, async () => !workersOf(api).includes(victim))
  // Connections to the killed process are broken; a new one reaches the other process.
  await until('the other process answers', 1_000, () =>
    ask(api)
      .then(({ status }) => status === 200)
      .catch(() => false),
  )
  await until('two processes run again', 1_500, async () => workersOf(api).length === 2)
  test.diagnostic(`replaced after ${Math.round(performance.now() - began)} ms`)
  await until('its metrics are back', 10_000, async () => (await metricsOf(api)).every(Boolean))
  assert.match(api.log(), /an API process ended; starting another/)
})

test('a hung process is detected within 5 s and replaced', async (test) => {
  const api = await startTwo(test)
  const [victim] = workersOf(api) as [number]
  process.kill(victim, 'SIGSTOP')
  const began = performance.now()
  await until('the process has exited', 8_000, async () => !workersOf(api).includes(victim))
  test.diagnostic(`found after ${Math.round(performance.now() - began)} ms`)
  await until('two processes run again', 10_000, async () => (await metricsOf(api)).every(Boolean))
  for (let request = 0; request < 4; request++) assert.equal((await ask(api)).status, 200)
})

test('SIGTERM ends all processes with 0', async (test) => {
  const api = await startTwo(test)
  const workers = workersOf(api)
  assert.equal(await api.stop(), 0)
  for (const worker of workers) assert.throws(() => process.kill(worker, 0), /ESRCH/)
})

test('several processes without Redis are refused, because each would allow the whole limit', async () => {
  await assert.rejects(installed.startApi({ API_PROCESSES: '2' }), /needs REDIS_URL/)
})
