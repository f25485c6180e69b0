import type { ClickHouse } from '../stores/clickhouse.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Cluster } from './cluster.ts'

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

/** PostgreSQL with each shard. */
export const byShard = ({ postgres, cluster }: AllStores): Stores[] =>
  cluster.shards.map((clickhouse) => ({ postgres, clickhouse }))
