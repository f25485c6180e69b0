import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAlert } from '../../src/alerts/alerts.ts'
import { listDeletedSites } from '../../src/erasure/deleted-sites.ts'
import { reports } from '../../src/stats/reports.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { inTransaction, openPostgres } from '../../src/stores/postgres.ts'
import { queueWebhooks } from '../../src/webhooks/deliveries.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { startApiProcess } from '../support/api-process.ts'
import { type Installation, install } from '../support/installation.ts'
import { keySecrets } from '../support/stores.ts'

// A million with FOOTFALL_FULL=1 (npm run check:restore); fewer in every other run.
const events = process.env.FOOTFALL_FULL ? 1_000_000 : 10_000

/** Demo traffic ends now, and every day of this range is over in every zone. */
const dayAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
const lastYear = `start=${dayAgo(366)}&end=${dayAgo(3)}`

test(`backup, new databases, restore: every response about ${events.toLocaleString('en')} events is equal`, {
  timeout: 1_800_000,
}, async (t) => {
  const old = await install()
  t.after(() => old.remove())
  await old.json('site', 'create', 'kept.example', '--timezone', 'Europe/Berlin', '--exclude-countries', 'FR')
  await old.json('goal', 'create', 'kept.example', 'Pro plan', '--event', 'Signup', '--property', 'plan=pro')
  await old.json('goal', 'create', 'kept.example', 'Blog', '--path', '/blog/**')
  await old.json('demo', 'kept.example', '--events', String(events))
  const file = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'visits.jsonl')
  t.after(() => rmSync(file, { force: true }))
  const imported = { url: 'https://kept.example/imported', visitor: 'v1', utm_content: 'hero', utm_term: 'shoes' }
  const details = { props: { plan: 'pro' }, revenue: '19.90', currency: 'EUR', browser: 'Firefox', os: 'Android' }
  writeFileSync(file, JSON.stringify({ time: '2026-03-01T10:00:00Z', ...imported, ...details }))
  assert.equal((await old.json('import', 'kept.example', file)).imported, 'whole')
  const { id: deleted } = await old.json('site', 'create', 'deleted.example')
  await old.json('site', 'delete', 'deleted.example', '--yes')
  const { key } = await old.json('key', 'create', 'kept.example')
  const { id: expired, key: refused } = await old.json('key', 'create', 'kept.example')
  await old.json('key', 'expire', expired, '2020-01-01')
  const before = await answers(old, key, refused)
  const stored = await eventsOf(old)
  for (const [column, count] of Object.entries(stored.values)) assert.ok(count > 1, column)
  const overview = before[`overview?range=custom&${lastYear}`] as { current: { pageviews: number } }
  assert.ok(overview.current.pageviews > events / 3)

  const { webhooks, alerts } = await addWebhook(old)

  const folder = join(mkdtempSync(join(tmpdir(), 'footfall-backup-')), 'backup')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await old.json('backup', folder)
  assert.match((await old.footfall('backup', folder)).stderr, /already exists/)
  assert.match((await old.footfall('restore', folder)).stderr, /not empty/)

  // As an older version would have written it: without a column that was added later.
  const sites = join(folder, 'sites.jsonl')
  writeFileSync(sites, readFileSync(sites, 'utf8').replaceAll(/, "allow_subdomains": false/g, ''))

  const fresh = await install()
  t.after(() => fresh.remove())
  await fresh.json('restore', folder)
  assert.deepEqual(await answers(fresh, key, refused), before)
  assert.deepEqual(await eventsOf(fresh), stored)
  assert.equal((await fresh.json('site', 'show', 'kept.example')).allowSubdomains, false)
  assert.deepEqual(await fresh.json('goal', 'list', 'kept.example'), [
    { name: 'Blog', condition: { kind: 'path', pattern: '/blog/**' } },
    { name: 'Pro plan', condition: { kind: 'event', event: 'Signup', property: { key: 'plan', value: 'pro' } } },
  ])
  // Deleted sites stay deleted: their events may still come out of a spool.
  const postgres = openPostgres(fresh.addresses.postgres, 1)
  t.after(() => postgres.end())
  assert.deepEqual(
    (await listDeletedSites(postgres)).map(({ id }) => id),
    [deleted],
  )
  // A webhook keeps its secret, and none of its messages is sent a second time.
  assert.deepEqual([...(await postgres`SELECT * FROM webhooks`)], webhooks)
  assert.deepEqual([...(await postgres`SELECT id FROM webhook_deliveries`)], [])
  // An alert that was told goes on where it was.
  assert.deepEqual([...(await postgres`SELECT * FROM alerts`)], alerts)
  // An imported file stays imported.
  assert.equal((await fresh.json('import', 'kept.example', file)).imported, 'was')
})

/** A webhook of kept.example with a message that waits, and an alert that is on. Returns their rows. */
async function addWebhook({ addresses }: Installation) {
  const postgres = openPostgres(addresses.postgres, 1)
  const webhook = { url: 'https://hooks.example/', createdBy: 'maria@example.com', nonce: 'the only one' }
  const message = { type: 'alert.began', data: {} }
  await inTransaction(postgres, async (transaction) => {
    const [site] = await transaction<{ id: string }[]>`SELECT id FROM sites WHERE domain = 'kept.example'`
    const siteId = site?.id as string
    await createWebhook(transaction, keySecrets, { ...webhook, siteId })
    await queueWebhooks(transaction, { ...message, siteId })
    const condition = { kind: 'missing', threshold: 24, minUsual: 10, event: 'Signup' } as const
    const settings = { condition, mailTo: 'members', toWebhooks: true, quiet: { from: 22, until: 7 } } as const
    await createAlert(transaction, { ...settings, siteId, createdBy: 'maria@example.com', nonce: 'the only one' })
    await transaction`UPDATE alerts SET is_on = true, is_told = true, began_at = now(), began_with = '{"since": 1, "usual": 12}'`
  })
  const webhooks = [...(await postgres`SELECT * FROM webhooks`)]
  const alerts = [...(await postgres`SELECT * FROM alerts`)]
  await postgres.end()
  assert.deepEqual([webhooks.length, alerts.length], [1, 1])
  return { webhooks, alerts }
}

