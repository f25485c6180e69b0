import { maxHostname } from '../hostnames.ts'
import type { Postgres } from '../stores/postgres.ts'

/** The last hit of a site that was not counted (decision D-231). */
export interface DroppedHit {
  siteId: string
  /** UTC milliseconds. */
  at: number
  reason: string
  /** Of the page. Anybody can send one. */
  hostname: string
}

/** Keeps one row per site. A site that was deleted meanwhile gets none. */
export async function writeDroppedHits(postgres: Postgres, hits: readonly DroppedHit[]): Promise<void> {
  const rows = hits.map(({ hostname, ...hit }) => ({ ...hit, hostname: hostname.slice(0, maxHostname) }))
  await postgres`
    INSERT INTO dropped_hits (site_id, dropped_at, reason, hostname)
    SELECT site_id, to_timestamp(at / 1000.0), reason, hostname
    FROM jsonb_to_recordset(${postgres.json(rows.map(({ siteId, ...row }) => ({ site_id: siteId, ...row })))})
      AS hit (site_id text, at double precision, reason text, hostname text)
      JOIN sites ON sites.id = site_id
    ON CONFLICT (site_id) DO UPDATE SET (dropped_at, reason, hostname) = (excluded.dropped_at, excluded.reason, excluded.hostname)`
}

/** Only of the last day: an older one no longer says why nothing arrives. */
export async function readDroppedHit(postgres: Postgres, siteId: string): Promise<DroppedHit | undefined> {
  const [row] = await postgres<{ at: Date; reason: string; hostname: string }[]>`
    SELECT dropped_at AS at, reason, hostname FROM dropped_hits
    WHERE site_id = ${siteId} AND dropped_at > now() - interval '1 day'`
  return row && { ...row, siteId, at: row.at.getTime() }
}
