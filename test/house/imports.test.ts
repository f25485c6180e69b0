import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importTable } from './architecture.ts'
import { dataTables, fileFaults, importFaults, tableFaults } from './import-rules.ts'
import { read, readTree, tree } from './tree.ts'

const table = new Map([
  ['stores', []],
  ['traffic', ['stores', 'errors']],
  ['accounts', ['stores', 'errors', 'traffic']],
  ['stats', ['stores', 'errors', 'traffic']],
  ['api', ['stores', 'errors', 'traffic', 'accounts', 'stats', 'config']],
  ['collector', ['stores', 'errors', 'traffic', 'config']],
  ['cli', ['stores', 'accounts', 'api', 'collector', 'config']],
])

test('src imports only what the table of ARCHITECTURE.md allows, without cycles', () => {
  assert.deepEqual(importFaults(readTree('src'), importTable(read('ARCHITECTURE.md'))), [])
})

test('the table of ARCHITECTURE.md keeps the house rules', () => {
  assert.deepEqual(tableFaults(importTable(read('ARCHITECTURE.md'))), [])
})

test('no barrels, no names that say nothing, no long files, the environment read only by the mains', () => {
  assert.deepEqual(fileFaults(readTree('src', 'dev')), [])
  assert.deepEqual(
    dataTables.filter((path) => !readTree('src').has(path)),
    [],
  )
})

test('what the table allows is allowed', () => {
  const allowed = tree({
    'src/errors.ts': '',
    'src/config.ts': "import type { Secrets } from './accounts/keys.ts'",
    'src/stores/clickhouse.ts': "import { createClient } from '@clickhouse/client'\nimport { sql } from './sql.ts'",
    'src/stores/sql.ts': '',
    'src/accounts/keys.ts':
      "import {\n  type A,\n  a,\n} from '../stores/sql.ts'\nimport { ApiError } from '../errors.ts'",
    'src/api/app.ts': "import type { Config } from '../config.ts'\nimport { find } from '../accounts/keys.ts'",
    'src/api/main.ts': "import { readConfig } from '../config.ts'\nimport { buildApp } from './app.ts'",
    'src/cli/serve.ts': "import { buildApp } from '../api/app.ts'\nimport { readConfig } from '../config.ts'",
  })
  assert.deepEqual(importFaults(allowed, table), [])
})

test('every forbidden import is found, however it is written', () => {
  const planted: [path: string, text: string, fault: string][] = [
    [
      'src/stores/redis.ts',
      "import { ApiError } from '../errors.ts'",
      'src/stores/redis.ts must not import src/errors.ts',
    ],
    [
      'src/stats/query.ts',
      "import type { Site } from '../accounts/sites.ts'",
      'src/stats/query.ts must not import src/accounts/sites.ts',
    ],
    [
      'src/stats/reports/geo.ts',
      "import {\n  a,\n  b,\n} from '../../api/app.ts'",
      'src/stats/reports/geo.ts must not import src/api/app.ts',
    ],
    [
      'src/traffic/event.ts',
      "export { a } from '../accounts/sites.ts'",
      'src/traffic/event.ts must not import src/accounts/sites.ts',
    ],
    [
      'src/traffic/event.ts',
      "export * from '../accounts/sites.ts'",
      'src/traffic/event.ts must not import src/accounts/sites.ts',
    ],
    [
      'src/traffic/event.ts',
      "import '../accounts/sites.ts'",
      'src/traffic/event.ts must not import src/accounts/sites.ts',
    ],
    [
      'src/traffic/event.ts',
      "const a = await import('../accounts/sites.ts')",
      'src/traffic/event.ts must not import src/accounts/sites.ts',
    ],
    ['src/traffic/event.ts', 'const a = await import(name)', 'src/traffic/event.ts has an import that cannot be read'],
    [
      'src/collector/app.ts',
      "import { a } from '../api/app.ts'",
      'src/collector/app.ts must not import src/api/app.ts',
    ],
    [
      'src/api/access.ts',
      "import { readConfig } from '../config.ts'",
      'src/api/access.ts must not import src/config.ts',
    ],
    [
      'src/config.ts',
      "import { secrets } from './accounts/sites.ts'",
      'src/config.ts must not import src/accounts/sites.ts',
    ],
    ['src/errors.ts', "import { a } from './stores/sql.ts'", 'src/errors.ts must not import src/stores/sql.ts'],
    ['src/cellar/wine.ts', '', 'src/cellar/wine.ts is in no room of the table'],
    [
      'src/api/app.ts',
      "import { a } from '../../test/run.ts'",
      'src/api/app.ts imports test/run.ts, which is not in src',
    ],
    ['src/stores/sql.ts', "import { a } from './sql.ts'", 'cycle: src/stores/sql.ts > src/stores/sql.ts'],
    [
      'src/accounts/sites.ts',
      "import type { A } from './keys.ts'",
      'cycle: src/accounts/sites.ts > src/accounts/keys.ts > src/accounts/sites.ts',
    ],
  ]
  const sound = {
    'src/errors.ts': '',
    'src/config.ts': '',
    'src/stores/sql.ts': '',
    'src/accounts/sites.ts': '',
    'src/accounts/keys.ts': "import { a } from './sites.ts'",
    'src/api/app.ts': '',
  }
  assert.deepEqual(importFaults(tree(sound), table), [])
  for (const [path, text, fault] of planted) {
    assert.deepEqual(importFaults(tree({ ...sound, [path]: text }), table), [fault], `${path}: ${text}`)
  }
})

