import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { halfUp, percentChange } from '../../src/stats/rounding.ts'
import { runs } from '../support/property-runs.ts'

// More than any site counts. Rounding is exact while the numerator stays below 2^52.
const most = 1_000_000_000_000
const count = fc.oneof(fc.nat({ max: most }), fc.nat({ max: 2000 }), fc.constantFrom(0, 1, 2, 3, most))

/** The rule in exact arithmetic: floor(n/d + 1/2). */
const exactHalfUp = (numerator: bigint, denominator: bigint): bigint =>
  denominator === 0n ? 0n : (2n * numerator + denominator) / (2n * denominator)

test('halfUp is the nearest integer, halves up, in exact arithmetic', () => {
  fc.assert(
    fc.property(count, count, (numerator, denominator) => {
      assert.equal(BigInt(halfUp(numerator, denominator)), exactHalfUp(BigInt(numerator), BigInt(denominator)))
    }),
    runs(20_000),
  )
})

test('halfUp rounds exact halves up and anything just below them down', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), fc.integer({ min: 1, max: 1_000_000 }), (whole, half) => {
      assert.equal(halfUp(2 * half * whole + half, 2 * half), whole + 1)
      assert.equal(halfUp(2 * half * whole + half - 1, 2 * half), whole)
    }),
    runs(5_000),
  )
})

test('a share of a total is between 0 and 100 (D-12, D-15)', () => {
  fc.assert(
    fc.property(count, count, (one, other) => {
      const share = halfUp(Math.min(one, other) * 100, Math.max(one, other))
      assert.ok(Number.isInteger(share) && share >= 0 && share <= 100, `${share}`)
    }),
  )
})

test('change is null exactly when the previous number is 0 (D-14)', () => {
  fc.assert(
    fc.property(count, count, (current, previous) => (percentChange(current, previous) === null) === (previous === 0)),
  )
  assert.equal(percentChange(0, 0), null)
  assert.equal(percentChange(5, 0), null)
})

test('change has one decimal, is rounded half away from zero and never -0, in exact arithmetic (D-14)', () => {
  fc.assert(
    fc.property(
      count,
      count.filter((previous) => previous > 0),
      (current, previous) => {
        const change = percentChange(current, previous) as number
        const difference = BigInt(current) - BigInt(previous)
        const magnitude = exactHalfUp((difference < 0n ? -difference : difference) * 1000n, BigInt(previous))
        const tenths = difference < 0n ? -magnitude : magnitude
        assert.equal(BigInt(Math.round(change * 10)), tenths)
        assert.ok(!Object.is(change, -0))
        // The JSON number has at most one decimal.
        assert.match(JSON.stringify(change), /^-?\d+(\.\d)?$/)
      },
    ),
    runs(20_000),
  )
})

test('a step down has the same change as the step up, with the opposite sign', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1000 }), fc.integer({ min: 1000, max: 100_000 }), (step, previous) => {
      const up = percentChange(previous + step, previous) as number
      assert.equal(percentChange(previous - step, previous), up === 0 ? 0 : -up)
    }),
  )
})

test('the examples of the decisions hold', () => {
  const examples: [current: number, previous: number, change: number | null][] = [
    [3, 2, 50],
    [2, 3, -33.3],
    [0, 7, -100],
    [7, 7, 0],
    [10_005, 10_000, 0.1], // 0.05 is a half: away from zero
    [9_995, 10_000, -0.1],
    [100_049, 100_000, 0],
    [99_951, 100_000, 0], // -0.049, and not -0
    [2001, 2, 99_950],
  ]
  for (const [current, previous, change] of examples) {
    assert.deepEqual(percentChange(current, previous), change, `${previous} to ${current}`)
  }
  assert.deepEqual([halfUp(1, 2), halfUp(3, 2), halfUp(149, 100), halfUp(5, 0)], [1, 2, 1, 0])
})
