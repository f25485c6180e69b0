import type { ClickHouse } from '../../src/stores/clickhouse.ts'

/** The same shard with a second replica that has the same rows. */
export const withReplica = (clickhouse: ClickHouse, second = clickhouse, cause?: string): ClickHouse => ({
  ...clickhouse,
  replicas: { all: [clickhouse, second], worker: async () => clickhouse, incomplete: async () => cause },
})

/** The second replica is away. */
export const withReplicaAway = (clickhouse: ClickHouse): ClickHouse => {
  const cause = 'Replica 2 is away.'
  return withReplica(clickhouse, { ...clickhouse, rowsPatiently: () => Promise.reject(new Error(cause)) }, cause)
}
