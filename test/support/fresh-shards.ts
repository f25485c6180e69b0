// An installation with several shards: separate databases on the ClickHouse of this run.

import { type Cluster, clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import { freshEmptyStores } from './fresh-stores.ts'
import { fromTemplate } from './stores.ts'

export interface Shards {
  postgres: Postgres
  cluster: Cluster
  /** For other processes of the same installation. */
  settings: { DATABASE_URL: string; CLICKHOUSE_SHARDS: string }
}

export async function freshShards(count: number, atEnd: (end: () => Promise<void>) => void): Promise<Shards> {
  const { postgres, clickhouse, addresses } = await freshEmptyStores(atEnd, fromTemplate())
  const urls = [addresses.clickhouse]
  const shards = [clickhouse]
  for (let shard = 2; shard <= count; shard++) {
    const url = `${addresses.clickhouse}_${shard}`
    const name = new URL(url).pathname.slice(1)
    await clickhouse.command(`CREATE DATABASE ${name}`)
    const other = openClickHouse(url, { shard })
    atEnd(async () => {
      await other.command(`DROP DATABASE ${name}`)
      await other.close()
    })
    urls.push(url)
    shards.push(other)
  }
  const cluster = clusterOf(shards)
  await migrate({ postgres, cluster })
  const settings = {
    DATABASE_URL: addresses.postgres,
    CLICKHOUSE_SHARDS: JSON.stringify(urls.map((url) => [url])),
  }
  return { postgres, cluster, settings }
}
