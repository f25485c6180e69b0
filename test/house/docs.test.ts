import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { refusals } from '../../src/collector/http/refusals.ts'
import { variables } from '../../src/config.ts'
import { errors } from '../../src/errors.ts'
import { dimensions } from '../../src/stats/questions/dimensions.ts'
import { metrics } from '../../src/stats/questions/metrics.ts'
import { dropReasons } from '../../src/traffic/drop-reasons.ts'
import { decisionsIn, indexPath, withdrawnIn } from './decisions.ts'
import { citationFaults, code, linkFaults, placeFaults, rowFaults, tableRows } from './documents.ts'
import { read, readAll, readDocuments, root } from './tree.ts'

test('docs/errors.md lists every error with its status and what to do, and no others', () => {
  const rows = tableRows(read('docs/errors.md'), 'Code', 'Status', 'What to do')
  const real = Object.entries(errors).map(([name, { status, whatToDo }]) => [code(name), String(status), whatToDo])
  assert.deepEqual(rowFaults(rows, real), [])
  for (const [name, , whatToDo] of rows) assert.match(whatToDo ?? '', /^[A-Z].{15,}\.$/, `${name}: what to do`)
})

test('docs/errors.md lists every refusal of the collector and every reason to drop an event, and no others', () => {
  const rows = tableRows(read('docs/errors.md'), 'Refusal', 'Status', 'What to do')
  const real = Object.entries(refusals).map(([name, { status }]) => [code(name), String(status)])
  assert.deepEqual(rowFaults(rows, real), [])
  const reasons = tableRows(read('docs/errors.md'), 'Reason', 'Why an event was not counted')
  const realReasons = dropReasons.map((name) => [code(name)])
  assert.deepEqual(rowFaults(reasons, realReasons), [])
})

test('section 7 of docs/contract.md has the codes and statuses of src/errors.ts', () => {
  const rows = tableRows(read('docs/contract.md'), 'Status', 'Code', 'Condition').map(([status, name]) => [
    name,
    status,
  ])
  const added = [
    ...['not_found', 'method_not_allowed'], // D-58, named below the table
    ...['invalid_filter', 'range_not_kept', 'query_too_expensive', 'too_many_streams'], // of /api/v2
  ]
  const real = Object.entries(errors).filter(([name]) => !added.includes(name))
  assert.deepEqual(
    rowFaults(
      rows as string[][],
      real.map(([name, { status }]) => [code(name), String(status)]),
    ),
    [],
  )
})

test('docs/metrics.md has every dimension and metric with its meaning, and no others', () => {
  assert.deepEqual(
    rowFaults(
      tableRows(read('docs/metrics.md'), 'Dimension', 'Belongs to', 'Meaning'),
      dimensions.map(({ name, of, meaning }) => [code(name), of, meaning]),
    ),
    [],
  )
  assert.deepEqual(
    rowFaults(
      tableRows(read('docs/metrics.md'), 'Metric', 'Unit', 'Meaning'),
      metrics.map(({ name, unit, meaning }) => [code(name), unit, meaning]),
    ),
    [],
  )
})

test('docs/configuration.md lists every variable with its default and meaning, and no others', () => {
  const real = Object.entries<{ description: string; default?: string; optional?: boolean }>(variables)
  const rows = real.map(([name, variable]) => [
    code(name),
    variable.default !== undefined
      ? code(variable.default)
      : variable.optional
        ? 'none, may stay unset'
        : 'none, required',
    variable.description.replaceAll('|', '\\|'),
  ])
  assert.deepEqual(rowFaults(tableRows(read('docs/configuration.md'), 'Variable', 'Default', 'Meaning'), rows), [])
})

test('a row that is missing, extra, repeated or different is found', () => {
  const page =
    '| A | B |\n|---|---|\n| `a` | 1 |\n| `b` | 2 |\n| `c` | 3 |\n| `c` | 3 |\n\n| A | B |\n|---|---|\n| `z` | 1 |'
  const rows = tableRows(page, 'A', 'B')
  assert.deepEqual(rows, [
    ['`a`', '1'],
    ['`b`', '2'],
    ['`c`', '3'],
    ['`c`', '3'],
  ])
  assert.deepEqual(
    rowFaults(rows, [
      ['`b`', '2'],
      ['`c`', '4'],
      ['`d`', '5'],
    ]),
    ['`c` is documented twice', '`a` does not exist', '`d` is not documented', '`c`: "3" should be "4"'],
  )
  assert.deepEqual(tableRows('no table', 'A', 'B'), [])
})

