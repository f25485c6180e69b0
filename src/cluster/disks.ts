import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'

/** Nothing that can wait makes a disk fuller than this. */
export const maxFullness = 0.85

/** The free share of the fullest disk of a shard. Undefined: no server answers. */
export async function freeShareOf(clickhouse: ClickHouse): Promise<number | undefined> {
  const measure = (server: ClickHouse) =>
    server.rows<{ free: number }>(
      sql`SELECT min(unreserved_space / greatest(total_space, 1)) AS free FROM system.disks`,
    )
  const disks = await Promise.all(serversOf(clickhouse).map((server) => measure(server).catch(() => [])))
  const shares = disks.flat().map(({ free }) => free)
  return shares.length === 0 ? undefined : Math.min(...shares)
}
