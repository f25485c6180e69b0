// An import into a shard with two replicas, of which one may be away or lose its disk (decisions D-202 and D-207).
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { csv } from '../../src/importing/formats/own.ts'
import { importFiles } from '../../src/importing/job.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { withReplica, withReplicaAway } from '../support/second-replica.ts'
import { openWorld } from '../support/world.ts'

const now = '2026-03-15T12:00:00Z'

test('a batch is imported when two replicas have it, also if the only disk with it was lost', async (t) => {
  const { stores, siteId } = await openWorld(t, { now })
  const { postgres, clickhouse } = stores
  const folder = mkdtempSync(join(tmpdir(), 'footfall-import-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const site = (await findSite(postgres, siteId)) as Site
  const path = join(folder, 'file.csv')
  writeFileSync(path, `time,url,visitor\n2026-03-01T10:00:00Z,https://${site.domain}/,v1\n`)
  const context = {
    postgres,
    site,
    countries: { countryOf: () => 'ZZ' as const },
    now: Date.parse(now),
    onProgress() {},
  }
  const bring = (shard: ClickHouse) =>
    importFiles([{ path, name: 'visits.csv', format: csv }], { ...context, clickhouse: shard })
  const stored = async () =>
    (await clickhouse.rowsPatiently(sql`SELECT event_id FROM events WHERE site_id = ${text(siteId)}`)).length

  for (const _ of ['the batch is new', 'the batch is on one replica']) {
    await assert.rejects(bring(withReplicaAway(clickhouse)), /Only one replica of ClickHouse answers/)
    assert.equal(await stored(), 1)
  }
  await clickhouse.run(sql`DELETE FROM events WHERE site_id = ${text(siteId)}`)
  await bring(withReplica(clickhouse))
  assert.equal(await stored(), 1)
})
