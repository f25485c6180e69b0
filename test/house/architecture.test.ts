import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { architectureFaults, importTable } from './architecture.ts'
import { foldersUnder, read, root } from './tree.ts'

const page = read('ARCHITECTURE.md')

test('ARCHITECTURE.md names every folder of src and dev, and every path it names exists', () => {
  const exists = (path: string) => existsSync(new URL(path, root))
  assert.deepEqual(architectureFaults(page, { folders: foldersUnder('src', 'dev'), exists }), [])
})

test('a folder missing from the page, a module without a folder and a deleted path are each found', () => {
  const faults = architectureFaults(
    [
      '| module | may import | holds |',
      '|---|---|---|',
      '| `stores` | | talks to `GET /not/a/path` |',
      '| `cellar` | stores, errors | nothing |',
      '',
      '`dev/clickhouse` and `stats/gone.ts`',
    ].join('\n'),
    {
      folders: ['src/stores', 'src/stats', 'src/stats/reports', 'dev/clickhouse'],
      exists: (path) => path === 'dev/clickhouse',
    },
  )
  assert.deepEqual(faults, [
    'src/stats/reports is not named',
    'module cellar does not exist',
    'stats/gone.ts does not exist',
  ])
})

test('a page without the import table is refused', () => {
  assert.throws(() => importTable('| module | holds |\n|---|---|\n'), /no table/)
  assert.ok(importTable(page).size > 0)
})
