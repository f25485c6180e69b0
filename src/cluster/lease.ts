// A lease lets one process at a time do a job: a row in PostgreSQL that expires by PostgreSQL's clock (decision D-130). It only saves
// work: if a lease is lost, two processes do the same job, and both are right (rollups/runs.ts). It holds no connection.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '../stores/postgres.ts'

const lasts = '30 seconds'
const renewMs = 10_000

/** Runs the work, or returns undefined if another process is running it. */
export async function withLease<Result>(
  postgres: Postgres,
  name: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const holder = randomUUID()
  const { count } = await postgres`
    INSERT INTO leases AS held (name, holder, expires_at) VALUES (${name}, ${holder}, now() + ${lasts}::text::interval)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
    WHERE held.expires_at < now()`
  if (count === 0) return undefined
  const ended = new AbortController()
  void renew(postgres, name, holder, ended.signal)
  try {
    return await work()
  } finally {
    ended.abort()
    await postgres`DELETE FROM leases WHERE name = ${name} AND holder = ${holder}`.catch(() => {}) // if this fails, the lease expires
  }
}

/** Never takes a lost lease back: the work continues without it. */
async function renew(postgres: Postgres, name: string, holder: string, ended: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(renewMs, undefined, { signal: ended }).catch(() => {})
    if (ended.aborted) return
    await postgres`
      UPDATE leases SET expires_at = now() + ${lasts}::text::interval WHERE name = ${name} AND holder = ${holder}`.catch(
      () => {}, // the next renewal may succeed
    )
  }
}
