import assert from 'node:assert/strict'
import { test } from 'node:test'
import { improved, worseThan } from '../../../bench/ratchet/judge.ts'

const best = { collector: { ratio: 2, commit: 'a' }, 'rolling up': { ratio: 40, commit: 'b' } }

test('a ratio is worse above 15 %, and one that is not known is never', () => {
  assert.deepEqual(worseThan(best, { collector: 2.3, 'rolling up': 46.1, answers: 99 }), ['rolling up'])
  assert.deepEqual(worseThan(best, { collector: 1 }), [])
})

test('only a better ratio moves the mark, with the commit that reached it', () => {
  assert.deepEqual(improved(best, { collector: 2.1, 'rolling up': 39, answers: 1.1 }, 'c'), {
    collector: { ratio: 2, commit: 'a' },
    'rolling up': { ratio: 39, commit: 'c' },
    answers: { ratio: 1.1, commit: 'c' },
  })
})
