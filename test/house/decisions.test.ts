import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decisionsIn, indexFaults, indexPath, numberFaults, recordFaults, withdrawnIn } from './decisions.ts'
import { readDocuments, tree } from './tree.ts'

const documents = readDocuments()
const decisions = decisionsIn(documents)

const between = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** Gaps from the time when each group of decisions had its own range. Never add to it; new decisions use the next number. */
const neverUsed = [
  ...between(83, 89),
  ...between(99, 109),
  ...between(122, 125),
  ...between(127, 129),
  ...between(133, 134),
  ...between(137, 139),
  ...between(142, 144),
  ...between(148, 149),
  154,
  ...between(162, 164),
]

test('every decision is written in exactly one document, and none is missing', () => {
  assert.ok(decisions.has('D-214'))
  assert.deepEqual(numberFaults(decisions, neverUsed, withdrawnIn(documents)), [])
})

test('every record has a title, a status, a date and a reason', () => {
  const records = [...documents].filter(([path]) => path.startsWith('docs/decisions/') && path !== indexPath)
  assert.ok(records.length > 50)
  assert.deepEqual(
    records.flatMap(([path, text]) => recordFaults(path, text)),
    [],
  )
})

test('the index has every decision with its document and status', () => {
  assert.deepEqual(indexFaults(documents, decisions), [])
})

const small = {
  'docs/metrics.md': '# Metrics\n\n## Bounce (D-1, D-2)\n\nText (D-3)\n',
  'docs/contract.md': '> **Note (D-4):** Text (D-3).\n',
  'docs/decisions/D-5-five.md': '# D-5: Five\n\nStatus: accepted · Date: 2026-02-28\n\nText.\n\nWhy: so.\n',
}

test('a decision is found where it is written, not where it is cited', () => {
  assert.deepEqual(
    [...decisionsIn(tree(small))],
    [
      ['D-1', ['docs/metrics.md']],
      ['D-2', ['docs/metrics.md']],
      ['D-4', ['docs/contract.md']],
      ['D-5', ['docs/decisions/D-5-five.md']],
    ],
  )
})

test('a decision that is missing, written twice, withdrawn or has an unused number is found', () => {
  const twice = tree({ ...small, 'docs/decisions/D-1-one.md': '# D-1: One\n' })
  assert.deepEqual(numberFaults(decisionsIn(twice), [2], ['D-4', 'D-6']), [
    'D-1 is written 2 times',
    'D-2 is one of the numbers that are not used',
    'D-3 is written 0 times',
    'D-4 is withdrawn, but still written',
  ])
})

test('a record with a wrong name, status or date, or without a reason, is found', () => {
  assert.deepEqual(recordFaults('docs/decisions/D-5-five.md', small['docs/decisions/D-5-five.md']), [])
  assert.deepEqual(recordFaults('D-6.md', '# D-5: Five\n\nText.\n'), [
    'D-6.md is not named for its decision',
    'D-6.md has no status and date below its title',
    'D-6.md does not say why',
  ])
  const status = 'Status: accepted · Date: 2026-02-30'
  assert.deepEqual(recordFaults('D-5-a.md', `# D-5, D-6: Five\n\n${status}\n\nWhy: so.\n`), [
    'D-5-a.md has the date 2026-02-30, which does not exist',
  ])
})

test('an index that lacks a decision, links elsewhere or has another status is found', () => {
  const faults = (...rows: string[]) => {
    const index = ['| No. | Title | Status |', '|---|---|---|', ...rows].join('\n')
    const all = tree({ ...small, [indexPath]: index })
    return indexFaults(all, decisionsIn(all))
  }
  const right = [
    '| D-1 | [One](../metrics.md#bounce-d-1-d-2) | accepted |',
    '| D-2 | [Two](../metrics.md) | accepted |',
    '| D-3 | Three | withdrawn |',
    '| D-4 | [Four](../contract.md) | accepted |',
    '| D-5 | [Five](D-5-five.md) | accepted |',
  ]
  assert.deepEqual(faults(...right), [])
  assert.deepEqual(faults(...right.slice(1)), ['the index does not have each decision once, in order'])
  assert.deepEqual(
    faults(
      ...right.slice(0, 2),
      '| D-3 | [Three](../metrics.md) | withdrawn |',
      '| D-4 | [Four](../metrics.md) | accepted |',
      '| D-5 | [Five](D-5-five.md) | proposed |',
    ),
    [
      'D-3 is withdrawn, but the index links to it',
      'D-4 is in docs/contract.md, but the index links elsewhere',
      'D-5 is accepted, but the index says "proposed"',
    ],
  )
})
