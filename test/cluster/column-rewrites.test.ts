// The types of columns change under rows that are there: what `footfall migrate` and `footfall doctor` say, and what works meanwhile.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startClickHouse } from '../../dev/clickhouse/server.ts'
import type { Rewriting } from '../../src/cluster/column-rewrites.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { createClickHouseDatabase } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { eventually } from '../support/eventually.ts'
import { connectPatiently, freshEmptyStores, freshStores } from '../support/fresh-stores.ts'
import { inherited } from '../support/inherited.ts'
import { runFootfall } from '../support/installation.ts'
import { needing } from '../support/needing.ts'
import { keySecretsSetting, launchServe } from '../support/serve-process.ts'
import { disconnect, type Stores } from '../support/stores.ts'
import { columns, contentOf, file, fill, migrateToBefore, mutationsOf } from './before-low-cardinality.ts'

const { test } = needing('ClickHouse')

async function installBefore(t: TestContext): Promise<Stores> {
  const stores = await freshEmptyStores((end) => t.after(end))
  await migrateToBefore(t, stores)
  return stores
}

const settingsOf = ({ addresses }: Stores) => ({
  DATABASE_URL: addresses.postgres,
  CLICKHOUSE_URL: addresses.clickhouse,
  KEY_SECRETS: keySecretsSetting,
})

const upgradeOf = async (stores: Stores) => {
  const { stdout } = await runFootfall(['doctor', '--json'], settingsOf(stores))
  const findings = JSON.parse(stdout) as { check: string; state: string; found: string; advice?: string }[]
  assert.equal(findings.find(({ check }) => check === 'Migrations')?.state, 'ok')
  return findings.find(({ check }) => check === 'Upgrade')
}

test('the bytes of each step are estimated well, and enough', async (t) => {
  const stores = await installBefore(t)
  const { clickhouse } = stores
  await fill(clickhouse, 300_000, '2026-01')
  await fill(clickhouse, 2_000, '2026-02') // a part with all columns in one file
  const content = await contentOf(clickhouse)
  const plans: Rewriting[] = []
  const written: number[] = []
  const applied = await migrate(stores, {
    watch: {
      begins: (plan) => void plans.push(plan),
      rewriting: () => {},
    },
  })
  assert.deepEqual(applied, [file])
  for (const column of columns) {
    const [row] = await clickhouse.rows<{ bytes: number }>(sql`
      SELECT sum(if(part_type = 'Compact', bytes_on_disk, column_bytes_on_disk)) AS bytes FROM system.parts_columns
      WHERE database = currentDatabase() AND table = 'events' AND active AND column = ${text(column)}`)
    written.push(row?.bytes ?? 0)
  }
  assert.deepEqual(
    plans.map((plan) => [plan.columns, plan.parts, plan.rows, plan.isTooFull]),
    columns.map((column) => [[`events.${column}`], 2, 302_000, false]),
  )
  for (const [index, { bytes }] of plans.entries()) assert.ok(bytes > 0.9 * (written[index] ?? 0), `${columns[index]}`)
  // Unique paths, most of the bytes, do not get smaller.
  const [estimated, real] = [plans[2]?.bytes ?? 0, written[2] ?? 0]
  assert.ok(estimated > 4_000_000 && estimated < 1.5 * real, `${estimated} bytes estimated, ${real} written`)
  assert.deepEqual(await contentOf(clickhouse), content)
})

test('a killed migrate goes on where it was; reads, inserts and processes that start do not wait for it', async (t) => {
  const stores = await installBefore(t)
  const { clickhouse } = stores
  await fill(clickhouse, 50_000, '2026-01')
  const content = await contentOf(clickhouse)
  await clickhouse.command('SYSTEM STOP MERGES events') // holds up rewriting, too
  const start = () => {
    const main = new URL('../../src/cli/main.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [main, 'migrate', '--json'], { env: { ...inherited, ...settingsOf(stores) } })
    t.after(() => child.kill('SIGKILL'))
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (data) => (output.stdout += data))
    child.stderr.on('data', (data) => (output.stderr += data))
    return { child, output, ended: once(child, 'exit') }
  }

  const first = start()
  await eventually(async () => assert.match(first.output.stderr, /Rewriting events.name: 0 % {2}0 of 1 parts/), 60_000)
  assert.match(first.output.stderr, /^events\.name: rewriting [\d.]+ MB, about 1 s; the disk will be \d+ % full\n/)
  assert.deepEqual(await mutationsOf(clickhouse), ['name'])
  assert.deepEqual(await contentOf(clickhouse), content)
  first.child.kill('SIGKILL')
  await first.ended
  assert.deepEqual(await upgradeOf(stores).then((one) => [one?.state, one?.advice]), [
    'warning',
    'Run: footfall migrate. Everything works meanwhile.',
  ])

  const second = start()
  await eventually(async () => assert.match(second.output.stderr, /Rewriting events.name: 0 %/), 60_000)
  assert.deepEqual(await mutationsOf(clickhouse), ['name'])
  // As `footfall serve` does. It also starts the other steps, because it does not wait for this one.
  assert.deepEqual(await migrate(stores), [file])
  assert.deepEqual(await mutationsOf(clickhouse), columns)
  assert.deepEqual(await contentOf(clickhouse), content)
  await fill(clickhouse, 1_000, '2026-02')
  const more = await contentOf(clickhouse)
  assert.equal(second.child.exitCode, null)
  assert.match((await upgradeOf(stores))?.found ?? '', /^events\.hostname, .*: [\d.]+ [kM]B in 1 part to rewrite$/)

  await clickhouse.command('SYSTEM START MERGES events')
  await second.ended
  assert.equal(second.child.exitCode, 0, second.output.stderr)
  assert.deepEqual(await mutationsOf(clickhouse), columns)
  assert.deepEqual(await contentOf(clickhouse), more)
  const old = await clickhouse.rows(sql`
    SELECT 1 FROM system.parts_columns
    WHERE database = currentDatabase() AND table = 'events' AND active AND column IN ('name', 'hostname', 'pathname') AND type = 'String'`)
  assert.deepEqual(old, [])
  assert.deepEqual(await upgradeOf(stores), { check: 'Upgrade', state: 'ok', found: 'no column is left to rewrite' })
})

