import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checksumsPath, migrationFaults } from './migrations.ts'
import { read, readAll, tree } from './tree.ts'

test('no migration that has landed was edited or removed, and every new one is written down', () => {
  const files = new Map([...readAll()].filter(([path]) => /^migrations\/\w+\/\d/.test(path)))
  assert.ok(files.size >= 2)
  assert.deepEqual(migrationFaults(files, read(checksumsPath)), [])
})

test('a migration that was edited, removed or not written down is found, with what to do', () => {
  // printf 'CREATE TABLE a;' | sha256sum
  const sums = [
    '758c379cb82b3ab99156d1ac177bba218413f86302ed93d0019a7aeb5c5c5e7c  postgres/0001_a.sql',
    '0000000000000000000000000000000000000000000000000000000000000000  postgres/0002_b.sql',
    '0000000000000000000000000000000000000000000000000000000000000000  clickhouse/0001_c.sql',
  ].join('\n')
  const path = (name: string) => `migrations/${name}`
  const files = tree({
    [path('postgres/0001_a.sql')]: 'CREATE TABLE a;',
    [path('postgres/0002_b.sql')]: 'CREATE TABLE b;',
    [path('postgres/0003_d.sql')]: 'CREATE TABLE d;',
  })
  const restore = (name: string) =>
    `Restore it (git checkout main -- ${path(name)}) and write the change as a new file with the next number.`
  assert.deepEqual(migrationFaults(files, sums), [
    `${path('clickhouse/0001_c.sql')} has landed and is gone. ${restore('clickhouse/0001_c.sql')}`,
    `${path('postgres/0002_b.sql')} has landed and was edited: databases that have it would refuse it. ${restore('postgres/0002_b.sql')}`,
    `${path('postgres/0003_d.sql')} is new. When it is ready: (cd migrations && sha256sum postgres/0003_d.sql >> SHA256SUMS); then never edit it.`,
  ])
})