test('a table that would allow what the house forbids is found', () => {
  const forbidden: [room: string, other: string][] = [
    ['stores', 'errors'],
    ['stats', 'accounts'],
    ['stats', 'config'],
    ['accounts', 'api'],
    ['api', 'collector'],
  ]
  assert.deepEqual(tableFaults(table), [])
  for (const [room, other] of forbidden) {
    const changed = new Map(table).set(room, [other] as never[])
    assert.ok(tableFaults(changed).includes(`the table must not let ${room} import ${other}`), `${room} > ${other}`)
  }
  assert.deepEqual(
    tableFaults(
      new Map([
        ['traffic', ['accounts']],
        ['accounts', ['traffic']],
      ]),
    ).length,
    2,
  )
})

test('each kind of file the house does not have is found', () => {
  const planted: [path: string, text: string, fault: RegExp][] = [
    ['src/stats/helpers.ts', 'export const a = 1', /says nothing: helpers\.ts/],
    ['src/lib/a.ts', 'export const a = 1', /says nothing: lib/],
    ['dev/utils/a.ts', 'export const a = 1', /says nothing: utils/],
    ['src/stats/types.test.ts', 'export const a = 1', /says nothing/],
    ['src/stats/index.ts', "// all of it\nexport * from './a.ts'\nexport { b } from './b.ts'\n", /barrel/],
    ['src/stats/index.ts', "import { b } from './b.ts'\nexport { b }\n", /barrel/],
    ['src/stats/long.ts', 'const a = 1\n'.repeat(301), /has 301 lines/],
    ['src/stats/period.ts', 'const zone = process.env.TZ', /reads the environment/],
    ['src/stats/period.ts', 'const { TZ } = process.env', /reads the environment/],
    ['src/stats/period.ts', "import { env } from 'node:process'\nconst a = env.TZ", /reads the environment/],
  ]
  for (const [path, text, fault] of planted) {
    const [found, ...more] = fileFaults(tree({ [path]: text }))
    assert.match(found ?? 'nothing was found', fault, `${path}: ${text.slice(0, 50)}`)
    assert.deepEqual(more, [])
  }
  const sound = tree({
    'src/api/main.ts': 'readConfig(process.env)',
    'src/stats/reports.ts': "import { a } from './reports/a.ts'\nexport const reports = { a } as const\n",
    'src/stats/period.ts': '// never process.env\nexport type A = 1\n'.repeat(150),
    'dev/run.ts': 'const all = process.env',
  })
  assert.deepEqual(fileFaults(sound), [])
})
