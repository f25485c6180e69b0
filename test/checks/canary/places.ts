// Everywhere a secret could have been stored, as text: each table of each database, every key of Redis and every command sent to it, the
// files and log tables of ClickHouse.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createClient } from '@redis/client'
import type { Postgres } from '../../../src/stores/postgres.ts'

/** Every row of every table, and the statements that the server keeps for this database's connections. */
export async function postgresText(postgres: Postgres): Promise<string> {
  const tables = await postgres<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
  const rows = await Promise.all(
    tables.map(({ name }) => postgres.unsafe(`SELECT row_to_json(t)::text AS row FROM ${name} t`)),
  )
  const activity = await postgres`SELECT query AS row FROM pg_stat_activity WHERE datname = current_database()`
  return [...rows.flat(), ...activity].map(({ row }) => row).join('\n')
}

/** Every key and value, and every command: the server is configured to keep them all. */
export async function redisText(url: string): Promise<string> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  try {
    const lines: string[] = []
    for (const key of await client.keys('*')) lines.push(`${key} ${await client.get(key)}`)
    const commands = (await client.sendCommand(['SLOWLOG', 'GET', '-1'])) as unknown
    return [...lines, JSON.stringify(commands)].join('\n')
  } finally {
    client.destroy()
  }
}

/** Every row of the database and of ClickHouse's own log tables, and its log file. */
export async function clickhouseText(url: string): Promise<string> {
  const { origin, pathname, username, password } = new URL(url)
  const ask = async (query: string): Promise<string> => {
    const answer = await fetch(origin, {
      method: 'POST',
      body: query,
      headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}` },
    })
    if (!answer.ok) throw new Error(`ClickHouse: ${await answer.text()}`)
    return answer.text()
  }
  const tables = await ask(
    `SELECT concat(database, '.', name) FROM system.tables
     WHERE database = '${pathname.slice(1)}' OR (database = 'system' AND name LIKE '%\\_log') FORMAT TSVRaw`,
  )
  const rows = await Promise.all(
    tables
      .split('\n')
      .filter((table) => table !== '')
      .map((table) => ask(`SELECT * FROM ${table} FORMAT JSONEachRow`)),
  )
  const folder = (await ask(`SELECT path FROM system.disks WHERE name = 'default' FORMAT TSVRaw`)).trim()
  return [...rows, readFileSync(join(dirname(folder), 'server.log'), 'utf8')].join('\n')
}
