import { randomBytes } from 'node:crypto'
import { createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { type ClickHouseServerOptions, startClickHouse } from './server.ts'

export interface TemporaryDatabase {
  /** Contains the server and the database. */
  url: string
  /** The process of the server, if one was started. */
  pid: number | undefined
  remove(): Promise<void>
}

/**
 * An empty database: on the server of CLICKHOUSE_URL, or on one from npm that is started for it. With options, a server is always started.
 */
export async function createTemporaryDatabase(
  options: ClickHouseServerOptions = {},
  name = `footfall_test_${randomBytes(6).toString('hex')}`,
): Promise<TemporaryDatabase> {
  const given = process.env.CLICKHOUSE_URL
  if (given && Object.keys(options).length === 0) return createOn(given, name)
  const server = await startClickHouse(options)
  const url = `${server.url}/${name}`
  await createClickHouseDatabase(url).catch(async (error) => {
    await server.stop() // otherwise it would keep a test file from ending
    throw error
  })
  return { url, pid: server.pid, remove: () => server.stop() }
}

async function createOn(server: string, name: string): Promise<TemporaryDatabase> {
  const address = new URL(server)
  address.pathname = `/${name}`
  const url = address.href
  await createClickHouseDatabase(url)
  return {
    url,
    pid: undefined,
    async remove() {
      const clickhouse = openClickHouse(url)
      const ours = await clickhouse.rows<{ name: string }>(
        sql`SELECT name FROM system.databases WHERE startsWith(name, ${text(name)})`,
      )
      for (const { name } of ours) await clickhouse.command(`DROP DATABASE ${name}`)
      await clickhouse.close()
    },
  }
}
