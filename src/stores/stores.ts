import type { ClickHouse } from './clickhouse.ts'
import type { Postgres } from './postgres.ts'

/** Both databases, for code that moves data between them. */
export interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
}
