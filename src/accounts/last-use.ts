// Records when keys were last used, and their requests by hour. It counts in memory and writes the counts once per minute.
import { hourMs, minuteMs } from '../durations.ts'
import { within } from '../stores/deadline.ts'
import type { Postgres } from '../stores/postgres.ts'

export interface LastUse {
  /** Records that a key was used now. */
  note(keyId: string): void
  /** Writes the remaining counts if PostgreSQL answers. */
  close(): Promise<void>
}

/**
 * Keys per statement. A statement with 20,000 keys took longer than the 200 ms that PostgreSQL gives a request's statement, so nothing
 * was ever written.
 */
const maxAtOnce = 500
const goodbyeMs = 1_000

/** Retention of hourly request counts. The page of keys shows a day of them. */
const retention = '3 days'
/** Max rows per DELETE statement, within the same 200 ms. */
const maxDeletedAtOnce = 5_000

/** Requests of one key in one hour that are not written yet. */
interface Use {
  keyId: string
  /** UTC milliseconds. */
  hour: number
  lastAt: number
  requests: number
}

/** No request waits for a write. A failed write is repeated a minute later. */
export function recordLastUse(postgres: Postgres, everyMs = minuteMs, clock: () => number = Date.now): LastUse {
  const current = new Map<string, Use>()
  /** Counts of earlier hours. */
  const earlier = new Set<Use>()

  function note(keyId: string): void {
    const now = clock()
    const use = current.get(keyId)
    if (use !== undefined && now - use.hour < hourMs) {
      use.lastAt = now
      use.requests++
      return
    }
    if (use) earlier.add(use)
    current.set(keyId, { keyId, hour: now - (now % hourMs), lastAt: now, requests: 1 })
  }

  async function write(): Promise<void> {
    const all = [...earlier, ...current.values()]
    for (let from = 0; from < all.length; from += maxAtOnce) {
      const batch = all.slice(from, from + maxAtOnce).map((use) => ({ use, written: use.requests }))
      await add(
        postgres,
        batch.map(({ use }) => use),
      )
      for (const { use, written } of batch) {
        use.requests -= written
        // A key that was used again in the meantime stays for the next write.
        if (use.requests > 0) continue
        earlier.delete(use)
        if (current.get(use.keyId) === use) current.delete(use.keyId)
      }
    }
  }

  let writing: Promise<void> | undefined
  const timer = setInterval(() => {
    writing ??= write()
      .then(() => deleteOld(postgres))
      .then(() => {})
      .catch(() => {})
      .finally(() => {
        writing = undefined
      })
  }, everyMs).unref()
  return {
    note,
    async close() {
      clearInterval(timer)
      const written = (writing ?? Promise.resolve()).then(write)
      await within(goodbyeMs, 'PostgreSQL', written).catch(() => {})
    },
  }
}

/** Writes with one statement. It skips deleted keys; the UPDATE locks the others, so that none can be deleted before the INSERT. */
function add(postgres: Postgres, uses: readonly Use[]) {
  const rows = uses.map(({ keyId, hour, lastAt, requests }) => ({
    key_id: keyId,
    hour: new Date(hour),
    last_at: new Date(lastAt),
    requests,
  }))
  return postgres`
    WITH used AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        AS used (key_id text, hour timestamptz, last_at timestamptz, requests bigint)
    ), noted AS (
      UPDATE api_keys SET last_used_at = greatest(last_used_at, last.at)
      FROM (SELECT key_id, max(last_at) AS at FROM used GROUP BY key_id) AS last
      WHERE id = key_id
      RETURNING id
    )
    INSERT INTO key_usage (key_id, hour, requests)
    SELECT key_id, hour, requests FROM used JOIN noted ON id = key_id
    ON CONFLICT (key_id, hour) DO UPDATE SET requests = key_usage.requests + excluded.requests`
}

const deleteOld = (postgres: Postgres) => postgres`
  DELETE FROM key_usage WHERE (key_id, hour) IN (
    SELECT key_id, hour FROM key_usage WHERE hour < now() - ${retention}::text::interval LIMIT ${maxDeletedAtOnce})`

/** The requests of some keys in each of the last hours, the running hour last. Keys without requests are missing. */
export async function readUsage(
  postgres: Postgres,
  keyIds: readonly string[],
  { now, hours }: { now: number; hours: number },
): Promise<Map<string, number[]>> {
  const usage = new Map<string, number[]>()
  if (keyIds.length === 0) return usage
  const first = now - (now % hourMs) - (hours - 1) * hourMs
  const rows = await postgres<{ keyId: string; hour: Date; requests: string }[]>`
    SELECT key_id AS "keyId", hour, requests FROM key_usage
    WHERE key_id IN ${postgres(keyIds as string[])} AND hour >= ${new Date(first)} AND hour <= ${new Date(now)}`
  for (const { keyId, hour, requests } of rows) {
    const counts = usage.get(keyId) ?? Array<number>(hours).fill(0)
    counts[(hour.getTime() - first) / hourMs] = Number(requests)
    usage.set(keyId, counts)
  }
  return usage
}
