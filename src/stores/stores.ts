import type { ClickHouse } from './clickhouse.ts'
import type { Cluster } from './cluster.ts'
import type { Postgres } from './postgres.ts'

/** PostgreSQL and one shard of ClickHouse, for code that moves data between them. */
export interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
}

/** PostgreSQL and every shard, for code about the whole installation. */
export interface AllStores {
  postgres: Postgres
  cluster: Cluster
}

/** The same, shard by shard. */
export const byShard = ({ postgres, cluster }: AllStores): Stores[] =>
  cluster.shards.map((clickhouse) => ({ postgres, clickhouse }))
