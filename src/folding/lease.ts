// Who does what only one needs to do: a row in PostgreSQL that expires by PostgreSQL's clock (decision D-130). It saves work and nothing
// else: where it is lost, two do the same, and both are right (ledger.ts). No connection is held for it.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '../stores/postgres.ts'

const lasts = '30 seconds'
const renewMs = 10_000

/** Does the work while no other process does, or returns undefined when one does. */
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
    await postgres`DELETE FROM leases WHERE name = ${name} AND holder = ${holder}`.catch(() => {}) // then it expires
  }
}

/** Never takes it back: who has lost it goes on without. */
async function renew(postgres: Postgres, name: string, holder: string, ended: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(renewMs, undefined, { signal: ended }).catch(() => {})
    if (ended.aborted) return
    await postgres`
      UPDATE leases SET expires_at = now() + ${lasts}::text::interval WHERE name = ${name} AND holder = ${holder}`.catch(
      () => {}, // the next one may succeed
    )
  }
}
