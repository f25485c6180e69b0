// The replicated servers of checks: what one replica has, the others get, whatever was broken meanwhile.
import assert from 'node:assert/strict'
import { startReplicatedClickHouse } from '../../dev/clickhouse/replicated.ts'
import { createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { eventually } from '../support/eventually.ts'
import { needing } from '../support/needing.ts'

const { after, before, test } = needing('ClickHouse', 'ZooKeeper')

let cluster: Awaited<ReturnType<typeof startReplicatedClickHouse>>
before(async () => {
  cluster = await startReplicatedClickHouse({ shards: 1, replicas: 2 })
})
after(() => cluster.remove())

const patientMs = 60_000
const createTable = 'CREATE TABLE numbers (number UInt64) ENGINE = ReplicatedMergeTree ORDER BY number'

/** The database on each replica, with a table of numbers. */
async function createNumbers(database: string) {
  const servers = cluster.shards[0] ?? []
  const clients = await Promise.all(
    servers.map(async ({ url }) => {
      await createClickHouseDatabase(`${url}/${database}`)
      const client = openClickHouse(`${url}/${database}`)
      await client.command(createTable)
      return client
    }),
  )
  const [first, last] = clients as [(typeof clients)[0], (typeof clients)[0]]
  return { first, last, close: () => Promise.all(clients.map((client) => client.close())) }
}

const hasNumbers = (client: ReturnType<typeof openClickHouse>, expected: number) =>
  eventually(async () => {
    const rows = await client.rows<{ count: number }>(sql`SELECT toUInt32(count()) AS count FROM numbers`)
    assert.deepEqual(rows, [{ count: expected }])
  }, patientMs)

test('a replica that was killed gets the rows of the other', async () => {
  const { first, last, close } = await createNumbers('broken')
  const [server] = cluster.shards[0] as [(typeof cluster.shards)[0][0]]
  await first.command('INSERT INTO numbers SELECT number FROM numbers(10)')
  await hasNumbers(last, 10)
  await server.kill()
  await last.command('INSERT INTO numbers SELECT number + 10 FROM numbers(10)')
  await server.start()
  await hasNumbers(first, 20)
  await close()
})

test('tables work again after ZooKeeper was killed', async () => {
  const { first, last, close } = await createNumbers('without_zookeeper')
  await cluster.zookeeper.kill()
  await cluster.zookeeper.start()
  await eventually(() => first.command('INSERT INTO numbers SELECT number FROM numbers(10)'), patientMs)
  await hasNumbers(last, 10)
  await close()
})

test('a backup of one replica is restored on it when no replica has the tables, and the others join', async () => {
  const { first, last, close } = await createNumbers('kept')
  await first.command('INSERT INTO numbers SELECT number FROM numbers(10)')
  await hasNumbers(last, 10)
  await first.command("BACKUP DATABASE kept TO File('kept')")
  const [url, lastUrl] = (cluster.shards[0] ?? []).map((server) => server.url)
  const operator = openClickHouse(`${url}/default`)
  await operator.command('DROP DATABASE kept SYNC')
  await assert.rejects(operator.command("RESTORE DATABASE kept FROM File('kept')"), /already contains some data/)
  await operator.command('DROP DATABASE kept SYNC')
  await last.command('DROP DATABASE kept SYNC')
  await operator.command("RESTORE DATABASE kept FROM File('kept')")
  await hasNumbers(first, 10)
  await createClickHouseDatabase(`${lastUrl}/kept`)
  await last.command(createTable)
  await hasNumbers(last, 10)
  await Promise.all([close(), operator.close()])
})
