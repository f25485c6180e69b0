import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { schemaFiles } from '../../dev/docs/schema-files.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { freshEmptyStores } from '../support/fresh-stores.ts'

const open = (t: TestContext) => freshEmptyStores((end) => t.after(end))
const committed = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const paths = ['migrations/postgres/schema.sql', 'migrations/clickhouse/schema.sql'] as const

test('schema.sql of each store is what a migrated database says: else npm run docs', async (t) => {
  const stores = await open(t)
  await migrate(stores)
  const files = await schemaFiles(stores)
  assert.deepEqual(Object.keys(files), paths)
  for (const path of paths) assert.equal(committed(path), files[path], `${path} is out of date: npm run docs`)
})

test('and makes the same schema in empty databases, so nothing is left out', async (t) => {
  const stores = await open(t)
  await stores.postgres.unsafe(committed(paths[0]))
  for (const statement of committed(paths[1]).split(/;$/m).slice(0, -1)) await stores.clickhouse.command(statement)
  const files = await schemaFiles(stores)
  for (const path of paths) assert.equal(committed(path), files[path], path)
})

test('what cannot be written into schema.sql is refused by name', async (t) => {
  const stores = await open(t)
  await stores.postgres`CREATE VIEW seen AS SELECT 1 AS one`
  await assert.rejects(schemaFiles(stores), /does not know yet how to write seen/)
})
