// Deleted sites and old events from the operator's view, with the `footfall` command.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { install, runFootfall } from '../support/installation.ts'

const dayMs = 24 * 3_600_000

test('a site deleted while ClickHouse is down is erased by the next rollup run, and an operator may force the rewrite at once', {
  timeout: 600_000,
}, async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  const { footfall, json, environment } = installation
  assert.match((await footfall('site', 'deletions')).stdout, /There are no deleted sites/)
  const { id } = await json('site', 'create', 'gone.example')
  await json('demo', 'gone.example', '--events', '10000')
  const without = { ...environment, CLICKHOUSE_URL: 'http://footfall:footfall@127.0.0.1:9/none' }
  const before = Date.now()
  const { code, stdout } = await runFootfall(['site', 'delete', 'gone.example', '--yes', '--json'], without)
  const deleted = JSON.parse(stdout)
  assert.deepEqual([code, deleted.id, deleted.deleted, deleted.erased], [0, id, true, false])
  const goneBy = Date.parse(deleted.goneBy)
  assert.ok(goneBy >= before + 8 * dayMs - 60_000 && goneBy <= Date.now() + 8 * dayMs + 60_000, deleted.goneBy)

  const states = async (command: string) =>
    (await json('site', command)).map((job: Record<string, unknown>) => [
      job.domain,
      job.id,
      job.erasedAt !== null,
      job.rewrittenAt !== null,
    ])
  assert.deepEqual(await states('deletions'), [['gone.example', id, false, false]])
  await json('rollup', 'run')
  assert.deepEqual(await states('deletions'), [['gone.example', id, true, false]])
  assert.deepEqual(await states('purge'), [['gone.example', id, true, true]])

  await json('site', 'create', 'other.example')
  const said = (await footfall('site', 'delete', 'other.example', '--yes')).stdout
  assert.match(
    said,
    /Deleted other\.example, its keys and its traffic\.\n.*It is gone from the disk of ClickHouse by \d{4}-\d\d-\d\d.*backups/,
  )
  assert.deepEqual((await states('deletions'))[0].slice(2), [true, false])

  // As after a restore of PostgreSQL from before the site was created.
  const unknown = 'site_aaaaaaaaaaaaaaaa'
  const clickhouse = openClickHouse(environment.CLICKHOUSE_URL as string)
  t.after(() => clickhouse.close())
  const rows = () => clickhouse.rows(sql`SELECT 1 FROM events WHERE site_id = ${text(unknown)}`)
  await clickhouse.command(`INSERT INTO events (site_id, day, name) VALUES ('${unknown}', '2026-01-01', 'pageview')`)
  const unconfirmed = await footfall('site', 'delete', unknown)
  assert.deepEqual([unconfirmed.code, (await rows()).length], [1, 1])
  assert.match((await footfall('site', 'delete', unknown, '--yes')).stdout, /^Deleted site_a+ and its traffic\.\n/)
  assert.deepEqual(await rows(), [])
  assert.match((await footfall('site', 'delete', unknown, '--yes')).stderr, /There is no site site_a+/)
})

test('dropping more than one month of old events needs an operator’s confirmation', { timeout: 600_000 }, async (t) => {
  const installation = await install({ RETENTION_MONTHS: '25' })
  t.after(() => installation.remove())
  const { footfall, json } = installation
  const folder = mkdtempSync(join(tmpdir(), 'footfall-retention-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await json('site', 'create', 'old.example')
  const lines = ['2020-03-01', '2020-03-02', '2020-05-01'].map((day) => `${day}T10:00:00Z,https://old.example/,v1`)
  writeFileSync(join(folder, 'old.csv'), ['time,url,visitor', ...lines, ''].join('\n'))
  await json('import', 'old.example', join(folder, 'old.csv'))

  const held = await footfall('rollup', 'run', '--json')
  assert.equal(held.code, 1)
  assert.match(JSON.parse(held.stdout).held, /more than one month/)
  const plan = await json('rollup', 'retention')
  assert.equal(plan.confirmed, false)
  assert.deepEqual(
    plan.months.map(({ month, events }: { month: string; events: number }) => [month, events]),
    [
      ['202003', 2],
      ['202005', 1],
    ],
  )
  assert.match(
    (await footfall('rollup', 'retention')).stdout,
    /2020-05 +1 .*\n\nWith --confirm, Footfall keeps events from/,
  )
  assert.equal((await footfall('rollup', 'run')).code, 1, 'showing the months does not confirm them')
  assert.equal((await json('rollup', 'retention', '--confirm')).confirmed, true)
  assert.equal((await json('rollup', 'run')).held, undefined)
  assert.deepEqual((await json('rollup', 'retention')).months, [])
})
