// The servers that a check breaks. They are those of CLICKHOUSE_SHARDS, which CLICKHOUSE_CONTROL kills, stops, starts and wipes. If these
// are not set, the check starts servers itself: one ClickHouse per shard, or two per shard and a ZooKeeper for a check of replicas.
import { startReplicatedClickHouse } from '../../../dev/clickhouse/replicated.ts'
import { createClickHouseDatabase, openClickHouse } from '../../../src/stores/clickhouse.ts'
import { startOwnClickHouse } from '../../support/own-stores.ts'
import { newDatabaseName } from '../../support/stores.ts'

export interface Server {
  name: string
  kill(): Promise<unknown>
  /** After `kill` or `wipe`. Resolves when it serves. */
  start(): Promise<unknown>
  stop(): Promise<unknown>
  /** After `stop`. */
  resume(): Promise<unknown>
  /** Kills it and empties its disk. */
  wipe?(): Promise<unknown>
}

export interface Servers {
  isReplicated: boolean
  /** As in CLICKHOUSE_SHARDS. */
  addresses: string[][]
  shards: Server[][]
  /** ZooKeeper or Keeper. */
  keeper?: Server
  /** Creates the database on a server that was wiped. */
  createDatabase(address: string): Promise<void>
  remove(): Promise<void>
}

/** `kind` is `replicated` for a check that needs replicas. */
export const findServers = async (shardCount: number, kind: string): Promise<Servers> => {
  const { CLICKHOUSE_SHARDS: shards, CLICKHOUSE_CONTROL: control } = process.env
  if (shards && control) return givenServers(JSON.parse(shards) as string[][], control)
  return kind === 'replicated' ? replicatedServers(shardCount) : ownServers(shardCount)
}

async function givenServers(given: readonly string[][], control: string): Promise<Servers> {
  const database = newDatabaseName()
  const addresses = given.map((urls) =>
    urls.map((url) => Object.assign(new URL(url), { pathname: `/${database}` }).href),
  )
  for (const address of addresses.flat()) await createClickHouseDatabase(address)
  const order = async (word: string, name: string) => {
    const response = await fetch(`${control}/${word}?node=${name}`, { method: 'POST' })
    if (!response.ok) throw new Error(`${word} ${name}: ${response.status} ${await response.text()}`)
  }
  const serverOf = (name: string): Server => ({
    name,
    kill: () => order('kill', name),
    start: () => order('start', name),
    stop: () => order('stop', name),
    resume: () => order('cont', name),
    wipe: () => order('wipe', name),
  })
  return {
    isReplicated: given.every((urls) => urls.length > 1),
    addresses,
    shards: given.map((urls, shard) => urls.map((_, replica) => serverOf(`s${shard + 1}r${replica + 1}`))),
    keeper: serverOf('zookeeper'),
    createDatabase: createClickHouseDatabase,
    async remove() {
      for (const address of addresses.flat()) {
        const clickhouse = openClickHouse(Object.assign(new URL(address), { pathname: '/default' }).href)
        await clickhouse.command(`DROP DATABASE IF EXISTS ${database} SYNC`).finally(() => clickhouse.close())
      }
    },
  }
}

async function ownServers(shardCount: number): Promise<Servers> {
  const own = await Promise.all(Array.from({ length: shardCount }, startOwnClickHouse))
  return {
    isReplicated: false,
    addresses: own.map(({ url }) => [url]),
    shards: own.map((server, index) => [
      {
        name: `shard ${index + 1}`,
        kill: () => server.kill(),
        start: () => server.start(),
        stop: async () => server.signal('SIGSTOP'),
        resume: async () => server.signal('SIGCONT'),
      },
    ]),
    createDatabase: async () => {},
    async remove() {
      await Promise.all(own.map((server) => server.remove()))
    },
  }
}

async function replicatedServers(shardCount: number): Promise<Servers> {
  const { shards, zookeeper, remove } = await startReplicatedClickHouse({ shards: shardCount, replicas: 2 })
  const addresses = shards.map((replicas) => replicas.map(({ url }) => `${url}/footfall`))
  for (const address of addresses.flat()) await createClickHouseDatabase(address)
  return { isReplicated: true, addresses, shards, keeper: zookeeper, createDatabase: createClickHouseDatabase, remove }
}
