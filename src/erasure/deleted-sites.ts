// The list of what to erase: a row for each deleted site, and for each shard that a site has left. The statement that deletes or moves the
// site writes the row (migrations/postgres/0009_site_moves.sql).
import type { Postgres } from '../stores/postgres.ts'

/** Erased rows wait this long, so that parts are rewritten once for many sites. */
export const rewriteEvery = '7 days'
/** The last byte of a site is gone within this time: one more day for the rewriting and for outages. */
const goneWithin = '8 days'

export interface DeletedSite {
  id: string
  /** Null if the site was deleted before domains were recorded. */
  domain: string | null
  deletedAt: Date
  /** Since then no statement finds its rows. */
  erasedAt: Date | null
  /** Since then no part holds its rows. */
  rewrittenAt: Date | null
  /** Since then its files are gone. */
  purgedAt: Date | null
  goneBy: Date
}

/** The deleted sites of these accounts, or of all. Latest first. A step counts as done when it is done on every shard. */
export const listDeletedSites = (postgres: Postgres, accountIds?: readonly string[]): Promise<DeletedSite[]> =>
  postgres<DeletedSite[]>`
    SELECT id, max(domain) AS domain, max(deleted_at) AS "deletedAt",
      CASE WHEN every(erased_at IS NOT NULL) THEN max(erased_at) END AS "erasedAt",
      CASE WHEN every(rewritten_at IS NOT NULL) THEN max(rewritten_at) END AS "rewrittenAt",
      CASE WHEN every(purged_at IS NOT NULL) THEN max(purged_at) END AS "purgedAt",
      max(coalesce(waiting_since, deleted_at)) + ${goneWithin}::text::interval AS "goneBy"
    FROM deleted_sites
    WHERE ${isDeleted(postgres)} AND (${accountIds === undefined} OR account_id = ANY(${[...(accountIds ?? [])]}))
    GROUP BY id
    ORDER BY "deletedAt" DESC, id`

/**
 * Returns the ids whose site was deleted and not restored, and erases those sites once more. Call it after writing rows for these ids:
 * their sites may have been deleted in the meantime. It ignores ids that never had a site.
 */
export async function eraseAgain(postgres: Postgres, ids: readonly string[]): Promise<string[]> {
  const rows = await postgres<{ id: string }[]>`
    UPDATE deleted_sites
    SET waiting_since = CASE WHEN rewritten_at IS NULL THEN waiting_since ELSE now() END,
        reopened_at = clock_timestamp(), erased_at = NULL, rewritten_at = NULL, purged_at = NULL
    WHERE id IN (SELECT jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb)) AND ${isDeleted(postgres)}
    RETURNING id`
  return [...new Set(rows.map(({ id }) => id))]
}

/** Erases the traffic of a site that PostgreSQL does not know, from all shards. */
export async function eraseUnknownSite(postgres: Postgres, id: string): Promise<void> {
  await postgres`
    INSERT INTO deleted_sites (id, shard) SELECT ${id}, number FROM shards
    WHERE NOT EXISTS (SELECT FROM sites WHERE id = ${id}) ON CONFLICT DO NOTHING`
}

/** An erasure as it was when the work began. If more rows arrive during the work, `reopened` changes and the erasure stays open. */
export interface Erasure {
  id: string
  reopened: string | null
}

/**
 * The old copy of a moved site is erased only after this PostgreSQL was compared with ClickHouse: if PostgreSQL was restored from an older
 * backup, that copy may be the current one (decision D-205).
 */
export const sitesToErase = (postgres: Postgres, shard: number): Promise<Erasure[]> => postgres<Erasure[]>`
  SELECT id, reopened_at::text AS reopened FROM deleted_sites
  WHERE shard = ${shard} AND erased_at IS NULL AND erase_after <= now() AND ${isNotHere(postgres)}
    AND (${isDeleted(postgres)} OR (SELECT compared_in = this_start() FROM shards WHERE number = ${shard}))`

/** Returns nothing until one site has waited this long, then all of them. */
export const sitesToRewrite = (postgres: Postgres, shard: number, wait: string): Promise<Erasure[]> => postgres<
  Erasure[]
>`
  WITH waiting AS (
    SELECT id, reopened_at::text AS reopened, coalesce(waiting_since, deleted_at) AS since FROM deleted_sites
    WHERE shard = ${shard} AND erased_at IS NOT NULL AND rewritten_at IS NULL AND ${isNotHere(postgres)}
  )
  SELECT id, reopened FROM waiting
  WHERE (SELECT min(since) FROM waiting) <= now() - ${wait}::text::interval`

export const sitesToPurge = (
  postgres: Postgres,
  shard: number,
): Promise<(Erasure & { rewrittenAt: Date })[]> => postgres<(Erasure & { rewrittenAt: Date })[]>`
  SELECT id, reopened_at::text AS reopened, rewritten_at AS "rewrittenAt" FROM deleted_sites
  WHERE shard = ${shard} AND rewritten_at IS NOT NULL AND purged_at IS NULL AND ${isNotHere(postgres)}`

export async function markErasure(
  postgres: Postgres,
  shard: number,
  done: 'erased_at' | 'rewritten_at' | 'purged_at',
  erasures: readonly Erasure[],
  at?: Date,
): Promise<void> {
  const records = erasures.map(({ id, reopened }) => ({ id, reopened }))
  await postgres`
    UPDATE deleted_sites SET ${postgres(done)} = ${at ?? postgres`now()`}
    FROM jsonb_to_recordset(${JSON.stringify(records)}::text::jsonb) AS known (id text, reopened text)
    WHERE deleted_sites.id = known.id AND shard = ${shard} AND reopened_at::text IS NOT DISTINCT FROM known.reopened`
}

const isDeleted = (postgres: Postgres) => postgres`NOT EXISTS (SELECT FROM sites WHERE sites.id = deleted_sites.id)`

/** False for a site that is on this shard again, for example because it was restored. */
const isNotHere = (postgres: Postgres) =>
  postgres`NOT EXISTS (SELECT FROM sites WHERE sites.id = deleted_sites.id AND sites.shard = deleted_sites.shard)`
