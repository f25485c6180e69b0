import type { Postgres } from '../stores/postgres.ts'

export interface LastUse {
  /** A key was used just now. */
  note(keyId: string): void
  close(): void
}

/**
 * Writes when keys were last used: one statement a minute for all of them, in passing. No request waits for it, and what cannot
 * be written is tried again with the next.
 */
export function recordLastUse(postgres: Postgres, everyMs = 60_000): LastUse {
  /** UTC milliseconds, by key. */
  let used = new Map<string, number>()

  async function write(): Promise<void> {
    if (used.size === 0) return
    const batch = used
    used = new Map()
    const rows = JSON.stringify(Array.from(batch, ([id, at]) => ({ id, at: new Date(at) })))
    try {
      await postgres`
        UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
        FROM jsonb_to_recordset(${rows}::text::jsonb) AS used (id text, at timestamptz)
        WHERE api_keys.id = used.id`
    } catch {
      for (const [id, at] of batch) if (!used.has(id)) used.set(id, at)
    }
  }

  const timer = setInterval(() => void write(), everyMs).unref()
  return {
    note: (keyId) => void used.set(keyId, Date.now()),
    close: () => clearInterval(timer),
  }
}
