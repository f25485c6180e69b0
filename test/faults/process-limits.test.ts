// An API process that is suspended or runs out of a resource.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, beforeEach, type TestContext, test } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import type { ApiProcess } from '../support/api-process.ts'
import { inTime } from '../support/in-time.ts'
import { type StartedProcess, startProcess } from '../support/process.ts'
import { keySecrets, openStores, type StoreAddresses } from '../support/stores.ts'
import { answered, ask, changes, newCustomer, noise, overview, record, sleep, until } from './installation.ts'
import { installProcesses, openLine, type ProcessInstallation } from './process-installation.ts'

let installed: ProcessInstallation

before(async () => {
  installed = await installProcesses()
})

beforeEach(() => {
  installed.postgres.setFault({})
  installed.clickhouse.setFault({})
})

test('a process suspended for 3 s answers at once again and does not report its dependencies as down', async (test) => {
  const { startApi, customer } = installed
  const [still, other] = [await startApi(), await startApi()]
  process.kill(still.pid, 'SIGSTOP')
  const waiting = overview(still, customer.key)
  await sleep(3_000)
  answered(await overview(other, customer.key), 200, 250)
  process.kill(still.pid, 'SIGCONT')
  const began = performance.now()
  assert.equal((await waiting).status, 200)
  test.diagnostic(`answered ${Math.round(performance.now() - began)} ms after`)
  inTime(performance.now() - began <= 500 + noise(), 'not within 500 ms')
  await sleep(600)
  assert.deepEqual([changes(still, 'PostgreSQL'), changes(still, 'ClickHouse')], [[], []])
})

for (const [what, break_] of [
  ['whose reader is gone', (api: ApiProcess) => api.child.stdout?.destroy()],
  ['whose reader is stuck', (api: ApiProcess) => api.child.stdout?.pause()],
] as const) {
  test(`a log ${what} loses lines, not responses`, async () => {
    const api = await installed.startApi({ LOG_LEVEL: 'trace' })
    break_(api)
    await writesMuch(api)
    assert.equal(await api.stop(), 0)
  })
}

test('a log on a full disk loses lines, not responses', async () => {
  const api = await installed.startApi({ LOG_LEVEL: 'trace' }, { stdout: openSync('/dev/full', 'w') })
  await writesMuch(api)
  assert.equal(await api.stop(), 0)
})

for (const what of ['collector', 'serve'] as const) {
  test(`${what}: a log on a full disk loses lines, not responses`, async (t) => {
    const disk = fullDisk(t)
    const { addresses } = await openStores()
    const post = (url: string) => fetch(`${url}/api/event?debug=1`, { method: 'POST', body: '{}' })
    const started = await startWithLog(what, addresses, disk.file)
    t.after(() => started.kill())
    for (let sent = 0; sent < 20; sent++) {
      const { status } = await post(started.url)
      assert.equal(status, 202)
    }
    assert.equal(statSync(disk.file).size, 0, 'the disk was full from the start')
    rmSync(disk.filler)
    assert.equal(await started.stop(), 0)
  })
}

/** A separate full disk with a log file on it. */
function fullDisk(t: TestContext): { file: string; filler: string } {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
  t.after(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  const [file, filler] = [join(folder, 'log'), join(folder, 'filler')]
  writeFileSync(file, '')
  writeFileSync(filler, 'x'.repeat(64 * 1024))
  return { file, filler }
}

async function startWithLog(
  what: 'collector' | 'serve',
  addresses: StoreAddresses,
  file: string,
): Promise<StartedProcess> {
  const [port, metricsPort, collectorMetricsPort] = await Promise.all(Array.from({ length: 3 }, freePort))
  const main = what === 'serve' ? 'cli/main.ts' : 'collector/main.ts'
  return startProcess({
    name: what,
    command: [
      process.execPath,
      new URL(`../../src/${main}`, import.meta.url).pathname,
      ...(what === 'serve' ? ['serve'] : []),
    ],
    environment: {
      DATABASE_URL: addresses.postgres,
      CLICKHOUSE_URL: addresses.clickhouse,
      KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
      [what === 'serve' ? 'PORT' : 'COLLECTOR_PORT']: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      COLLECTOR_METRICS_PORT: `${collectorMetricsPort}`,
      SPOOL_FOLDER: mkdtempSync(join(tmpdir(), 'footfall-spool-')),
      DRAIN_SECONDS: '0',
    },
    port: port as number,
    stdout: openSync(file, 'a'),
    maxStopMs: 20_000,
  })
}

/** Writes more lines than any pipe buffers. */
async function writesMuch(api: ApiProcess): Promise<void> {
  const asking = Array.from({ length: 20 }, async () => {
    for (let sent = 0; sent < 100; sent++) answered(await ask(api, '/api/v1/nowhere'), 404, 1_000)
  })
  await Promise.all(asking)
  answered(await overview(api, installed.customer.key), 200, 250)
}

test('out of file descriptors: new connections are closed at once, open ones are served, and later ones are accepted again', async (test) => {
  const { startApi, customer } = installed
  const api = await startApi({}, { maxFiles: 256 })
  const honest = await openLine(api)
  const lines = await Promise.all(Array.from({ length: 300 }, () => openLine(api)))
  await sleep(200)
  const refused = lines.filter((line) => line.isClosed())
  test.diagnostic(`${refused.length} of 300 turned away`)
  assert.ok(refused.length >= 100 && refused.length < 300)
  const asked = await honest.ask('/api/v1/stats/overview?range=90d', customer.key)
  assert.equal(asked.status, 200, 'file descriptors are left for the stores')
  for (const { socket } of lines) socket.destroy()
  await until('a new client is served', 500, () =>
    overview(api, customer.key).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
  assert.equal(await api.stop(), 0)
})

test('64 MB of memory are enough for many large responses', async () => {
  const { startApi, clickhouse } = installed
  const stores = await openStores()
  const customer = await newCustomer(stores.postgres)
  const hits = Array.from({ length: 100 }, (_, index) => ({ utmSource: `${index}${'x'.repeat(3_000)}` }))
  await record(stores.clickhouse, customer.siteId, ...hits)
  const api = await startApi({ NODE_OPTIONS: '--max-old-space-size=64' })
  await until('the key works', 3_000, async () => (await overview(api, customer.key)).status === 200)
  let bytes = 0
  for (let limit = 51; limit <= 100; limit++) {
    const paths = ['7d', '30d', '90d', '12m'].map((range) => `/api/v1/stats/utm?range=${range}&limit=${limit}`)
    for (const answer of await Promise.all(paths.map((path) => ask(api, path, customer.key)))) {
      assert.equal(answer.status, 200, answer.text)
      bytes += answer.text.length
    }
  }
  assert.ok(bytes > 40_000_000, 'more than fits into memory')
  assert.equal(api.child.exitCode, null)
  clickhouse.setFault({ reset: true })
  const latest = await ask(api, '/api/v1/stats/utm?range=12m&limit=100', customer.key)
  assert.equal(latest.status, 200, 'the last response is still cached')
  assert.equal(await api.stop(), 0)
})
