// Commands that write events of a site themselves, such as an import, and a move of the site exclude each other.
import { setTimeout as pause } from 'node:timers/promises'
import type { ReservedSql } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'
import { CannotMove } from './cannot-move.ts'

/** The first key of the advisory locks of PostgreSQL; any constant. The second is the site. */
const writing = 4_669_205

/** Runs the work while the site stays on its shard. Look up the shard within the work. */
export const whileOnItsShard = <Result>(
  postgres: Postgres,
  siteId: string,
  work: () => Promise<Result>,
): Promise<Result> =>
  withConnection(postgres, async (connection) => {
    await connection`SELECT pg_advisory_lock_shared(${writing}, hashtext(${siteId}))`
    return work()
  })

/** Runs the work while no such command writes events of the site. */
export const withoutWriters = <Result>(
  postgres: Postgres,
  siteId: string,
  timeoutMs: number,
  work: () => Promise<Result>,
): Promise<Result> =>
  withConnection(postgres, async (connection) => {
    const until = Date.now() + timeoutMs
    while (!(await tryToLock(connection, siteId))) {
      if (Date.now() > until)
        throw new CannotMove('A command writes traffic of the site. Repeat this one when it has ended.')
      await pause(200)
    }
    return work()
  })

async function tryToLock(connection: ReservedSql, siteId: string): Promise<boolean> {
  const [row] = await connection<[{ taken: boolean }]>`
    SELECT pg_try_advisory_lock(${writing}, hashtext(${siteId})) AS taken`
  return row.taken
}

/** The lock belongs to the connection, which is closed at the end. */
async function withConnection<Result>(
  postgres: Postgres,
  work: (connection: ReservedSql) => Promise<Result>,
): Promise<Result> {
  const connection = await postgres.reserve()
  try {
    return await work(connection)
  } finally {
    connection.release()
  }
}
