// Databases beside those in use, on the same servers, for a moment.
import { randomBytes } from 'node:crypto'
import { addressesOf, openCluster } from '../cluster/cluster.ts'
import type { AllStores } from '../cluster/stores.ts'
import { createClickHouseDatabase, openClickHouse } from '../stores/clickhouse.ts'
import { createPostgresDatabase, openPostgres } from '../stores/postgres.ts'
import { CommandError, type Context } from './command.ts'

/** Runs the work with new, empty databases, and drops them, even if a signal ends the command. All shards may be on the same server. */
export async function withScratchDatabases<Result>(
  { config }: Context,
  shards: number,
  work: (scratch: AllStores) => Promise<Result>,
): Promise<Result> {
  const mark = randomBytes(4).toString('hex')
  const servers = addressesOf(config)
  const postgresUrl = withDatabase(config.DATABASE_URL, mark)
  const addresses = Array.from({ length: shards }, (_, index) => {
    const [server] = (servers[index] ?? servers.at(-1)) as [string]
    return withDatabase(server, `${mark}_${index + 1}`)
  })
  const endings: (() => Promise<unknown>)[] = []
  const end = async () => {
    for (const one of endings.splice(0).reverse()) await one()
  }
  const endAndExit = () => void end().finally(() => process.exit(1))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, endAndExit)
  try {
    await createPostgresDatabase(postgresUrl).catch(refusal('PostgreSQL'))
    endings.push(() => dropPostgresDatabase(config.DATABASE_URL, nameIn(postgresUrl)))
    for (const address of addresses) {
      await createClickHouseDatabase(address).catch(refusal('ClickHouse'))
      endings.push(() => dropClickHouseDatabase(address))
    }
    const postgres = openPostgres(postgresUrl)
    endings.push(() => postgres.end({ timeout: 1 }))
    const cluster = openCluster({ ...config, CLICKHOUSE_SHARDS: addresses.map((address) => [address]) })
    endings.push(() => cluster.close())
    return await work({ postgres, cluster })
  } finally {
    await end()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, endAndExit)
  }
}

/** PostgreSQL allows 63 characters. */
const withDatabase = (address: string, mark: string): string =>
  Object.assign(new URL(address), { pathname: `/${nameIn(address).slice(0, 40)}_verify_${mark}` }).href

const nameIn = (address: string): string => new URL(address).pathname.slice(1)

async function dropPostgresDatabase(server: string, name: string): Promise<void> {
  const postgres = openPostgres(server, 1)
  await postgres`DROP DATABASE ${postgres(name)} WITH (FORCE)`.finally(() => postgres.end({ timeout: 1 }))
}

async function dropClickHouseDatabase(address: string): Promise<void> {
  const clickhouse = openClickHouse(address)
  // Without this setting ClickHouse refuses to drop more than 50 GB.
  await clickhouse
    .command(`DROP DATABASE ${nameIn(address)} SYNC SETTINGS max_table_size_to_drop = 0`)
    .finally(() => clickhouse.close())
}

const refusal =
  (server: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code !== '42501' && error.code !== '497') throw error
    throw new CommandError(
      `${server} does not allow this user to create a database for the copy.`,
      'docs/operations.md has the grant that it needs; or verify the backup on another machine.',
    )
  }
