import type { ClickHouse } from '../../src/stores/clickhouse.ts'

/** The same shard with a second replica that is away. */
export const withReplicaAway = (clickhouse: ClickHouse): ClickHouse => ({
  ...clickhouse,
  replicas: {
    all: [clickhouse, clickhouse],
    worker: async () => clickhouse,
    incomplete: async () => 'Replica 2 is away.',
  },
})
