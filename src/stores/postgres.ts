import postgres from 'postgres'
import { type Breaker, createBreaker } from './breaker.ts'
import { within } from './deadline.ts'

export type Postgres = postgres.Sql

const queryMs = 250

export function openPostgres(url: string): Postgres {
  return postgres(url, {
    max: 10,
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

export function boundReads(sql: Postgres, onChange: (isUp: boolean, cause?: Error) => void): BoundedReads {
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
