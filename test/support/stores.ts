// Real stores for tests. `test/run.ts` starts ClickHouse and migrates a database once for all files and hands them over by
// environment; a file that is run alone starts its own.
import { randomBytes } from 'node:crypto'
import { type ClickHouseServerOptions, startClickHouse } from '../../dev/clickhouse/server.ts'
import type { KeySecrets } from '../../src/accounts/keys.ts'
import { type ClickHouse, createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { atEnd } from './at-end.ts'

export const databaseUrl = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'

export const keySecrets: KeySecrets = [{ version: 1, secret: Buffer.from('a-secret-for-tests-of-32-characters') }]

export interface StoreAddresses {
  postgres: string
  clickhouse: string
  redis: string
  redisPrefix: string
}

export interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
  addresses: StoreAddresses
}

/** Makes a database of its own in each store, migrated, and removes them again. */
export async function createStores(
  options: ClickHouseServerOptions = {},
): Promise<{ addresses: StoreAddresses; clickhousePid: number; remove(): Promise<void> }> {
  const { stores, clickhousePid, remove } = await createEmptyStores(options)
  await migrate(stores)
  await disconnect(stores)
  return { addresses: stores.addresses, clickhousePid, remove }
}

/** The same, without tables. */
export async function createEmptyStores(
  options: ClickHouseServerOptions = {},
): Promise<{ stores: Stores; clickhousePid: number; remove(): Promise<void> }> {
  const name = `footfall_test_${randomBytes(6).toString('hex')}`
  const server = await startClickHouse(options)
  const admin = openPostgres(databaseUrl, 1)
  try {
    await admin.unsafe(`CREATE DATABASE ${name}`)
    await createClickHouseDatabase(`${server.url}/${name}`)
  } catch (error) {
    await Promise.all([server.stop(), admin.end()]) // else they would keep the test file from ending
    throw error
  }
  const stores = connect({
    postgres: withPath(databaseUrl, name),
    clickhouse: `${server.url}/${name}`,
    redis: redisUrl,
    redisPrefix: `${name}:`,
  })
  return {
    stores,
    clickhousePid: server.pid,
    async remove() {
      await disconnect(stores)
      await server.stop()
      await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.end()
    },
  }
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

export const connect = (addresses: StoreAddresses): Stores => ({
  postgres: openPostgres(addresses.postgres, 4),
  clickhouse: openClickHouse(addresses.clickhouse),
  addresses,
})

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
