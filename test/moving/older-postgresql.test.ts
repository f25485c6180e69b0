// PostgreSQL is restored from a dump (pg_dump) that is older than the last moves, and ClickHouse is not.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createSite } from '../../src/accounts/sites.ts'
import { eraseRows } from '../../src/erasure/job.ts'
import { unknownSites, verifyLedger } from '../../src/rollups/ledger.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { databaseUrl } from '../support/stores.ts'
import { nothing, openMovingSite } from './moving-site.ts'

const run = promisify(execFile)

const days = ['2026-10-31', '2026-11-01', '2026-11-14']

test('a site that has moved since is read where it is, its rows are not taken for an old copy, and a site that is unknown is named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-dump-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { postgres, cluster, source, target, accountId, settings, ...site } = await openMovingSite(t)
  await site.record(days)
  await site.rollUp('2026-11-14')
  assert.equal(await site.move({ shard: 2 }), 'moved')
  await postgres`UPDATE deleted_sites SET erase_after = now()`

  const dump = join(folder, 'postgres.dump')
  await run('pg_dump', ['--format=custom', `--file=${dump}`, settings.DATABASE_URL])
  await eraseRows({ postgres, clickhouse: source })
  await postgres`UPDATE deleted_sites SET erased_at = erased_at - interval '2 minutes'`
  assert.equal(await site.move({ shard: 1 }), 'moved')
  await postgres`UPDATE deleted_sites SET erase_after = now()`
  await eraseRows({ postgres, clickhouse: target })
  assert.deepEqual(await site.rowsOn(target), nothing)
  const later = await createSite(postgres, { accountId, domain: 'later.example' })
  await site.record(days, { of: later })

  const name = new URL(settings.DATABASE_URL).pathname.slice(1)
  const admin = openPostgres(databaseUrl, 1)
  t.after(() => admin.end())
  await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
  await admin.unsafe(`CREATE DATABASE ${name}`)
  await run('pg_restore', [`--dbname=${settings.DATABASE_URL}`, dump])
  assert.equal((await site.site()).shard, 2)
  await eraseRows({ postgres, clickhouse: source })
  assert.equal((await site.rowsOn(source)).events, 9, 'nothing is erased before the two databases were compared')

  assert.equal(await verifyLedger({ postgres, cluster }), 'PostgreSQL')
  assert.equal((await site.site()).shard, 1)
  assert.equal(await site.pageviews(), 9)
  await site.rollUp('2026-11-14')
  for (const clickhouse of cluster.shards) await eraseRows({ postgres, clickhouse })
  assert.equal(await site.pageviews(), 9)
  assert.deepEqual(await unknownSites({ postgres, cluster }), [later])
})
