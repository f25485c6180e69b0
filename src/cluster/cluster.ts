// All of ClickHouse. An installation is a list of shards; everything of a site is on one of them, so a query touches one shard however
// many there are (decision D-201). An installation with one ClickHouse has one shard.
import type { Logger } from 'pino'
import { Unavailable } from '../stores/breaker.ts'
import { type ClickHouse, type ClickHouseReader, openClickHouse } from '../stores/clickhouse.ts'
import { replicate } from './replicas.ts'

/** Where the traffic of a site is. */
interface Placement {
  shard: number
}

/** The part of a cluster that queries need. */
export interface ClusterReader {
  /** The ClickHouse that has the data of this site. */
  of(site: Placement): ClickHouseReader
}

export interface Cluster extends ClusterReader {
  /** In the order of their numbers. */
  readonly shards: readonly ClickHouse[]
  of(site: Placement): ClickHouse
  close(): Promise<void>
}

interface ClusterOptions {
  /** Returns a function to call when the dependency with this name goes down or comes back. */
  watch?(name: string): (isUp: boolean, cause?: Error) => void
  /** Gets every read statement with its plan. */
  log?: Logger | undefined
}

interface ClusterSettings {
  CLICKHOUSE_URL: string
  CLICKHOUSE_SHARDS: string[][] | undefined
}

/** One list per shard. */
export const addressesOf = ({ CLICKHOUSE_SHARDS, CLICKHOUSE_URL }: ClusterSettings): string[][] =>
  CLICKHOUSE_SHARDS ?? [[CLICKHOUSE_URL]]

export function openCluster(settings: ClusterSettings, { watch, log }: ClusterOptions = {}): Cluster {
  const addresses = addressesOf(settings)
  return clusterOf(
    addresses.map((urls, index) => {
      const shard = index + 1
      const ofShard = addresses.length === 1 ? 'ClickHouse' : `ClickHouse shard ${shard}`
      const servers = urls.map((url, replica) => {
        const name = urls.length === 1 ? ofShard : `${ofShard} replica ${replica + 1}`
        return openClickHouse(url, { shard, log, ...(watch && { onChange: watch(name) }) })
      })
      const [first, ...others] = servers as [ClickHouse, ...ClickHouse[]]
      return others.length === 0 ? first : replicate([first, ...others])
    }),
  )
}

export const clusterOf = (shards: readonly ClickHouse[]): Cluster => ({
  shards,
  of({ shard }) {
    const clickhouse = shards[shard - 1]
    if (!clickhouse) throw new Unavailable(`ClickHouse shard ${shard} is not in CLICKHOUSE_SHARDS`)
    return clickhouse
  },
  async close() {
    await Promise.all(shards.map((shard) => shard.close()))
  },
})
