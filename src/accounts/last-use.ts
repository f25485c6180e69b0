import type { Postgres } from '../stores/postgres.ts'

export interface LastUse {
  /** A key was used just now. */
  note(keyId: string): void
  close(): void
}

/** Of one statement: 20,000 keys in one took longer than the 200 ms that PostgreSQL gives a request's statement, so nothing was ever written. */
const mostAtOnce = 500

/**
 * Writes when keys were last used, once a minute, in passing. No request waits for it, and what cannot be written is tried again with
 * the next.
 */
export function recordLastUse(postgres: Postgres, everyMs = 60_000): LastUse {
  /** UTC milliseconds, by key. */
  const used = new Map<string, number>()

  async function write(): Promise<void> {
    const all = [...used]
    for (let from = 0; from < all.length; from += mostAtOnce) {
      const some = all.slice(from, from + mostAtOnce)
      const rows = JSON.stringify(some.map(([id, at]) => ({ id, at: new Date(at) })))
      await postgres`
        UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
        FROM jsonb_to_recordset(${rows}::text::jsonb) AS used (id text, at timestamptz)
        WHERE api_keys.id = used.id`
      // Not those that were used again meanwhile.
      for (const [id, at] of some) if (used.get(id) === at) used.delete(id)
    }
  }

  let isWriting = false
  const timer = setInterval(async () => {
    if (isWriting) return
    isWriting = true
    await write().catch(() => {})
    isWriting = false
  }, everyMs).unref()
  return {
    note: (keyId) => void used.set(keyId, Date.now()),
    close: () => clearInterval(timer),
  }
}
