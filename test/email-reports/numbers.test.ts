import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStores } from '../support/stores.ts'
import { compareMany, type Difference } from './comparing.ts'
import { openReportsWorld } from './reports-world.ts'

// `npm run check:reports` compares a thousand.
test('every number of a report is what the API answers for the same days', { timeout: 300_000 }, async (t) => {
  const world = await openReportsWorld(await openStores(), 'numbers')
  t.after(() => world.close())
  const found: Difference[] = []
  let reports = 0
  await compareMany(world, 'numbers', Array(20).keys(), (_number, differences) => {
    reports++
    found.push(...differences)
  })
  assert.deepEqual(found, [])
  assert.equal(reports, 20)
})
