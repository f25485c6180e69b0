import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { siteTables, tables } from '../../src/cluster/tables.ts'
import { render } from '../../src/stores/clickhouse-sql.ts'

// What schema.test.ts compares with a migrated database.
const schema = readFileSync(new URL('../../migrations/clickhouse/schema.sql', import.meta.url), 'utf8')
const created = [...schema.matchAll(/^CREATE TABLE (\w+)\n\(([^;]*)/gm)].map(([, name = '', columns = '']) => ({
  name,
  hasSites: columns.includes('`site_id`'),
}))
const namesOf = (some: typeof created) => some.map(({ name }) => name).sort()

test('every table of the schema is in the list', () => {
  assert.deepEqual(Object.keys(tables).sort(), namesOf(created.filter(({ name }) => name !== 'migrations')))
  for (const [name, table] of Object.entries(tables)) assert.equal(render(table).text, name)
})

test('every table with rows of a site is erased with it', () => {
  assert.deepEqual(Object.keys(siteTables).sort(), namesOf(created.filter(({ hasSites }) => hasSites)))
})
