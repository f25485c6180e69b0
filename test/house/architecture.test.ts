import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { architectureFaults, importTable } from './architecture.ts'
import { foldersUnder, read, root } from './tree.ts'

const page = read('ARCHITECTURE.md')

test('ARCHITECTURE.md names every folder of src and dev, and nothing that does not exist', () => {
  const exists = (path: string) => existsSync(new URL(path, root))
  assert.deepEqual(architectureFaults(page, { folders: foldersUnder('src', 'dev'), exists }), [])
})

test('a folder the page forgot, a room without a folder and a path that is gone are each found', () => {
  const faults = architectureFaults(
    [
      '| room | may import | holds |',
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
    'room cellar does not exist',
    'stats/gone.ts does not exist',
  ])
})

test('a page without the import table is refused', () => {
  assert.throws(() => importTable('| room | holds |\n|---|---|\n'), /no table/)
  assert.ok(importTable(page).size > 0)
})
