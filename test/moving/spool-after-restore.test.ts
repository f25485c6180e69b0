// A collector keeps its spool while the databases are restored from a backup that is older than a move.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { startCollectorProcess } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { freshShards, type Shards } from '../support/fresh-shards.ts'
import { runFootfall } from '../support/installation.ts'
import { keySecretsSetting } from '../support/serve-process.ts'

async function open(t: TestContext, spoolFolder: string) {
  const shards = await freshShards(2, (end) => t.after(end))
  return {
    ...shards,
    async footfall(...words: string[]) {
      const environment = { PATH: process.env.PATH ?? '', KEY_SECRETS: keySecretsSetting, ...shards.settings }
      const { code, stderr } = await runFootfall(words, environment)
      assert.equal(code, 0, stderr)
    },
    async startCollector() {
      const environment = { ...shards.settings, CLICKHOUSE_URL: '' }
      const collector = await startCollectorProcess({ postgres: '', clickhouse: '' }, { spoolFolder, environment })
      t.after(() => collector.kill())
      return collector
    },
  }
}

type Collector = Awaited<ReturnType<typeof startCollectorProcess>>

async function send(collector: Collector, hits: number): Promise<void> {
  for (let nth = 0; nth < hits; nth++) {
    const { status } = await collector.post({ name: 'pageview', url: 'https://a.example/', domain: 'a.example' })
    assert.equal(status, 202)
  }
}

const eventsOf = ({ cluster }: Shards) =>
  Promise.all(
    cluster.shards.map(async (clickhouse: ClickHouse) => {
      const [row] = await clickhouse.rowsPatiently<{ events: number }>(sql`SELECT count() AS events FROM events`)
      return row?.events
    }),
  )

const arrive = (shards: Shards, expected: number[]) =>
  eventually(async () => assert.deepEqual(await eventsOf(shards), expected))

/** The shipper notes what ClickHouse has a moment later. Killed before that, it would rightly ship it once more. */
const noted = (collector: Collector, events: number) =>
  eventually(async () => assert.equal(await collector.metric('footfall_events_shipped_total'), events))

test('events of a spool go where their sites are in the restored installation', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-restored-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const spool = join(folder, 'spool')
  const old = await open(t, spool)
  const accountId = await createAccount(old.postgres, { name: 'A test', plan: 'Agency' })
  const id = await createSite(old.postgres, { accountId, domain: 'a.example' })
  await old.postgres`UPDATE sites SET shard = 1 WHERE id = ${id}`
  const first = await old.startCollector()
  await send(first, 5)
  await arrive(old, [5, 0])
  await old.footfall('backup', join(folder, 'backup'))
  await old.footfall('site', 'move', 'a.example', '2')
  await send(first, 3)
  await arrive(old, [5, 8])
  await noted(first, 8)
  // Two events are still in the spool when everything is lost.
  process.kill(first.shipperPid() as number, 'SIGSTOP')
  await send(first, 2)
  process.kill(first.shipperPid() as number, 'SIGKILL')
  await first.kill()

  const restored = await open(t, spool)
  await restored.footfall('restore', join(folder, 'backup'))
  const second = await restored.startCollector()
  await send(second, 4)
  await arrive(restored, [5 + 2 + 4, 0])
  await second.stop()
})

test('events of a spool go where their sites are when both databases are restored to the same earlier moment', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-restored-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const installation = await open(t, join(folder, 'spool'))
  const { postgres } = installation
  const accountId = await createAccount(postgres, { name: 'A test', plan: 'Agency' })
  const id = await createSite(postgres, { accountId, domain: 'a.example' })
  await postgres`UPDATE sites SET shard = 1 WHERE id = ${id}`
  const collector = await installation.startCollector()
  await send(collector, 1)
  await arrive(installation, [1, 0])
  const moveAway = async () => {
    await postgres`DELETE FROM site_moves`
    await installation.footfall('site', 'move', 'a.example', '2')
    await send(collector, 1)
  }
  /** As after pg_restore of a dump from before the move: the same installation and epoch, and no word of the move. */
  const restore = async () => {
    await postgres`DELETE FROM site_moves`
    await postgres`DELETE FROM deleted_sites`
    await postgres`UPDATE sites SET shard = 1 WHERE id = ${id}`
  }
  const oldShipper = collector.shipperPid() as number

  await moveAway()
  await arrive(installation, [1, 2])
  await noted(collector, 2)
  process.kill(oldShipper, 'SIGSTOP')
  await send(collector, 2) // they wait for shard 2
  await restore()
  process.kill(oldShipper, 'SIGKILL')
  await arrive(installation, [1 + 2, 2])
  await send(collector, 1)
  await arrive(installation, [3 + 1, 2])
  await collector.stop()
})

test('a hold that a restored PostgreSQL does not know ends, and its number does not count for another site', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-restored-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const installation = await open(t, join(folder, 'spool'))
  const { postgres } = installation
  const accountId = await createAccount(postgres, { name: 'A test', plan: 'Agency' })
  const ids = await Promise.all(['a.example', 'b.example'].map((domain) => createSite(postgres, { accountId, domain })))
  await postgres`UPDATE sites SET shard = 1`
  const collector = await installation.startCollector()
  await send(collector, 1)
  await arrive(installation, [1, 0])

  const holdOf = async (siteId: string, hold: string) => {
    await postgres`
      INSERT INTO leases (name, holder, expires_at)
      VALUES (${`move ${siteId}`}, gen_random_uuid(), now() + interval '1 hour')`
    await postgres`
      INSERT INTO site_moves (site_id, from_shard, to_shard, hold) VALUES (${siteId}, 1, 2, ${hold}::text::bigint)`
  }
  const confirmed = async () =>
    (await postgres`SELECT holds::text[] AS holds FROM collectors`).map(({ holds }) => holds)
  const [first, second] = ids as [string, string]
  await holdOf(first, '7')
  await eventually(async () => assert.deepEqual(await confirmed(), [['7']]))
  await send(collector, 2)
  // As a database that was copied before the move: it does not know it, and counts its holds from there again.
  await postgres`DELETE FROM site_moves`
  await arrive(installation, [3, 0])
  await eventually(async () => assert.deepEqual(await confirmed(), [[]]))
  await holdOf(second, '7')
  await eventually(async () => assert.deepEqual(await confirmed(), [['7']]))
  await send(collector, 1)
  await arrive(installation, [4, 0])
  await collector.stop()
})
