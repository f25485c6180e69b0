// Forward-only migrations of both databases. The ledger and the lock live in PostgreSQL: one process migrates at a time,
// and a file that has landed is never edited (its checksum says so).
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { ReservedSql } from 'postgres'
import type { ClickHouse } from './clickhouse.ts'
import { sql } from './clickhouse-sql.ts'
import type { Postgres } from './postgres.ts'

const migrationsFolder = new URL('../../migrations/', import.meta.url)
const lock = 4_669_201 // any constant: the name of the migration lock

interface Migration {
  name: string
  text: string
  checksum: string
}

/**
 * Applies what is missing and returns the names of what it applied. Whatever breaks off may be tried again. ClickHouse is asked only
 * for files of its own, and throws `Unavailable` when it does not answer.
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
      // ClickHouse has no transactions: a file holds one statement that may safely run again (IF NOT EXISTS).
      else await command(stores.clickhouse, text)
      await connection`INSERT INTO migrations ${connection({ name, checksum })}`
      await connection`COMMIT`
    }
    return pending.map(({ name }) => name)
  } finally {
    connection.release() // and with it the lock, and what is half done
  }
}

/** A statement may take an hour; whether anybody is there is known sooner. */
async function command(clickhouse: ClickHouse, text: string): Promise<void> {
  await clickhouse.rows(sql`SELECT 1`)
  await clickhouse.command(text)
}

/** The names of what `migrate` would apply now. */
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
      .filter((file) => file.endsWith('.sql'))
      .sort()
      .map((file) => {
        const text = readFileSync(new URL(`${database}/${file}`, folder), 'utf8')
        return { name: `${database}/${file}`, text, checksum: createHash('sha256').update(text).digest('hex') }
      }),
  )
}

/** The statements that make an empty ClickHouse database, for those that need no PostgreSQL. */
export const clickhouseMigrations = (): string[] =>
  read(migrationsFolder)
    .filter(({ name }) => name.startsWith('clickhouse/'))
    .map(({ text }) => text)
