import type { Postgres } from '../stores/postgres.ts'

/**
 * How many seconds ago the oldest day closed that should be rolled up and is not; 0 if there is none. It reads PostgreSQL, so it is
 * right even while the process that rolls up hangs or is down. A day closes half an hour after the site's midnight (decision D-71).
 */
export async function rollupLagSeconds(postgres: Postgres): Promise<number> {
  const [row] = await postgres<[{ seconds: number }]>`
    SELECT coalesce(max(extract(epoch FROM now() - closed_at)), 0)::float8 AS seconds
    FROM (
      SELECT ((max(upper(days)) + 1)::timestamp AT TIME ZONE time_zone) + interval '30 minutes' AS closed_at
      FROM rollup_coverage JOIN sites ON id = site_id
      WHERE days <> '{}'
      GROUP BY site_id, time_zone
    ) AS sites
    WHERE closed_at < now()`
  return row.seconds
}
