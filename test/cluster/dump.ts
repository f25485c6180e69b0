// A dump of both databases as SQL that makes them again, schema and rows, to see what a later version makes of them. It keeps what a migration
// can break: also what a backup leaves out or makes anew, such as rollups of days that still have their events.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { clickhouseSchema } from '../../dev/docs/clickhouse-schema.ts'
import { postgresSchema } from '../../dev/docs/postgres-schema.ts'
import type { Stores } from '../../src/cluster/stores.ts'
import { backupTables } from '../../src/cluster/tables.ts'
import { join, type Sql, sql } from '../../src/stores/clickhouse-sql.ts'

export const dumps = new URL('dumps/', import.meta.url)

/** `key` reads the site of it. */
export async function writeDump(folder: URL, { postgres, clickhouse }: Stores, key: string): Promise<void> {
  mkdirSync(folder) // throws if it is there: a dump is never written again
  const { tables, code } = await postgresSchema(postgres)
  const rows = await Promise.all(tables.map(({ name }) => rowsOfPostgres(postgres, name)))
  // Triggers come last, so that rows change nothing.
  writeFileSync(new URL('postgres.sql', folder), [...tables.map(({ text }) => text), ...rows, code].join('\n'))
  const traffic = await clickhouseSchema(clickhouse)
  const inserts = await Promise.all(
    Object.entries(backupTables).map(([name, rows]) => rowsOfClickHouse(clickhouse, name, rows)),
  )
  writeFileSync(new URL('clickhouse.sql', folder), [...traffic.map(({ text }) => text), ...inserts].join('\n'))
  writeFileSync(new URL('key.txt', folder), `${key}\n`)
}

/** Into empty databases. Returns the key. */
export async function loadDump(folder: URL, { postgres, clickhouse }: Stores): Promise<string> {
  const file = (name: string) => readFileSync(new URL(name, folder), 'utf8')
  await postgres.unsafe(file('postgres.sql'))
  for (const statement of file('clickhouse.sql').split(/;$/m).slice(0, -1)) await clickhouse.command(statement)
  return file('key.txt').trim()
}

/** PostgreSQL writes and reads the rows itself, so that no type is lost on the way. */
async function rowsOfPostgres(postgres: Stores['postgres'], table: string): Promise<string> {
  const [sequence] = await postgres<{ value: string | null }[]>`
    SELECT last_value::text AS value FROM pg_sequences WHERE sequencename = ${table}`
  if (sequence) return sequence.value === null ? '' : `SELECT setval('${table}', ${sequence.value});\n`
  const rows = await postgres<{ row: string }[]>`
    SELECT to_jsonb(t)::text AS row FROM ${postgres(table)} AS t ORDER BY row`
  if (rows.length === 0) return ''
  const json = rows.map(({ row }) => row).join(',\n')
  return `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::${table}, $rows$[\n${json}\n]$rows$);\n`
}

async function rowsOfClickHouse(clickhouse: Stores['clickhouse'], name: string, table: Sql): Promise<string> {
  const rows = await clickhouse.rows<{ row: string }>(
    join([sql`SELECT formatRowNoNewline('JSONCompactEachRow', *) AS row FROM`, table, sql`ORDER BY row`], sql` `),
  )
  return `INSERT INTO ${name} FORMAT JSONCompactEachRow\n${rows.map(({ row }) => row).join('\n')}\n;\n`
}
