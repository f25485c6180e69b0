// Forward-only migrations of both databases. PostgreSQL holds the list of applied files and the lock: one process migrates at a time.
// A checksum detects a file that was edited after it was applied.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { ReservedSql } from 'postgres'
import type { ClickHouse } from './clickhouse.ts'
import { sql } from './clickhouse-sql.ts'
import type { Postgres } from './postgres.ts'

const migrationsFolder = new URL('../../migrations/', import.meta.url)
const lock = 4_669_201 // any constant: the key of the migration lock

interface Migration {
  name: string
  text: string
  checksum: string
}

/**
 * Applies the missing migrations and returns their names. An interrupted run can be repeated. Needs ClickHouse only for ClickHouse
 * files, and throws `Unavailable` when it is down.
 */
export async function migrate(
  stores: { postgres: Postgres; clickhouse: ClickHouse },
  folder = migrationsFolder,
): Promise<string[]> {
  const connection = await stores.postgres.reserve()
  try {
    await connection`SELECT pg_advisory_lock(${lock})`
    await connection`
      CREATE TABLE IF NOT EXISTS migrations
      (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const pending = await missing(connection, folder)
    for (const { name, text, checksum } of pending) {
      await connection`BEGIN`
      if (name.startsWith('postgres/')) await connection.unsafe(text)
      // ClickHouse has no transactions, so every statement of a file must be safe to repeat (IF NOT EXISTS).
      else for (const statement of statementsOf(text)) await command(stores.clickhouse, statement)
      await connection`INSERT INTO migrations ${connection({ name, checksum })}`
      await connection`COMMIT`
    }
    return pending.map(({ name }) => name)
  } finally {
    connection.release() // also releases the lock and rolls back an unfinished migration
  }
}

/** A statement may take an hour. The short query before it finds out early whether ClickHouse is down. */
async function command(clickhouse: ClickHouse, text: string): Promise<void> {
  await clickhouse.rows(sql`SELECT 1`)
  await clickhouse.command(text)
}

/** A statement ends with a semicolon at the end of a line. */
const statementsOf = (text: string): string[] => text.split(/;$/m).filter((statement) => statement.trim() !== '')

/** The names of the migrations that `migrate` would apply now. */
export async function pendingMigrations(postgres: Postgres): Promise<string[]> {
  const [{ exists }] = await postgres<[{ exists: boolean }]>`SELECT to_regclass('migrations') IS NOT NULL AS exists`
  const pending = exists ? await missing(postgres, migrationsFolder) : read(migrationsFolder)
  return pending.map(({ name }) => name)
}

async function missing(postgres: Postgres | ReservedSql, folder: URL): Promise<Migration[]> {
  const rows = await postgres<{ name: string; checksum: string }[]>`SELECT name, checksum FROM migrations`
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  return read(folder).filter(({ name, checksum }) => {
    const known = applied.get(name)
    if (known && known !== checksum) {
      throw new Error(`Migration ${name} was edited after it was applied. Restore it and add a new file instead.`)
    }
    return !known
  })
}

function read(folder: URL): Migration[] {
  return ['postgres', 'clickhouse'].flatMap((database) =>
    readdirSync(new URL(`${database}/`, folder))
      .filter((file) => /^\d{4}_\w+\.sql$/.test(file)) // not schema.sql, which is what they come to
      .sort()
      .map((file) => {
        const text = readFileSync(new URL(`${database}/${file}`, folder), 'utf8')
        return { name: `${database}/${file}`, text, checksum: createHash('sha256').update(text).digest('hex') }
      }),
  )
}

/** The statements that create the tables of an empty ClickHouse database, for callers without PostgreSQL. */
export const clickhouseMigrations = (): string[] =>
  read(migrationsFolder)
    .filter(({ name }) => name.startsWith('clickhouse/'))
    .flatMap(({ text }) => statementsOf(text))
