// How `npm run bench:peers` compares answers: a difference needs a reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { difference } from '../../bench/peers/comparing.ts'
import { estimates } from '../../bench/peers/side.ts'

const ours = new Map([
  ['', { visitors: 100_000, pageviews: 250_000, bounceRate: 40 }],
  ['small', { visitors: 10 }],
])

test('equal numbers are counted and need no reason', () => {
  const theirs = new Map([['', { visitors: 100_000, pageviews: 250_000 }]])
  assert.deepEqual(difference(ours, theirs, { question: 'overview', reasons: [] }), {
    compared: 2,
    different: 0,
    percent: 0,
    reasons: [],
    unexplained: [],
  })
})

test('an estimate explains a small difference of a large number only', () => {
  const of = (theirs: Parameters<typeof difference>[1]) =>
    difference(ours, theirs, { question: 'overview', reasons: [estimates] })
  assert.deepEqual(of(new Map([['', { visitors: 100_500 }]])).unexplained, [])
  assert.equal(of(new Map([['', { visitors: 100_500 }]])).percent, 0.5)
  assert.equal(of(new Map([['', { visitors: 110_000 }]])).unexplained.length, 1)
  assert.equal(of(new Map([['', { pageviews: 250_001 }]])).unexplained.length, 1)
  assert.equal(of(new Map([['small', { visitors: 11 }]])).unexplained.length, 1)
})

test('a row that Footfall does not have is a difference', () => {
  const found = difference(ours, new Map([['unknown', { visitors: 1 }]]), { question: 'pages', reasons: [] })
  assert.deepEqual(found.unexplained, ['unknown visitors: 1 instead of 0'])
})

test('a reason holds for its questions and numbers', () => {
  const reasons = [{ why: 'other bounces', questions: ['overview'], numbers: ['bounceRate'] }] as const
  const theirs = new Map([['', { bounceRate: 35 }]])
  assert.deepEqual(difference(ours, theirs, { question: 'overview', reasons }).reasons, ['other bounces'])
  assert.equal(difference(ours, theirs, { question: 'pages', reasons }).unexplained.length, 1)
})
