// The record of each move in PostgreSQL. Its statements are functions of migrations/postgres/0009_site_moves.sql, because each changes
// several tables at once.
import { withLease } from '../cluster/lease.ts'
import { currentLayout } from '../rollups/coverage.ts'
import type { Postgres } from '../stores/postgres.ts'

/** Why a move cannot begin. */
export type Refusal = 'no site' | 'already there' | 'moves elsewhere' | 'old copy'

/** Begins a move, or continues one that was interrupted. */
export async function beginMove(postgres: Postgres, siteId: string, shard: number): Promise<Refusal | null> {
  const [row] = await postgres<[{ refusal: Refusal | null }]>`
    SELECT begin_site_move(${siteId}, ${shard}::int::smallint) AS refusal`
  return row.refusal
}

/** From now on collectors hold back events of the site, and nobody writes its rollups. Returns undefined if the move was cancelled. */
export async function holdSite(postgres: Postgres, siteId: string): Promise<string | undefined> {
  const [row] = await postgres<[{ hold: string | null }]>`SELECT hold_site(${siteId})::text AS hold`
  return row.hold ?? undefined
}

/** Ends a hold, if it is still this one. */
export async function endHold(postgres: Postgres, siteId: string, hold: string): Promise<void> {
  await postgres`
    UPDATE site_moves SET hold = NULL, changed_at = now() WHERE site_id = ${siteId} AND hold = ${hold}::text::bigint`
}

/** From now on the site is on its new shard. Returns false if the hold had ended or the site was deleted. */
export async function changeShard(
  postgres: Postgres,
  siteId: string,
  hold: string,
  patience: string,
): Promise<boolean> {
  const [row] = await postgres<[{ moved: boolean }]>`
    SELECT change_shard(${siteId}, ${hold}::text::bigint, now() + ${patience}::text::interval, ${currentLayout}::int::smallint) AS moved`
  return row.moved
}

/** Cancels a move and erases its copy. Returns false if there is no move, and undefined if a process is working on it. */
export const cancelMove = (postgres: Postgres, siteId: string): Promise<boolean | undefined> =>
  withLease(postgres, leaseOf(siteId), async () => {
    const [row] = await postgres<[{ cancelled: boolean }]>`SELECT cancel_site_move(${siteId}) AS cancelled`
    return row.cancelled
  })

export interface UnfinishedMove {
  siteId: string
  domain: string
  from: number
  to: number
  /** Whether a process works on it. */
  isRunning: boolean
}

export const unfinishedMoves = (postgres: Postgres): Promise<UnfinishedMove[]> => postgres<UnfinishedMove[]>`
  SELECT site_id AS "siteId", domain, from_shard AS from, to_shard AS to,
    EXISTS (SELECT FROM leases WHERE name = ${leaseOf('')} || site_id AND expires_at > now()) AS "isRunning"
  FROM site_moves JOIN sites ON sites.id = site_id WHERE moved_at IS NULL ORDER BY domain`

/** The name of the lease that lets one process at a time move a site. `report_collector` uses the same name. */
export const leaseOf = (siteId: string): string => `move ${siteId}`