test('rollups of deleted events are backed up and restored; commands skip those days and say so', {
  timeout: 600_000,
}, async (t) => {
  const old = await install({ RETENTION_MONTHS: '25' })
  t.after(() => old.remove())
  await old.json('site', 'create', 'old.example')
  const { key } = await old.json('key', 'create', 'old.example')
  const folder = mkdtempSync(join(tmpdir(), 'footfall-backup-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const visits = (name: string, ...times: string[]) => {
    const lines = times.map((time) => `${time},https://old.example/${name},v1`)
    writeFileSync(join(folder, name), ['time,url,visitor', ...lines, ''].join('\n'))
    return join(folder, name)
  }
  const recently = new Date(Date.now() - 40 * 86_400_000).toISOString()
  await old.json('import', 'old.example', visits('first.csv', '2024-03-01T10:00:00Z', '2024-03-02T10:00:00Z', recently))
  await old.json('site', 'create', 'gone.example')
  await old.json('import', 'gone.example', visits('gone.csv', '2024-03-01T10:00:00Z'))
  assert.deepEqual((await old.json('rollup', 'run')).dropped, [])
  const postgres = openPostgres(old.addresses.postgres, 1)
  t.after(() => postgres.end({ timeout: 1 }))
  await postgres`UPDATE retention SET rolled_up_at = now() - interval '20 minutes'`
  assert.deepEqual((await old.json('rollup', 'run')).dropped, ['202403'])

  const [kept] = await postgres`SELECT events_from::text FROM retention`
  const said = `Events are kept from ${kept?.events_from} on`
  for (const command of ['status', 'rebuild'])
    assert.match((await old.footfall('rollup', command)).stdout, RegExp(said))
  assert.match(
    (await old.footfall('rollup', 'verify')).stdout,
    /old\.example +\d+ +[\d,]+ +none +none\n\n.* not counted again/,
  )
  const late = visits('late.csv', '2024-03-02T12:00:00Z', recently)
  const imported = await old.footfall('import', 'old.example', late)
  assert.match(
    imported.stdout,
    /Imported 1 events on 1 days into .*\.\nLeft out:\n +1 events that are too old for RETENTION_MONTHS/,
  )
  assert.match((await old.footfall('demo', 'gone.example')).stderr, /already has traffic/)

  await old.json('backup', join(folder, 'backup'))
  const fresh = await install()
  t.after(() => fresh.remove())
  await fresh.json('restore', join(folder, 'backup'))
  for (const installation of [old, fresh]) {
    const api = await startApiProcess(installation.addresses)
    t.after(() => api.stop())
    const pages = async (start: string, end: string) =>
      (await ask(api.url, `pages?range=custom&start=${start}&end=${end}`, key)).data
    const page = (name: string, views: number) => ({ pathname: `/${name}`, title: '', views, visitors: views })
    assert.deepEqual(await pages('2024-01-01', '2024-12-31'), [page('first.csv', 2)])
    assert.deepEqual(await pages('2024-03-02', '2030-12-31'), [page('first.csv', 2), page('late.csv', 1)])
  }
  // Still nothing is written for those days.
  assert.equal((await fresh.json('import', 'old.example', visits('later.csv', '2024-03-02T13:00:00Z'))).tooOld, 1)
})

test('an unfinished or damaged backup is refused', async (t) => {
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

/** A sum over all columns of events, and how many values each has. */
async function eventsOf({ addresses }: Installation): Promise<{ sum: string; values: Record<string, number> }> {
  const clickhouse = openClickHouse(addresses.clickhouse)
  const [row] = await clickhouse
    .rows<{ sum: string }>(
      sql`SELECT toString(sum(cityHash64(*))) AS sum, * EXCEPT (site_id) APPLY (uniqExact) FROM events`,
    )
    .finally(() => clickhouse.close())
  const { sum, ...values } = row as { sum: string } & Record<string, number>
  return { sum, values }
}

/** The data of every report for whole days, through the API, and the error for an expired key. */
async function answers(installation: Installation, key: string, refused: string): Promise<Record<string, unknown>> {
  const api = await startApiProcess(installation.addresses)
  try {
    const found: Record<string, unknown> = { refused: (await ask(api.url, 'overview', refused)).error?.code }
    for (const name of Object.keys(reports)) {
      for (const query of [lastYear, `${lastYear}&country=DE`]) {
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

/** Retries once after a 500, as a client should. */
async function ask(url: string, path: string, key: string): Promise<{ data?: unknown; error?: { code: string } }> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${url}/api/v1/stats/${path}`, { headers: { Authorization: `Bearer ${key}` } })
    if (response.status !== 500 || attempt === 5) return (await response.json()) as { data?: unknown }
    await sleep(Number(response.headers.get('retry-after')) * 1000)
  }
}
