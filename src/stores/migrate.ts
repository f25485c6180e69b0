// Forward-only migrations of both databases. The ledger and the lock live in PostgreSQL: one process migrates at a time,
// and a file that has landed is never edited (its checksum says so).
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { ClickHouse } from './clickhouse.ts'
import type { Postgres } from './postgres.ts'

const folder = new URL('../../migrations/', import.meta.url)
const lock = 4_669_201 // any constant: the name of the migration lock

interface Migration {
  name: string
  text: string
  checksum: string
}

/** Applies what is missing and returns the names of what it applied. */
export async function migrate(stores: { postgres: Postgres; clickhouse: ClickHouse }): Promise<string[]> {
  const connection = await stores.postgres.reserve()
  try {
    await connection`SELECT pg_advisory_lock(${lock})`
    await connection`
      CREATE TABLE IF NOT EXISTS migrations
      (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const applied = new Map(
      (await connection<{ name: string; checksum: string }[]>`SELECT name, checksum FROM migrations`).map((row) => [
        row.name,
        row.checksum,
      ]),
    )
    const pending = [...read('postgres'), ...read('clickhouse')].filter(({ name, checksum }) => {
      const known = applied.get(name)
      if (known && known !== checksum) {
        throw new Error(`Migration ${name} was edited after it was applied. Restore it and add a new file instead.`)
      }
      return !known
    })
    for (const { name, text, checksum } of pending) {
      await connection`BEGIN`
      if (name.startsWith('postgres/')) await connection.unsafe(text)
      // ClickHouse has no transactions: a file holds one statement that may safely run again (IF NOT EXISTS).
      else await stores.clickhouse.command(text)
      await connection`INSERT INTO migrations ${connection({ name, checksum })}`
      await connection`COMMIT`
    }
    return pending.map(({ name }) => name)
  } finally {
    await connection`ROLLBACK`
    await connection`SELECT pg_advisory_unlock(${lock})`
    connection.release()
  }
}

function read(database: 'postgres' | 'clickhouse'): Migration[] {
  return readdirSync(new URL(`${database}/`, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(`${database}/${file}`, folder), 'utf8')
      return { name: `${database}/${file}`, text, checksum: createHash('sha256').update(text).digest('hex') }
    })
}
