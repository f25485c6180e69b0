import { Gauge, type Registry } from 'prom-client'

/** Returns what notes when the alerts of a shard were last judged. Every console says so, whichever of them judges. */
export function showChecks(registry: Registry): (shard: number, checkedAt: number) => void {
  const checked = new Gauge({
    name: 'footfall_alerts_checked_timestamp_seconds',
    help: 'When the alerts of the sites on a shard were last judged, in seconds since 1970.',
    labelNames: ['shard'],
    registers: [registry],
  })
  return (shard, checkedAt) => checked.set({ shard }, checkedAt / 1000)
}
