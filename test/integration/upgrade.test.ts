import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { createEmptyStores, keySecrets } from '../support/stores.ts'
import { startApi } from '../support/world.ts'

/** What the first release applied. Landed migrations are never edited, so the first of them are that release's database. */
const firstRelease = [
  'clickhouse/0001_events.sql',
  'clickhouse/0002_titles.sql',
  'postgres/0001_accounts.sql',
  'postgres/0002_changes.sql',
]

test('a database of the first release, with data in it, becomes one of today and answers the same', async (t) => {
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const folder = mkdtempSync(join(tmpdir(), 'footfall-migrations-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of firstRelease) cpSync(new URL(`../../migrations/${file}`, import.meta.url), join(folder, file))
  assert.deepEqual((await migrate(stores, pathToFileURL(`${folder}/`))).sort(), firstRelease)

  const accountId = await createAccount(stores.postgres, { name: 'Old', plan: 'Starter' })
  const siteId = await createSite(stores.postgres, { accountId, domain: 'old.example', excludedCountries: ['FR'] })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Old' })
  const hits = [
    pageview({ at: '2026-11-13T10:00:00Z', pathname: '/a', title: 'A' }),
    pageview({ at: '2026-11-14T10:00:00Z', pathname: '/b', country: 'FR', visitor: 'excluded' }),
  ]
  await recordBatch(stores.clickhouse, {
    id: '00000000-0000-4000-8000-000000000001',
    events: hits.map((hit) => eventOf(hit, siteId, 'UTC')),
  })

  const all = ['clickhouse', 'postgres'].flatMap((database) =>
    readdirSync(new URL(`../../migrations/${database}`, import.meta.url)).map((file) => `${database}/${file}`),
  )
  assert.deepEqual((await migrate(stores)).sort(), all.filter((file) => !firstRelease.includes(file)).sort())
  assert.deepEqual(await migrate(stores), [])

  const api = await startApi(stores, { now: () => Date.parse('2026-11-15T12:00:00Z') })
  t.after(() => api.close())
  const answer = await api.fetch('/api/v1/stats/pages?range=7d', { headers: { Authorization: `Bearer ${key.text}` } })
  assert.deepEqual(answer.json.data, [{ pathname: '/a', title: 'A', views: 1, visitors: 1 }])
})
