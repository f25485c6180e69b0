import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cacheable } from '../../src/stats/report.ts'
import { createResponseCache } from '../../src/stats/service.ts'

const bytes = 64 * 1024 * 1024

/** A response that takes about this much memory. */
const response = (size: number): Cacheable => ({
  json: 'x'.repeat(size / 2),
  generatedAt: 0,
  requestedAt: 0,
  state: '',
  settled: true,
})

test('the least recently used response is dropped when the memory is full', () => {
  const cache = createResponseCache(bytes)
  const size = bytes / 10
  for (let index = 0; index < 9; index++) cache.keep(`${index}`, response(size))
  assert.ok(cache.fresh('0', '', 0))
  cache.keep('9', response(size))
  const left = Array.from({ length: 10 }, (_, index) => `${index}`).filter((key) => cache.fresh(key, '', 0))
  assert.deepEqual(left, ['0', '2', '3', '4', '5', '6', '7', '8', '9'])
})

test('a response over an eighth of the memory is not cached, and neither is the one it replaces', () => {
  const cache = createResponseCache(bytes)
  cache.keep('key', response(1_000))
  cache.keep('key', response(bytes / 8 + 1_000))
  assert.equal(cache.fresh('key', '', 0), undefined)
  assert.equal(cache.last('key', 0), undefined)
})

test('without memory nothing is fresh, but there is room for the last responses', () => {
  const cache = createResponseCache(0)
  cache.keep('key', response(1_000_000))
  assert.equal(cache.fresh('key', '', 0), undefined)
  assert.ok(cache.last('key', 600_000))
  assert.equal(cache.last('key', 600_001), undefined)
})

test('a clock that jumps back keeps no response fresh for longer', () => {
  const cache = createResponseCache(bytes)
  cache.keep('key', { ...response(1_000), settled: false })
  assert.ok(cache.fresh('key', '', -4_999))
  assert.equal(cache.fresh('key', '', -5_000), undefined)
})
