import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ClickHouseServerOptions, startClickHouse } from '../../dev/clickhouse/server.ts'
import { profileLimits, serverLimits, settingsNotInForce } from '../../src/cli/clickhouse-settings.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { needing } from '../support/needing.ts'

const ownClickHouse = needing('ClickHouse')

const deployed = new URL('../../deploy/clickhouse/', import.meta.url)
const smallMachine = 2 ** 30

async function notInForce(t: TestContext, options: ClickHouseServerOptions) {
  const server = await startClickHouse({ memory: smallMachine, ...options })
  const clickhouse = openClickHouse(server.url)
  t.after(() => Promise.all([clickhouse.close(), server.kill()]))
  return settingsNotInForce(clickhouse)
}

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-settings-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Numbers directly below an element in a file of deploy/clickhouse. */
function numbersIn(file: string): Record<string, number> {
  const text = readFileSync(new URL(file, deployed), 'utf8').replace(/<!--.*?-->/gs, '')
  const numbers = text.matchAll(/<(\w+)>(\d+)<\/\1>/g)
  return Object.fromEntries(Array.from(numbers, ([, name, value]) => [name, Number(value)]))
}

test('doctor expects the values that deploy/clickhouse sets', () => {
  const server = numbersIn('config.d/footfall.xml')
  for (const [name, limit] of Object.entries(serverLimits)) assert.equal(server[name], limit, name)
  assert.deepEqual(numbersIn('users.d/footfall.xml'), profileLimits)
})

ownClickHouse.test('with deploy/clickhouse in place doctor reports nothing', async (t) => {
  assert.deepEqual(await notInForce(t, { folder: folderOf(t) }), { settings: [], logs: [] })
})

ownClickHouse.test('doctor names the settings that are too large for a small machine', async (t) => {
  const { settings } = await notInForce(t, { folder: folderOf(t), stock: true })
  const names = settings.map((setting) => setting.split(' ')[0])
  for (const name of ['mark_cache_size', 'compiled_expression_cache_size', 'query_profiler_cpu_time_period_ns']) {
    assert.ok(names.includes(name), `${name} among ${names}`)
  }
})

ownClickHouse.test('a profile in the wrong folder has no effect and is reported', async (t) => {
  const folder = folderOf(t)
  mkdirSync(join(folder, 'config.d'))
  for (const name of ['config.d', 'users.d']) {
    cpSync(new URL(`${name}/footfall.xml`, deployed), join(folder, 'config.d', `${name}.xml`))
  }
  const { settings } = await notInForce(t, { folder, stock: true })
  assert.deepEqual(
    settings.map((setting) => setting.split(' ')[0]).filter((name) => name?.startsWith('query_profiler')),
    ['query_profiler_real_time_period_ns', 'query_profiler_cpu_time_period_ns'],
  )
})

ownClickHouse.test('a large machine gets no advice', async (t) => {
  const { settings } = await notInForce(t, { folder: folderOf(t), stock: true, memory: 64e9 })
  assert.deepEqual(settings, [])
})

ownClickHouse.test('a system log without a TTL is reported with its size', async (t) => {
  const server = await startClickHouse({ folder: folderOf(t) })
  const clickhouse = openClickHouse(server.url)
  t.after(() => Promise.all([clickhouse.close(), server.kill()]))
  await clickhouse.command('CREATE TABLE system.trace_log (day Date) ENGINE = MergeTree ORDER BY day')
  await clickhouse.command(
    'CREATE TABLE system.part_log (day Date) ENGINE = MergeTree ORDER BY day TTL day + INTERVAL 3 DAY',
  )
  assert.deepEqual((await settingsNotInForce(clickhouse)).logs, ['trace_log (0 MB)'])
})
