// A replica that misses rows of a rolled-up day would answer with too small a number, and without an error. So before a day becomes readable,
// every replica gets three seconds to copy its rows; those that do not make it are recorded in the same transaction, and readers avoid them
// until they have caught up (decision D-202).
import type { Fragment } from 'postgres'
import type { ClickHouse } from '../stores/clickhouse.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Stores } from '../stores/stores.ts'

export interface Gaps {
  shard: number
  /** Numbers of replicas. */
  replicas: readonly number[]
}

/** The replicas that miss rows of the one that a run has written on. */
export const gapsAfter = async (clickhouse: ClickHouse, worker: ClickHouse): Promise<Gaps> => ({
  shard: clickhouse.shard,
  replicas: (await clickhouse.replicas?.without(worker)) ?? [],
})

/** Records them, as the beginning of the statement that makes the rows readable. */
export const withGaps = (postgres: Postgres, gaps: Gaps | undefined): Fragment =>
  !gaps || gaps.replicas.length === 0
    ? postgres``
    : postgres`
    WITH gaps AS (
      INSERT INTO replica_gaps (shard, replica, mark)
      SELECT ${gaps.shard}, replica, nextval('replica_gap_marks') FROM unnest(${gaps.replicas.map(String)}::text[]::smallint[]) AS replica
      ON CONFLICT (shard, replica) DO UPDATE SET mark = excluded.mark
    )`

/** Forgets the replicas that have caught up. */
export async function closeGaps({ postgres, clickhouse }: Stores): Promise<void> {
  if (!clickhouse.replicas) return
  const open = await postgres<{ replica: number; mark: string }[]>`
    SELECT replica, mark::text FROM replica_gaps WHERE shard = ${clickhouse.shard}`
  if (open.length === 0) return
  const still = new Set(await clickhouse.replicas.without(await clickhouse.replicas.worker()))
  for (const { replica, mark } of open) {
    if (still.has(replica)) continue
    await postgres`
      DELETE FROM replica_gaps WHERE shard = ${clickhouse.shard} AND replica = ${replica} AND mark = ${mark}::text::bigint`
  }
}
