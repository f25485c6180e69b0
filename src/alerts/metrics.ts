import { Gauge, type Registry } from 'prom-client'
import type { Cluster } from '../cluster/cluster.ts'

/**
 * Returns what notes when the alerts of a shard were last judged. Every console says so, whichever of them judges; until it knows, it says when it
 * began, so that a loop that never comes so far is noticed, too.
 */
export function showChecks(registry: Registry, { shards }: Cluster): (shard: number, checkedAt: number) => void {
  const checked = new Gauge({
    name: 'footfall_alerts_checked_timestamp_seconds',
    help: 'When the alerts of the sites on a shard were last judged, in seconds since 1970.',
    labelNames: ['shard'],
    registers: [registry],
  })
  const note = (shard: number, checkedAt: number) => checked.set({ shard }, checkedAt / 1000)
  for (const { shard } of shards) note(shard, Date.now())
  return note
}
