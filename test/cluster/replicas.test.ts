// When a shard counts as complete. Its servers here only report how many rows they have copied; test/checks/cluster uses real replicas.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { replicate } from '../../src/cluster/replicas.ts'
import { tables } from '../../src/cluster/tables.ts'
import { Unavailable } from '../../src/stores/breaker.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'

/** `inKeeper`: the replicas that Keeper knows. */
function open(t: TestContext, { isAway = false, inKeeper = ['a', 'b', 'c'] } = {}) {
  const quorums: (string | undefined)[] = []
  const status = { tables: Object.keys(tables).length, isCutOff: 0, knowsAll: 1, unwritten: [], toFetch: 0, lag: 0 }
  const active = Object.fromEntries(inKeeper.map((name) => [name, 1]))
  const server = (isDown: boolean) =>
    ({
      shard: 4,
      rows: async () => {
        if (isDown) throw new Unavailable('ClickHouse does not answer')
        return [{ ...status, active }]
      },
      run: async (_, settings) => void quorums.push(settings?.insert_quorum),
      upload: async (_, __, ___, settings) => void quorums.push(settings?.insert_quorum),
      close: async () => {},
    }) as Partial<ClickHouse> as ClickHouse
  const clickhouse = replicate([server(false), server(isAway), server(false)])
  t.after(() => clickhouse.close())
  return { clickhouse, quorums }
}

test('rows that are computed or uploaded are confirmed by every replica', async (t) => {
  const { clickhouse, quorums } = open(t)
  await clickhouse.run(sql`INSERT INTO short_rollups SELECT 1`, { max_threads: 2 })
  await clickhouse.upload('titles', Readable.from([]))
  assert.deepEqual(quorums, ['3', '3'])
})

test('a replica that is away is named', async (t) => {
  assert.equal(await open(t).clickhouse.replicas?.incomplete(), undefined)
  assert.equal(
    await open(t, { isAway: true }).clickhouse.replicas?.incomplete(),
    'Not every replica of shard 4 has all rows: replica 2 (ClickHouse does not answer).',
  )
})

test('a replica that Keeper knows and nobody lists is reported: ClickHouse might count it instead of one that is read', async (t) => {
  assert.equal(
    await open(t, { inKeeper: ['a', 'b', 'c', 'd'] }).clickhouse.replicas?.incomplete(),
    'CLICKHOUSE_SHARDS lists 3 replicas of shard 4, and Keeper knows a, b, c, d. If one is gone: footfall shard drop-replica 4 <name>',
  )
})
