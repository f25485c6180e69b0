import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { deletedAmong } from '../../src/accounts/sites.ts'
import { reports } from '../../src/stats/reports.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { startApiProcess } from '../support/api-process.ts'
import { type Installation, install } from './installation.ts'

// A million with FOOTFALL_FULL=1 (npm run check:restore); a tenth of it in every run.
const events = process.env.FOOTFALL_FULL ? 1_000_000 : 100_000

test(`backup, new databases, restore: every answer about ${events.toLocaleString('en')} events is equal`, async (t) => {
  const old = await install()
  t.after(() => old.remove())
  await old.json('site', 'create', 'kept.example', '--timezone', 'Europe/Berlin', '--exclude-countries', 'FR')
  await old.json('demo', 'kept.example', '--events', String(events))
  const file = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'visits.csv')
  t.after(() => rmSync(file, { force: true }))
  writeFileSync(file, 'time,url,visitor\n2026-03-01T10:00:00Z,https://kept.example/imported,v1\n')
  assert.equal((await old.json('import', 'kept.example', file)).imported, 'whole')
  const { id: deleted } = await old.json('site', 'create', 'deleted.example')
  await old.json('site', 'delete', 'deleted.example', '--yes')
  const { key } = await old.json('key', 'create', 'kept.example')
  const { key: refused } = await old.json('key', 'create', 'kept.example', '--expires', '2020-01-01')
  const before = await answers(old, key, refused)
  const overview = before['overview?range=custom&start=2025-11-15&end=2026-11-13'] as { current: { pageviews: number } }
  assert.ok(overview.current.pageviews > events / 3)

  const folder = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'backup')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await old.json('backup', folder)
  assert.match((await old.footfall('backup', folder)).stderr, /is there already/)
  assert.match((await old.footfall('restore', folder)).stderr, /not empty/)

  const fresh = await install()
  t.after(() => fresh.remove())
  await fresh.json('restore', folder)
  assert.deepEqual(await answers(fresh, key, refused), before)
  // What was deleted stays deleted: its events may still come out of a spool.
  const postgres = openPostgres(fresh.addresses.postgres, 1)
  t.after(() => postgres.end())
  assert.deepEqual(await deletedAmong(postgres, [deleted]), [deleted])
  // What was imported stays imported.
  assert.equal((await fresh.json('import', 'kept.example', file)).imported, 'was')
})

test('what is no finished backup, or a damaged one, is refused', async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  await installation.json('site', 'create', 'damaged.example')
  const folder = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'backup')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  assert.match((await installation.footfall('restore', folder)).stderr, /not a finished backup/)
  await installation.json('backup', folder)
  const fresh = await install()
  t.after(() => fresh.remove())
  writeFileSync(join(folder, 'events.native.gz'), 'damaged')
  assert.equal((await fresh.footfall('restore', folder)).code, 1)
})

/** The data of every report about whole days, through the API; and what an expired key is told. */
async function answers(installation: Installation, key: string, refused: string): Promise<Record<string, unknown>> {
  const api = await startApiProcess(installation.addresses)
  try {
    const found: Record<string, unknown> = { refused: (await ask(api.url, 'overview', refused)).error?.code }
    for (const name of Object.keys(reports)) {
      for (const query of ['start=2025-11-15&end=2026-11-13', 'start=2026-01-01&end=2026-06-30&country=DE']) {
        const path = `${name}?range=custom&${query}`
        const { data, error } = await ask(api.url, path, key)
        assert.equal(error, undefined, path)
        found[path] = data
      }
    }
    return found
  } finally {
    await api.stop()
  }
}

/** As a client should: after a 500, once more. */
async function ask(url: string, path: string, key: string): Promise<{ data?: unknown; error?: { code: string } }> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${url}/api/v1/stats/${path}`, { headers: { Authorization: `Bearer ${key}` } })
    if (response.status !== 500 || attempt === 5) return (await response.json()) as { data?: unknown }
    await sleep(Number(response.headers.get('retry-after')) * 1000)
  }
}
