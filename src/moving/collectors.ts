// Collectors keep accepted events in a spool on their own disk. Before a site changes its shard, each of them must have confirmed that
// it holds back the events of the site. So each reports to PostgreSQL while it runs, and stays in the list until its spool is empty.
import type { Postgres } from '../stores/postgres.ts'

export interface Collector {
  id: string
  host: string
  /** The number of shards in its configuration. */
  shards: number
  seenAt: Date
}

/** The shard of a site that was moved. */
export interface Placement {
  siteId: string
  shard: number
  /** Set while events of the site must not be written. */
  hold: string | null
}

export interface Report {
  id: string
  host: string
  shards: number
  /** The holds that it has confirmed. */
  holds: readonly string[]
  /** `asOf` of the last report, if there was one. */
  since: string | undefined
}

/**
 * Returns the placements that have changed since the last report, the installation with its epoch, and which database answers since when
 * (decision D-205).
 */
export async function reportCollector(
  postgres: Postgres,
  { id, host, shards, holds, since }: Report,
): Promise<{ placements: Placement[]; asOf: string; installation: string; start: string }> {
  const rows = await postgres<
    { site_id: string | null; shard: number; hold: string | null; as_of: string; installation: string; start: string }[]
  >`
    SELECT site_id, shard, hold::text, as_of::text, this_start() AS start,
      (SELECT concat_ws(' ', installation, epoch, began_at) FROM ledger) AS installation
    FROM report_collector(${id}, ${host}, ${shards}::int::smallint, ${holds as string[]}::text[]::bigint[],
      ${since ?? '-infinity'}::text::timestamptz)`
  const placements = rows.flatMap(({ site_id, shard, hold }) =>
    site_id === null ? [] : [{ siteId: site_id, shard, hold }],
  )
  const { as_of: asOf, installation, start } = rows.at(-1) as (typeof rows)[number]
  return { placements, asOf, installation, start }
}

export const placementsOf = (postgres: Postgres, siteIds: readonly string[]): Promise<Placement[]> => postgres<
  Placement[]
>`
  SELECT id AS "siteId", shard, hold::text FROM sites LEFT JOIN site_moves ON site_id = id
  WHERE id = ANY(${siteIds as string[]})`

export const listCollectors = (postgres: Postgres): Promise<Collector[]> =>
  postgres<Collector[]>`SELECT id, host, shards, seen_at AS "seenAt" FROM collectors ORDER BY host, id`

/** The collectors that have not confirmed the hold. */
export const unconfirmedCollectors = (postgres: Postgres, hold: string): Promise<Collector[]> => postgres<Collector[]>`
  SELECT id, host, shards, seen_at AS "seenAt" FROM collectors
  WHERE ${hold}::text::bigint <> ALL (holds) ORDER BY host, id`

/** Removes a collector whose spool is empty or lost. Returns false if there is none with this id. */
export async function forgetCollector(postgres: Postgres, id: string): Promise<boolean> {
  const { count } = await postgres`DELETE FROM collectors WHERE id = ${id}`
  return count > 0
}
