// Separate databases for tests that change the schema or the counter that all directories follow.
import postgres from 'postgres'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import {
  createTestDatabase,
  databaseUrl,
  disconnect,
  fromTemplate,
  newDatabaseName,
  openStores,
  type StoreAddresses,
  type Stores,
} from './stores.ts'

/** Migrated databases on the servers of this run. They are removed at the end of the given test or file. */
export async function freshStores(atEnd: (end: () => Promise<void>) => void): Promise<Stores> {
  const stores = await freshEmptyStores(atEnd, fromTemplate())
  await migrate(stores)
  return stores
}

/** The same, not migrated. */
export async function freshEmptyStores(atEnd: (end: () => Promise<void>) => void, template = ''): Promise<Stores> {
  const shared = await openStores()
  const name = newDatabaseName()
  const admin = postgres(databaseUrl, { max: 1 })
  await createTestDatabase(admin, name, template)
  await shared.clickhouse.command(`CREATE DATABASE ${name}`)
  const stores = connectPatiently({
    ...shared.addresses,
    postgres: withDatabase(databaseUrl, name),
    clickhouse: withDatabase(shared.addresses.clickhouse, name),
  })
  atEnd(async () => {
    await disconnect(stores)
    await shared.clickhouse.command(`DROP DATABASE ${name}`)
    await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  return stores
}

/** Without the short timeouts of a process that serves requests, which these tests do not cover. */
export const patientPostgres = (url: string) => connectPostgres(url, { max: 10 })

export function connectPatiently(addresses: StoreAddresses): Stores {
  const clickhouse = openClickHouse(addresses.clickhouse)
  return { postgres: patientPostgres(addresses.postgres), clickhouse, cluster: clusterOf([clickhouse]), addresses }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
