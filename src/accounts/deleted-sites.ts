// The record of what has to be erased (migrations/postgres/0013_erasures.sql): a row a deleted site, written by the deletion itself.
import type { Postgres } from '../stores/postgres.ts'

/** So long rows that are erased wait for others, so that parts are rewritten once for all of them. */
export const rewriteEvery = '7 days'
/** By when the last byte of a site is gone: a day more, for the rewriting and for outages. */
const goneWithin = '8 days'

export interface DeletedSite {
  id: string
  /** Null of one that was deleted before this was recorded. */
  domain: string | null
  deletedAt: Date
  /** Since when no statement finds a row of it. */
  erasedAt: Date | null
  /** Since when no part has a row of it. */
  rewrittenAt: Date | null
  /** Since when its files are gone. */
  purgedAt: Date | null
  goneBy: Date
}

/** The latest first. */
export const listDeletedSites = (postgres: Postgres): Promise<DeletedSite[]> => postgres<DeletedSite[]>`
  SELECT id, domain, deleted_at AS "deletedAt", erased_at AS "erasedAt", rewritten_at AS "rewrittenAt", purged_at AS "purgedAt",
    coalesce(waiting_since, deleted_at) + ${goneWithin}::text::interval AS "goneBy"
  FROM deleted_sites WHERE ${isGone(postgres)}
  ORDER BY deleted_at DESC, id`

/**
 * Those of these ids whose site was deleted, and not restored; one that never was is not among them. Whoever has just written something of
 * them asks: each of them is erased once more.
 */
export async function eraseAgain(postgres: Postgres, ids: readonly string[]): Promise<string[]> {
  const rows = await postgres<{ id: string }[]>`
    UPDATE deleted_sites
    SET waiting_since = CASE WHEN rewritten_at IS NULL THEN waiting_since ELSE now() END,
        reopened_at = clock_timestamp(), erased_at = NULL, rewritten_at = NULL, purged_at = NULL
    WHERE id IN (SELECT jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb)) AND ${isGone(postgres)}
    RETURNING id`
  return rows.map(({ id }) => id)
}

/** A job as it was when its work began: if more arrives meanwhile, that work does not end it. */
export interface Erasure {
  id: string
  reopened: string | null
}

export const sitesToErase = (postgres: Postgres): Promise<Erasure[]> => postgres<Erasure[]>`
  SELECT id, reopened_at::text AS reopened FROM deleted_sites WHERE erased_at IS NULL AND ${isGone(postgres)}`

/** None before one of them has waited so long; then all of them. */
export const sitesToRewrite = (postgres: Postgres, wait: string): Promise<Erasure[]> => postgres<Erasure[]>`
  WITH waiting AS (
    SELECT id, reopened_at::text AS reopened, coalesce(waiting_since, deleted_at) AS since FROM deleted_sites
    WHERE erased_at IS NOT NULL AND rewritten_at IS NULL AND ${isGone(postgres)}
  )
  SELECT id, reopened FROM waiting
  WHERE (SELECT min(since) FROM waiting) <= now() - ${wait}::text::interval`

export const sitesToPurge = (postgres: Postgres): Promise<(Erasure & { rewrittenAt: Date })[]> => postgres<
  (Erasure & { rewrittenAt: Date })[]
>`
  SELECT id, reopened_at::text AS reopened, rewritten_at AS "rewrittenAt" FROM deleted_sites
  WHERE rewritten_at IS NOT NULL AND purged_at IS NULL AND ${isGone(postgres)}`

export async function markErasure(
  postgres: Postgres,
  done: 'erased_at' | 'rewritten_at' | 'purged_at',
  erasures: readonly Erasure[],
  at?: Date,
): Promise<void> {
  const known = erasures.map(({ id, reopened }) => ({ id, reopened }))
  await postgres`
    UPDATE deleted_sites SET ${postgres(done)} = ${at ?? postgres`now()`}
    FROM jsonb_to_recordset(${JSON.stringify(known)}::text::jsonb) AS known (id text, reopened text)
    WHERE deleted_sites.id = known.id AND reopened_at::text IS NOT DISTINCT FROM known.reopened`
}

const isGone = (postgres: Postgres) => postgres`NOT EXISTS (SELECT FROM sites WHERE sites.id = deleted_sites.id)`
