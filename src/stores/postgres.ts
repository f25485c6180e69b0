import postgres from 'postgres'
import { type Breaker, createBreaker } from './breaker.ts'
import { within } from './deadline.ts'

export type Postgres = postgres.Sql

/** What a request may wait for one answer of PostgreSQL. */
const standardQueryMs = 250

export function openPostgres(url: string, mostConnections = 10): Postgres {
  return postgres(url, {
    max: mostConnections,
    connect_timeout: 0.3,
    // Quick at first, so that we are back within a second of PostgreSQL, then rarely, so that nobody is locked out for trying.
    backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 5),
    onnotice: () => {},
    connection: { application_name: 'footfall' },
  })
}

/** Reads that a request waits for: bounded, and refused at once while PostgreSQL does not answer. */
export interface BoundedReads extends Breaker {
  read<Rows extends readonly postgres.MaybeRow[]>(
    query: postgres.PendingQuery<Rows & postgres.MaybeRow[]>,
  ): Promise<Rows>
}

export function boundReads(
  sql: Postgres,
  onChange: (isUp: boolean, cause?: Error) => void,
  queryMs = standardQueryMs,
): BoundedReads {
  const bounded = <Value>(query: Promise<Value> & { cancel(): void }) =>
    // Cancelled, so that its connection serves again as soon as the server does.
    within(queryMs, 'PostgreSQL', query, () => query.cancel())
  const breaker = createBreaker({
    name: 'PostgreSQL',
    probe: () => bounded(sql`SELECT 1`),
    isFault: () => true,
    onChange,
  })
  return { ...breaker, read: (query) => breaker.run(() => bounded(query)) }
}

/** Makes the database that the address names, if it is missing: asked of the server's own `postgres` database. */
export async function createPostgresDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1) || 'postgres'
  const sql = openPostgres(url)
  try {
    await sql`SELECT 1`
    return
  } catch (error) {
    if ((error as { code?: string }).code !== '3D000') throw error
  } finally {
    await sql.end({ timeout: 1 })
  }
  const server = openPostgres(Object.assign(new URL(url), { pathname: '/postgres' }).href)
  try {
    await server`CREATE DATABASE ${server(name)}`
  } finally {
    await server.end({ timeout: 1 })
  }
}
