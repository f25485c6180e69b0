import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsOf } from '../../../dev/docs/scale-arithmetic.ts'

test('the needs of a million sites with ten billion events per day follow from round figures of one core', () => {
  const needs = needsOf({
    insertMicroseconds: 2,
    collectMicroseconds: 99,
    sendMicroseconds: 1,
    rollupMicroseconds: 8.64,
    rollupMillisecondsPerSite: 86.4,
    answers: 100,
    rawBytesAnEvent: 60,
    rollupBytesPerEvent: 30,
  })
  // 10^10 / 86,400 s x 3 = 347,222 per second; 10^8 / 86,400 s x 3 = 3,472 per second.
  assert.equal(Math.round(needs.eventsASecond), 347_222)
  assert.equal(Math.round(needs.requestsASecond), 3_472)
  // 347,222 x 2 µs x 2 copies; 115,741 x 8.64 µs; 11.574 x 86.4 ms; 3,472 / 100.
  const cores = Object.values(needs.cores).map((value) => value.toFixed(3))
  assert.deepEqual(cores, ['1.389', '1.000', '1.000', '34.722'])
  // 10^10 x 60 x 761 x 2 = 913.2 TB; 10^10 x 30 x 1,825 x 2 = 1,095 TB.
  assert.equal(needs.bytes.raw, 913.2e12)
  assert.equal(needs.bytes.rolledUp, 1_095e12)
  // 347,222 x 100 µs, of which 70 % may be used; 347,222 x 340 bytes; 347,222 x 60 bytes to one more replica.
  assert.equal(needs.collectorCores, 50)
  assert.equal(Math.round(needs.network.toClickHouse / 1e6), 118)
  assert.equal(Math.round(needs.network.toReplicas / 1e6), 21)
  // 38.1 cores at 22.4 per node; 2,008.2 TB at 10.5 per node; two nodes per shard; 300 GB per day over the shards.
  assert.deepEqual(needs.nodes, { byCores: 2, byDisk: 192 })
  assert.equal(needs.shards, 96)
  assert.equal(needs.rollupBytesPerNodeDay, 3.125e9)
  // 192 nodes x 600 + 50 cores x 10, for 300 billion events per month.
  assert.equal(needs.billPerBillion.toFixed(2), '385.67')
})
