import postgres from 'postgres'

export type Postgres = postgres.Sql

export function openPostgres(url: string): Postgres {
  return postgres(url, {
    max: 10,
    connect_timeout: 0.3,
    onnotice: () => {},
    connection: { application_name: 'footfall' },
  })
}

/**
 * Waits for a query no longer than this, by our own clock: a server-side timeout cannot fire in a server that hangs.
 * The query is cancelled, so that its connection serves again as soon as the server does.
 */
export async function within<Rows extends readonly postgres.MaybeRow[]>(
  milliseconds: number,
  query: postgres.PendingQuery<Rows & postgres.MaybeRow[]>,
): Promise<Rows> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    query.cancel()
    reject(new Error(`PostgreSQL did not answer within ${milliseconds} ms`))
  }, milliseconds)
  query.catch(() => {}) // when it fails after we stopped waiting
  try {
    return await Promise.race([query, late])
  } finally {
    clearTimeout(timer)
  }
}
