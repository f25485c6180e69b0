import postgres from 'postgres'

export type Postgres = postgres.Sql

export function openPostgres(url: string, mostConnections = 10): Postgres {
  return postgres(url, {
    max: mostConnections,
    connect_timeout: 5,
    // Quick at first, so that we are back within a second of PostgreSQL, then rarely, so that nobody is locked out for trying.
    backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 5),
    onnotice: () => {},
    connection: { application_name: 'footfall' },
  })
}

const answerMs = 15_000

/**
 * Rejects when PostgreSQL has said nothing after 15 s, and only then. The driver connects again without end to a server that closes the
 * connection before it has said anything, such as one that speaks HTTP.
 */
export async function expectAnswer(sql: Postgres): Promise<void> {
  const answer = sql`SELECT 1`.then(
    () => true,
    () => true,
  )
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, answerMs, false)
  })
  const hasAnswered = await Promise.race([answer, late])
  clearTimeout(timer)
  if (!hasAnswered) throw Object.assign(new Error(`no answer within ${answerMs / 1000} s`), { code: 'CONNECT_TIMEOUT' })
}

/** Makes the database that the address names, if it is missing: asked of the server's own `postgres` database. */
export async function createPostgresDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1) || 'postgres'
  const sql = openPostgres(url)
  try {
    await Promise.race([sql`SELECT 1`, expectAnswer(sql)])
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
