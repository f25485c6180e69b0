import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { startApiProcess } from '../support/api-process.ts'
import { eventOf } from '../support/events.ts'
import { type Installation, install } from '../support/installation.ts'

let installation: Installation
let postgres: Postgres
let folder: string
before(async () => {
  installation = await install()
  postgres = openPostgres(installation.addresses.postgres, 1)
  folder = mkdtempSync(join(tmpdir(), 'footfall-undo-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await postgres.end()
  await installation.remove()
})

/** Views of `/` by visitors of their own, in Umami's words. */
function umamiFile(name: string, times: readonly string[]): string {
  const path = join(folder, name)
  const rows = times.map((time, nth) => `${name}-${nth},/,1,${time}`)
  writeFileSync(path, `session_id,url_path,event_type,created_at\n${rows.join('\n')}\n`)
  return path
}

async function openSite(t: { after(undo: () => unknown): void }, domain: string) {
  const { id } = await installation.json('site', 'create', domain)
  const { key } = await installation.json('key', 'create', domain)
  const api = await startApiProcess(installation.addresses)
  t.after(() => api.stop())
  return {
    id: id as string,
    /** Views by day, of days that have any. */
    async views(): Promise<Record<string, number>> {
      const address = `${api.url}/api/v1/stats/timeseries?range=custom&start=2025-01-01&end=2025-12-31`
      const answer = await fetch(address, { headers: { Authorization: `Bearer ${key}` } })
      const { data } = (await answer.json()) as { data: { date: string; pageviews: number }[] }
      return Object.fromEntries(data.filter((day) => day.pageviews > 0).map((day) => [day.date, day.pageviews]))
    },
  }
}

/** As the tracker does. */
async function recordLive(siteId: string, day: string): Promise<void> {
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  const event = eventOf({ at: `${day}T12:00:00Z` }, siteId, 'UTC')
  await recordBatch(clickhouse, { id: event.eventId, events: [event] })
  await invalidateDays(postgres, [event])
  await clickhouse.close()
}

test('an import is undone, also of days that are rolled up, and its file may be imported again', async (t) => {
  const { views } = await openSite(t, 'undone.example')
  const first = umamiFile('first.csv', ['2025-03-02 10:00:00', '2025-03-01 10:00:00', '2025-03-02 11:00:00'])
  const second = umamiFile('second.csv', ['2025-03-02 12:00:00', '2025-04-01 12:00:00'])
  const { id } = await installation.json('import', 'undone.example', first)
  const other = await installation.json('import', 'undone.example', second)
  await installation.json('rollup', 'run', '--site', 'undone.example')
  assert.deepEqual(await views(), { '2025-03-01': 1, '2025-03-02': 3, '2025-04-01': 1 })

  const notes = async () =>
    (await installation.json('note', 'list', 'undone.example')).map(({ text }: { text: string }) => text)
  assert.deepEqual(await notes(), ['2 imported events, until 2025-04-01', '3 imported events, until 2025-03-02'])

  const undone = await installation.json('import', 'undo', 'undone.example', id)
  assert.deepEqual(await notes(), ['2 imported events, until 2025-04-01'])
  const log = await postgres<{ actor: string; action: string; details: string }[]>`
    SELECT actor, action, details FROM audit_log WHERE subject = 'undone.example' AND action LIKE 'import.%' ORDER BY id`
  assert.deepEqual(
    log.map(({ actor, action, details }) => [actor, action, details]),
    [
      ['command line', 'import.finished', '3 events, 2025-03-01 to 2025-03-02'],
      ['command line', 'import.finished', '2 events, 2025-03-02 to 2025-04-01'],
      ['command line', 'import.undone', '3 events, 2025-03-01 to 2025-03-02'],
    ],
  )
  assert.deepEqual(undone, { id, events: 3, days: 2 })
  assert.deepEqual(await views(), { '2025-03-02': 1, '2025-04-01': 1 })
  await installation.json('rollup', 'run', '--site', 'undone.example')
  assert.deepEqual(await views(), { '2025-03-02': 1, '2025-04-01': 1 })
  await assert.rejects(installation.json('import', 'undo', 'undone.example', id), /It was undone before/)

  const again = await installation.json('import', 'undone.example', first)
  assert.deepEqual([again.imported, again.id === id], ['whole', false])
  assert.deepEqual(await views(), { '2025-03-01': 1, '2025-03-02': 3, '2025-04-01': 1 })
  const listed = await installation.json('import', 'list', 'undone.example')
  assert.deepEqual(
    listed.map((one: Record<string, unknown>) => [
      one.id,
      one.state,
      one.kind,
      one.files,
      one.events,
      one.firstDay,
      one.lastDay,
    ]),
    [
      [again.id, 'finished', 'umami', ['first.csv'], 3, '2025-03-01', '2025-03-02'],
      [other.id, 'finished', 'umami', ['second.csv'], 2, '2025-03-02', '2025-04-01'],
      [id, 'undone', 'umami', ['first.csv'], 3, '2025-03-01', '2025-03-02'],
    ],
  )
  // A PostgreSQL that was restored from before all of it: the last import of the file is the one that has events.
  await postgres`DELETE FROM imports WHERE id IN (${id}, ${again.id})`
  assert.equal((await installation.json('import', 'undone.example', first)).id, again.id)
  assert.deepEqual(await views(), { '2025-03-01': 1, '2025-03-02': 3, '2025-04-01': 1 })
})

test('an undo that was stopped is repeated, and nothing is imported in between', async (t) => {
  const { id: siteId, views } = await openSite(t, 'stopped.example')
  const file = umamiFile('stopped.csv', ['2025-03-01 10:00:00'])
  const { id } = await installation.json('import', 'stopped.example', file)
  await installation.json('rollup', 'run', '--site', 'stopped.example')
  await postgres`UPDATE imports SET undoing_at = now() WHERE id = ${id}`
  await assert.rejects(installation.json('import', 'stopped.example', file), /is being undone/)
  // Also when its deletion was done, but not noted.
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  await clickhouse.run(sql`DELETE FROM events WHERE site_id = ${text(siteId)}`)
  await clickhouse.close()
  assert.equal((await installation.json('import', 'undo', 'stopped.example', id)).id, id)
  assert.deepEqual(await views(), {})
  assert.equal((await installation.json('import', 'stopped.example', file)).imported, 'whole')
  assert.deepEqual(await views(), { '2025-03-01': 1 })
})

test('events that a restored ClickHouse has again are taken back before the file is imported again', async (t) => {
  const { id: siteId, views } = await openSite(t, 'restored.example')
  const file = umamiFile('restored.csv', ['2025-03-01 10:00:00', '2025-03-02 10:00:00'])
  const { id } = await installation.json('import', 'restored.example', file)
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  await clickhouse.command('CREATE TABLE kept ENGINE = Memory AS SELECT * FROM events')
  await installation.json('import', 'undo', 'restored.example', id)
  await clickhouse.run(sql`INSERT INTO events SELECT * FROM kept WHERE site_id = ${text(siteId)}`)
  await clickhouse.command('DROP TABLE kept')
  await clickhouse.close()
  assert.equal((await installation.json('import', 'restored.example', file)).imported, 'whole')
  assert.deepEqual(await views(), { '2025-03-01': 1, '2025-03-02': 1 })
})

test('what cannot be undone is refused with its reason, and stays', async (t) => {
  const { views } = await openSite(t, 'kept.example')
  const { id } = await installation.json('import', 'kept.example', umamiFile('kept.csv', ['2025-03-01 10:00:00']))
  const undo = (one: string) => installation.json('import', 'undo', 'kept.example', one)
  await assert.rejects(undo('00000000-0000-0000-0000-000000000000'), /has no import 00000000/)
  await assert.rejects(undo('nonsense'), /has no import nonsense/)
  await installation.json('site', 'create', 'other.example')
  await assert.rejects(installation.json('import', 'undo', 'other.example', id), /has no import/)
  await postgres`UPDATE imports SET started_at = now() - interval '31 days' WHERE id = ${id}`
  await assert.rejects(undo(id), /more than 30 days ago/)
  await postgres`UPDATE imports SET started_at = now() WHERE id = ${id}`
  await postgres`UPDATE retention SET events_from = '2025-04-01'`
  await assert.rejects(undo(id), /dropped by RETENTION_MONTHS/)
  await postgres`UPDATE retention SET events_from = '1970-01-01'`
  assert.deepEqual(await views(), { '2025-03-01': 1 })
})

test('several files are one import in any order, and none of them is imported twice', async (t) => {
  const { views } = await openSite(t, 'several.example')
  const one = umamiFile('one.csv', ['2025-03-02 10:00:00', '2025-03-01 10:00:00'])
  const other = umamiFile('other.csv', ['2025-03-01 11:00:00', '2025-03-03 10:00:00'])
  const run = (...files: string[]) => installation.json('import', 'several.example', ...files)
  await assert.rejects(run(one, other, one), /has the same content as another/)
  assert.equal((await run(one, other)).imported, 'whole')
  assert.equal((await run(other, one)).imported, 'was')
  await assert.rejects(run(one), /one\.csv is in the import .* already/)
  await assert.rejects(run(other, umamiFile('new.csv', ['2025-03-09 10:00:00'])), /other\.csv is in the import/)
  assert.deepEqual(await views(), { '2025-03-01': 2, '2025-03-02': 1, '2025-03-03': 1 })
})

test('a file of another product ends the day before the tracker began, unless somebody names a day; a preview writes nothing', async (t) => {
  const { id, views } = await openSite(t, 'tracked.example')
  await recordLive(id, '2025-03-03')
  const times = ['2025-03-01', '2025-03-02', '2025-03-03', '2025-03-04'].map((day) => `${day} 10:00:00`)
  const file = umamiFile('tracked.csv', times)
  const preview = await installation.json('import', 'tracked.example', file, '--preview')
  assert.deepEqual(
    [preview.kind, preview.events, preview.days],
    ['umami', 2, { first: '2025-03-01', last: '2025-03-02' }],
  )
  assert.deepEqual(preview.leftOut, { 'days after 2025-03-02': 2 })
  assert.deepEqual(await views(), { '2025-03-03': 1 })
  assert.deepEqual(await installation.json('import', 'list', 'tracked.example'), [])
  const first = await installation.json('import', 'tracked.example', file)
  assert.deepEqual(await views(), { '2025-03-01': 1, '2025-03-02': 1, '2025-03-03': 1 })
  await installation.json('import', 'undo', 'tracked.example', first.id)
  await installation.json('import', 'tracked.example', file, '--until', '2025-03-03')
  assert.deepEqual(await views(), { '2025-03-01': 1, '2025-03-02': 1, '2025-03-03': 2 })
  await assert.rejects(installation.json('import', 'tracked.example', file, '--until', 'soon'), /soon is not a day/)
})