test('backups from before and from the middle of the upgrade are restored', async (t) => {
  const stores = await installBefore(t)
  const { clickhouse } = stores
  await fill(clickhouse, 3_000, '2026-01')
  const content = await contentOf(clickhouse)
  const folder = mkdtempSync(join(tmpdir(), 'footfall-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const backUp = async (name: string) => {
    const { code, stderr } = await runFootfall(['backup', join(folder, name)], settingsOf(stores))
    assert.equal(code, 0, stderr)
  }
  await backUp('before')
  await clickhouse.command('SYSTEM STOP MERGES events')
  await migrate(stores)
  await backUp('middle')
  for (const name of ['before', 'middle']) {
    const restored = await freshStores((end) => t.after(end))
    const { code, stderr } = await runFootfall(['restore', join(folder, name)], settingsOf(restored))
    assert.equal(code, 0, stderr)
    assert.deepEqual(await contentOf(restored.clickhouse), content, name)
  }
})

const diskBytes = 128 * 1024 * 1024

test('on a disk that would be too full nothing begins, everything works, and both commands say what to do', {
  timeout: 600_000,
}, async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'footfall-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', disk])
  const server = await startClickHouse({ folder: join(disk, 'clickhouse') })
  const empty = await freshEmptyStores((end) => t.after(end))
  const addresses = { ...empty.addresses, clickhouse: `${server.url}/footfall` }
  await createClickHouseDatabase(addresses.clickhouse)
  const stores = connectPatiently(addresses)
  t.after(async () => {
    await disconnect(stores)
    await server.kill()
    execFileSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true })
  })
  const { clickhouse } = stores
  await migrateToBefore(t, stores)
  await fill(clickhouse, 700_000, '2026-01')
  const content = await contentOf(clickhouse)
  const [part] = await clickhouse.rows<{ bytes: number; parts: number }>(
    sql`SELECT sum(bytes_on_disk) AS bytes, count() AS parts FROM system.parts WHERE active AND table = 'events'`,
  )
  assert.ok(part && part.parts === 1 && part.bytes > 17e6, JSON.stringify(part)) // event id and path have 24 random bytes
  const filler = join(disk, 'filler')
  const leaveFree = (bytes: number) => {
    rmSync(filler, { force: true })
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(filler, Buffer.alloc(bavail * bsize - bytes, 1))
  }
  const run = () => runFootfall(['migrate'], settingsOf(stores))
  const advice = 'Free or add disk, then run: footfall migrate. Everything works meanwhile.'

  // Unique paths are half of the part: enough to pass 85 %. Names and hosts are nothing.
  leaveFree(1.13 * part.bytes)
  const stopped = await run()
  assert.equal(stopped.code, 1)
  assert.match(
    stopped.stderr,
    /events\.pathname: 1\d\.\d MB in 1 part to rewrite\. The disk would be (8[6-9]|9\d) % full, and 85 % is the limit\.\n/,
  )
  assert.ok(stopped.stderr.includes(advice))
  assert.deepEqual(await mutationsOf(clickhouse), ['name', 'hostname'])
  const found = await upgradeOf(stores)
  assert.deepEqual([found?.state, found?.advice], ['warning', advice])
  assert.match(
    found?.found ?? '',
    /^events\.pathname, events\.referrer, events\.utm_source: 1\d\.\d MB in 1 part to rewrite\. The disk would be/,
  )

  // ClickHouse itself waits for ever if a copy of the part would not fit.
  leaveFree(1.05 * part.bytes)
  assert.match((await run()).stderr, /The disk has no room for a copy of the largest part/)
  assert.deepEqual(await mutationsOf(clickhouse), ['name', 'hostname'])

  const serving = await launchServe({ postgres: addresses.postgres, clickhouse: addresses.clickhouse })
  t.after(() => serving.kill())
  await serving.untilReady()
  assert.ok(serving.log().includes(advice))
  assert.deepEqual(await contentOf(clickhouse), content)
  await serving.stop()

  rmSync(filler)
  const finished = await run()
  assert.deepEqual([finished.code, finished.stdout], [0, `applied ${file}\n`])
  assert.deepEqual(await mutationsOf(clickhouse), columns)
  assert.deepEqual(await contentOf(clickhouse), content)
  assert.equal((await upgradeOf(stores))?.state, 'ok')
})