const documents = {
  contract: read('docs/contract.md'),
  decisions: decisionsIn(readDocuments()),
  exists: (path: string) => existsSync(new URL(path, root)),
}

test('every cited decision, section and document exists; only the index names withdrawn decisions', () => {
  const files = [...readAll()].filter(
    ([path]) => path !== 'test/house/docs.test.ts' && path !== 'test/house/decisions.test.ts',
  )
  assert.ok(files.length > 500)
  const withdrawn = withdrawnIn(readDocuments())
  assert.deepEqual(
    files.flatMap(([path, text]) => citationFaults(path, text, documents)),
    withdrawn.map((name) => `${indexPath} cites ${name}, which is written nowhere`),
  )
})

test('a citation of something that does not exist is found, even across lines', () => {
  const text = [
    '// docs/contract.md 4.1, decisions D-9 and D-999; docs/contract.md 2.1 and',
    '// 2.9, docs/contract.md 7, 8.1 to 9.',
    '/** docs/nowhere.md and docs/errors.md (docs/contract.md',
    ' * 77). */',
  ].join('\n')
  assert.deepEqual(citationFaults('a.ts', text, documents), [
    'a.ts cites D-999, which is written nowhere',
    'a.ts cites section 2.9, which is not in docs/contract.md',
    'a.ts cites section 77, which is not in docs/contract.md',
    'a.ts cites docs/nowhere.md, which does not exist',
  ])
})

test('every link in a document leads to an existing file and heading', () => {
  const page = (path: string) =>
    existsSync(new URL(path, root)) ? (path.endsWith('.md') ? read(path) : '') : undefined
  assert.deepEqual(
    [...readDocuments()].flatMap(([path, text]) => linkFaults(path, text, page)),
    [],
  )
})

test('a link to a missing file or heading is found', () => {
  const pages: Record<string, string> = { 'docs/a.md': '# A\n\n## `b`, c (D-7)\n', 'README.md': '# R\n' }
  const text =
    '[1](a.md) [2](a.md#b-c-d-7) [3](../README.md#r) [4](#a) [5](https://a.example/) [6](b.md) [7](a.md#b) [8](#r)'
  assert.deepEqual(
    linkFaults('docs/a.md', text, (path) => pages[path]),
    [
      'docs/a.md links to b.md, which does not exist',
      'docs/a.md links to a.md#b, which does not exist',
      'docs/a.md links to #r, which does not exist',
    ],
  )
})

test('no file of the repository contains a path that exists on one machine only', () => {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const files = list
    .toString()
    .split('\0')
    .filter((path) => path !== '' && lstatSync(new URL(path, root), { throwIfNoEntry: false })?.isFile())
  assert.ok(files.length > 0)
  assert.deepEqual(
    files.flatMap((path) => placeFaults(path, readFileSync(new URL(path, root), 'latin1'))),
    [],
  )
})

test('a path of one machine, a folder beside the repository and a package registry are each found', () => {
  const at = (...parts: string[]) => parts.join('/')
  const planted = [
    [`see ${at('', 'work', 'main', 'a.md')}`, 'a path of one machine'],
    [`"${at('', 'root', '.cache')}"`, 'a path of one machine'],
    [`see ${at('..', 'shared', 'a.md')}`, 'a folder beside the repository'],
    [`"resolved": "${at('https:', '', ['registry', 'npmjs', 'org'].join('.'), 'a')}"`, 'a package registry'],
  ] as const
  for (const [text, fault] of planted) assert.deepEqual(placeFaults('a.ts', text), [`a.ts mentions ${fault}`], text)
  for (const text of ['fast/work/a', 'npm ci', '$HOME/.cache', 'test/shared/a']) {
    assert.deepEqual(placeFaults('a.ts', text), [], text)
  }
})

test('every test and check that docs/threat-model.md names exists', () => {
  const text = read('docs/threat-model.md')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const files = text.match(/\btest\/[\w./-]*\w/g) ?? []
  const checks = text.match(/\bcheck:\w+/g) ?? []
  assert.ok(files.length > 15 && checks.length > 8)
  const missing = [
    ...files.filter((file) => !existsSync(new URL(file, root))),
    ...checks.filter((check) => !scripts[check]),
  ]
  assert.deepEqual(missing, [])
})
