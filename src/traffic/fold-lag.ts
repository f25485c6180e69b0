import type { Postgres } from '../stores/postgres.ts'

/**
 * How long ago the first day closed that no folded site should still be without, in seconds; 0 when nothing is due. Read from the ledger,
 * so that it is true while whoever folds is stuck or gone. A day closes half an hour after the site's midnight (decision D-71).
 */
export async function foldLagSeconds(postgres: Postgres): Promise<number> {
  const [row] = await postgres<[{ seconds: number }]>`
    SELECT coalesce(max(extract(epoch FROM now() - closed_at)), 0)::float8 AS seconds
    FROM (
      SELECT ((max(upper(days)) + 1)::timestamp AT TIME ZONE time_zone) + interval '30 minutes' AS closed_at
      FROM site_folds JOIN sites ON id = site_id
      WHERE days <> '{}'
      GROUP BY site_id, time_zone
    ) AS sites
    WHERE closed_at < now()`
  return row.seconds
}
