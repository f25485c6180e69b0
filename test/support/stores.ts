// Real stores for tests: those of CLICKHOUSE_URL (or the first shard of CLICKHOUSE_SHARDS), DATABASE_URL and REDIS_URL, otherwise
// ClickHouse from npm and the PostgreSQL and Redis of this machine. `test/run.ts` migrates one database for all files and passes it on through the environment; a file that runs alone
// creates its own.
import { randomBytes } from 'node:crypto'
import type { ClickHouseServerOptions } from '../../dev/clickhouse/server.ts'
import { createTemporaryDatabase } from '../../dev/clickhouse/temporary-database.ts'
import type { KeySecrets } from '../../src/accounts/keys.ts'
import { type Cluster, clusterOf, openCluster } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { type ClickHouse, createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { atEnd } from './at-end.ts'

export const databaseUrl = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'

export const keySecrets: KeySecrets = [{ version: 1, secret: Buffer.from('a-secret-for-tests-of-32-characters') }]

export interface StoreAddresses {
  postgres: string
  clickhouse: string
  /** All servers of the shard, if it has replicas. */
  replicas?: string[]
  redis: string
  redisPrefix: string
}

export interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
  /** `clickhouse` as its only shard. */
  cluster: Cluster
  addresses: StoreAddresses
}

/**
 * A clause for CREATE DATABASE: the new database is a copy of the run's migrated one, so `migrate` has only ClickHouse left to do. A copy
 * takes PostgreSQL 0.02 to 0.15 s of CPU more than an empty database, and migrating one 0.2 s. Nobody may be connected to the template, so it is
 * not the database that the files share. STRATEGY = FILE_COPY is slower: it writes checkpoints, which took up to 14 s on a busy disk.
 */
export const fromTemplate = (): string => {
  const template = process.env.FOOTFALL_TEST_TEMPLATE
  return template ? `TEMPLATE ${template}` : ''
}

/** Makes the template of a run from its stores, while nobody is connected to them, and returns its name. They remove it with their own. */
export async function createTemplate({ postgres }: StoreAddresses): Promise<string> {
  const name = new URL(postgres).pathname.slice(1)
  const admin = openPostgres(databaseUrl, 1)
  await admin.unsafe(`CREATE DATABASE ${name}_template TEMPLATE ${name}`).finally(() => admin.end())
  return `${name}_template`
}

/** Nobody cuts the power under these databases. A commit that does not wait for the disk takes 0.2 ms instead of 1 to 2. */
export async function createTestDatabase(admin: Postgres, name: string, template: string): Promise<void> {
  await admin.unsafe(`CREATE DATABASE ${name} ${template}`)
  await admin.unsafe(`ALTER DATABASE ${name} SET synchronous_commit = off`)
}

/** Creates and migrates a separate database in each store, and removes them again. */
export async function createStores(
  options: ClickHouseServerOptions = {},
): Promise<{ addresses: StoreAddresses; clickhousePid: number | undefined; remove(): Promise<void> }> {
  const { stores, clickhousePid, remove } = await createEmptyStores(options, fromTemplate())
  await migrate(stores)
  await disconnect(stores)
  return { addresses: stores.addresses, clickhousePid, remove }
}

/** Does the same without tables, unless PostgreSQL copies a template. */
export async function createEmptyStores(
  options: ClickHouseServerOptions = {},
  template = '',
): Promise<{ stores: Stores; clickhousePid: number | undefined; remove(): Promise<void> }> {
  const name = newDatabaseName()
  const given = process.env.CLICKHOUSE_SHARDS
  const database =
    given && Object.keys(options).length === 0
      ? await createReplicatedDatabase((JSON.parse(given) as string[][])[0] ?? [], name)
      : await createTemporaryDatabase(options, name)
  const admin = openPostgres(databaseUrl, 1)
  try {
    await createTestDatabase(admin, name, template)
  } catch (error) {
    await Promise.all([database.remove(), admin.end()]) // otherwise they would keep the test file from ending
    throw error
  }
  const stores = connect({
    postgres: withPath(databaseUrl, name),
    clickhouse: database.url,
    ...('replicas' in database && { replicas: database.replicas as string[] }),
    redis: redisUrl,
    redisPrefix: `${name}:`,
  })
  return {
    stores,
    clickhousePid: database.pid,
    async remove() {
      await disconnect(stores)
      await database.remove()
      const ours = await admin<{ name: string }[]>`
        SELECT datname AS name FROM pg_database WHERE starts_with(datname, ${name})`
      for (const { name } of ours) await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.end()
    },
  }
}

/** The same database on every replica. */
async function createReplicatedDatabase(servers: readonly string[], name: string) {
  const replicas = servers.map((server) => withPath(server, name))
  for (const url of replicas) await createClickHouseDatabase(url)
  return {
    url: replicas[0] as string,
    replicas,
    pid: undefined,
    async remove() {
      for (const server of servers) {
        const clickhouse = openClickHouse(withPath(server, 'default'))
        await clickhouse.command(`DROP DATABASE ${name} SYNC`).finally(() => clickhouse.close())
      }
    },
  }
}

/** Begins with the name of the run's database, so that the run also removes the databases of test files that were stopped. */
export function newDatabaseName(): string {
  const given = process.env.FOOTFALL_TEST_STORES
  const run = given ? new URL((JSON.parse(given) as StoreAddresses).postgres).pathname.slice(1) : 'footfall_test'
  return `${run}_${randomBytes(6).toString('hex')}`
}

/** The stores of this test file. */
export const openStores = once(async (): Promise<Stores> => {
  const given = process.env.FOOTFALL_TEST_STORES
  const created = given ? undefined : await createStores()
  const stores = connect(created?.addresses ?? (JSON.parse(given as string) as StoreAddresses))
  atEnd(async () => {
    await disconnect(stores)
    await created?.remove()
  })
  return stores
})

export function connect(addresses: StoreAddresses): Stores {
  const [clickhouse] = openCluster({
    CLICKHOUSE_URL: addresses.clickhouse,
    CLICKHOUSE_SHARDS: addresses.replicas && [addresses.replicas],
  }).shards as [ClickHouse]
  return { postgres: openPostgres(addresses.postgres, 4), clickhouse, cluster: clusterOf([clickhouse]), addresses }
}

export async function disconnect({ postgres, clickhouse }: Stores): Promise<void> {
  await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])
}

function withPath(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}
