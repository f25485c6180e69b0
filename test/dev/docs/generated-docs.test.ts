import assert from 'node:assert/strict'
import test from 'node:test'
import { demoExamples } from '../../../dev/docs/examples.ts'
import { staleFiles } from '../../../dev/docs/write.ts'

test('every generated document is up to date, including the examples (otherwise: npm run docs)', async () => {
  const examples = await demoExamples()
  assert.deepEqual(staleFiles(examples), [])
  assert.notDeepEqual(
    staleFiles({ ...examples, reports: { ...examples.reports, pages: {} } }),
    [],
    'a changed example must show',
  )
})
