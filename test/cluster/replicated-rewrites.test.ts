// The types of columns change on a shard with two replicas, each of which rewrites its own rows.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startReplicatedClickHouse } from '../../dev/clickhouse/replicated.ts'
import { openCluster } from '../../src/cluster/cluster.ts'
import type { Rewriting } from '../../src/cluster/column-rewrites.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { type ClickHouse, createClickHouseDatabase, serversOf } from '../../src/stores/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { freshEmptyStores } from '../support/fresh-stores.ts'
import { needing } from '../support/needing.ts'
import { columns, contentOf, file, fill, migrateToBefore, mutationsOf } from './before-low-cardinality.ts'

const { test } = needing('ClickHouse', 'ZooKeeper')

async function open(t: TestContext) {
  const rig = await startReplicatedClickHouse({ shards: 1, replicas: 2 })
  t.after(() => rig.remove())
  const urls = rig.shards.map((replicas) => replicas.map(({ url }) => `${url}/footfall`))
  for (const url of urls.flat()) await createClickHouseDatabase(url)
  const cluster = openCluster({ CLICKHOUSE_URL: urls[0]?.[0] as string, CLICKHOUSE_SHARDS: urls })
  const { postgres } = await freshEmptyStores((end) => t.after(end))
  t.after(() => Promise.all(cluster.shards.map((shard) => shard.close())))
  const [first, second] = cluster.shards.flatMap(serversOf) as [ClickHouse, ClickHouse]
  return { rig, urls, stores: { postgres, cluster }, first, second }
}

test('new replicas get tables with the last type of each column', async (t) => {
  const { stores, first, second } = await open(t)
  assert.ok((await migrate(stores)).includes(file))
  await fill(first, 1_000, '2026-01')
  const content = await contentOf(first)
  await eventually(async () => assert.deepEqual(await contentOf(second), content))
  for (const replica of [first, second]) assert.deepEqual(await mutationsOf(replica), columns)
})

test('every replica is waited for, and processes that start do not wait', async (t) => {
  const { rig, urls, stores, first, second } = await open(t)
  await migrateToBefore(t, stores)
  await fill(first, 50_000, '2026-01')
  const content = await contentOf(first)
  await eventually(async () => assert.deepEqual(await contentOf(second), content))

  await second.command('SYSTEM STOP MERGES events')
  const seen: Rewriting[] = []
  const watch = { begins() {}, rewriting: (left: Rewriting) => void seen.push(left) }
  let isDone = false
  const waiting = migrate(stores, { watch }).finally(() => {
    isDone = true
  })
  // The first replica has nothing left, and the second one everything.
  await eventually(async () => {
    const [before, last] = [seen.find(({ parts }) => parts === 0), seen.at(-1)]
    assert.deepEqual([before?.parts, last?.parts, last?.columns], [0, 1, ['events.name']])
  })
  assert.deepEqual(await mutationsOf(first), ['name'])
  assert.deepEqual([await contentOf(first), await contentOf(second)], [content, content])
  // As `footfall serve` does. A replica takes the next change only after this one.
  const obstacles: string[] = []
  assert.deepEqual(await migrate(stores, { postponed: (_, obstacle) => void obstacles.push(obstacle) }), [])
  assert.deepEqual(obstacles, ['busy', 'busy'])
  assert.equal(isDone, false)
  for (const replica of [first, second]) assert.deepEqual(await mutationsOf(replica), ['name'])
  await second.command('SYSTEM START MERGES events')
  assert.deepEqual(await waiting, [file])
  for (const replica of [first, second]) {
    assert.deepEqual(await contentOf(replica), content)
    assert.deepEqual(await mutationsOf(replica), columns)
  }
  assert.deepEqual(await migrate(stores, { watch }), [])

  // A server whose disk was replaced gets the tables as they are now.
  const lost = rig.shards[0]?.[1]
  await lost?.wipe()
  await lost?.start()
  await createClickHouseDatabase(urls[0]?.[1] as string)
  await eventually(() => migrate(stores), 60_000) // ZooKeeper takes the lost server for alive for 10 s
  await eventually(async () => assert.deepEqual(await contentOf(second), content))
})
