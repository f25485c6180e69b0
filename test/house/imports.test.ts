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
  ['importing', ['stores', 'traffic']],
  ['cli', ['stores', 'accounts', 'api', 'collector', 'config']],
])

test('src has only the imports that the table in ARCHITECTURE.md allows, without cycles', () => {
  assert.deepEqual(importFaults(readTree('src'), importTable(read('ARCHITECTURE.md'))), [])
})

test('the table in ARCHITECTURE.md follows the house rules', () => {
  assert.deepEqual(tableFaults(importTable(read('ARCHITECTURE.md'))), [])
})

test('no barrels, no meaningless names, no long files, and only the mains read the environment', () => {
  assert.deepEqual(fileFaults(readTree('src', 'dev')), [])
  assert.deepEqual(
    dataTables.filter((path) => !readTree('src').has(path)),
    [],
  )
})

test('an import that the table allows is accepted', () => {
  const allowed = tree({
    'src/errors.ts': '',
    'src/hostnames.ts': "import { domainToASCII } from 'node:url'",
    'src/config.ts': "import type { Secrets } from './accounts/keys.ts'\nimport { isSiteHost } from './hostnames.ts'",
    'src/stores/clickhouse.ts': "import { createClient } from '@clickhouse/client'\nimport { sql } from './sql.ts'",
    'src/stores/sql.ts': "import { isSiteHost } from '../hostnames.ts'",
    'src/accounts/keys.ts':
      "import {\n  type A,\n  a,\n} from '../stores/sql.ts'\nimport { ApiError } from '../errors.ts'",
    'src/api/app.ts': "import type { Config } from '../config.ts'\nimport { find } from '../accounts/keys.ts'",
    'src/api/main.ts': "import { readConfig } from '../config.ts'\nimport { buildApp } from './app.ts'",
    'src/cli/serve.ts': "import { buildApp } from '../api/app.ts'\nimport { readConfig } from '../config.ts'",
    'src/collector/intake/hit.ts': '',
    'src/collector/http/app.ts': "import { a } from '../intake/hit.ts'\nimport { b } from './limits.ts'",
    'src/collector/http/limits.ts': "import { a } from '../intake/hit.ts'",
  })
  assert.deepEqual(importFaults(allowed, table), [])
})

test('every forbidden import is found in any syntax', () => {
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
      'src/importing/hit.ts',
      "import { a } from '../collector/http/app.ts'",
      'src/importing/hit.ts must not import src/collector/http/app.ts',
    ],
    [
      'src/collector/intake/bots.ts',
      "import { a } from '../http/limits.ts'",
      'cycle: src/collector/http > src/collector/intake > src/collector/http',
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
    ['src/hostnames.ts', "import { a } from './stores/sql.ts'", 'src/hostnames.ts must not import src/stores/sql.ts'],
    ['src/cellar/wine.ts', '', 'src/cellar/wine.ts is in no module of the table'],
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
    'src/collector/http/limits.ts': '',
    'src/collector/http/app.ts': "import { a } from '../intake/hit.ts'",
    'src/collector/intake/hit.ts': '',
  }
  assert.deepEqual(importFaults(tree(sound), table), [])
  for (const [path, text, fault] of planted) {
    assert.deepEqual(importFaults(tree({ ...sound, [path]: text }), table), [fault], `${path}: ${text}`)
  }
})

test('a table that allows a forbidden import is found', () => {
  const forbidden: [module: string, other: string][] = [
    ['stores', 'errors'],
    ['stats', 'accounts'],
    ['stats', 'config'],
    ['accounts', 'api'],
    ['api', 'collector'],
    ['importing', 'collector'],
  ]
  assert.deepEqual(tableFaults(table), [])
  for (const [module, other] of forbidden) {
    const changed = new Map(table).set(module, [other] as never[])
    assert.ok(tableFaults(changed).includes(`the table must not let ${module} import ${other}`), `${module} > ${other}`)
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

test('each kind of forbidden file is found', () => {
  const planted: [path: string, text: string, fault: RegExp][] = [
    ['src/stats/helpers.ts', 'export const a = 1', /says nothing: helpers\.ts/],
    ['src/lib/a.ts', 'export const a = 1', /says nothing: lib/],
    ['dev/utils/a.ts', 'export const a = 1', /says nothing: utils/],
    ['src/stats/types.test.ts', 'export const a = 1', /says nothing/],
    ['src/stats/index.ts', "// all of it\nexport * from './a.ts'\nexport { b } from './b.ts'\n", /barrel/],
    ['src/stats/index.ts', "import { b } from './b.ts'\nexport { b }\n", /barrel/],
    ['src/stats/long.ts', 'const a = 1\n'.repeat(301), /has 301 lines/],
    ['src/calendar/periods.ts', 'const zone = process.env.TZ', /reads the environment/],
    ['src/calendar/periods.ts', 'const { TZ } = process.env', /reads the environment/],
    ['src/calendar/periods.ts', "import { env } from 'node:process'\nconst a = env.TZ", /reads the environment/],
  ]
  for (const [path, text, fault] of planted) {
    const [found, ...more] = fileFaults(tree({ [path]: text }))
    assert.match(found ?? 'nothing was found', fault, `${path}: ${text.slice(0, 50)}`)
    assert.deepEqual(more, [])
  }
  const sound = tree({
    'src/api/main.ts': 'readConfig(process.env)',
    'src/stats/reports.ts': "import { a } from './reports/a.ts'\nexport const reports = { a } as const\n",
    'src/calendar/periods.ts': '// never process.env\nexport type A = 1\n'.repeat(150),
    'dev/run.ts': 'const all = process.env',
  })
  assert.deepEqual(fileFaults(sound), [])
})
