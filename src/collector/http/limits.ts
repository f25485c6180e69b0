// Rate limits for events, per sender and per site (decision D-150). All of it is in the memory of this process.
import type { NetworkKey } from '../../process/network-key.ts'
import { createBuckets } from '../../process/token-buckets.ts'

export interface Limits {
  /** Seconds until this address may send again, 0 when it may now. Charged per request, before its events are read. */
  takeOfAddress(address: string, events: number): number
  /** The same for a site, charged per event. */
  takeOfSite(siteId: string): number
}

/** Many people behind one address come in bursts: an office in the morning, a mobile carrier when a match ends. */
const addressBurstSeconds = 20
const siteBurstSeconds = 10

export interface LimitOptions {
  perAddress: number
  perSite: number
  networkKey: NetworkKey
  isTrusted(address: string): boolean
}

export function createLimits({ perAddress, perSite, networkKey, isTrusted }: LimitOptions): Limits {
  const addresses = createBuckets<number>({ perSecond: perAddress, burstSeconds: addressBurstSeconds })
  const sites = createBuckets<string>({ perSecond: perSite, burstSeconds: siteBurstSeconds })
  return {
    takeOfAddress(address, events) {
      const seconds = addresses.take(networkKey(address), events)
      // A trusted proxy that does not name its client stands for many clients. This check comes last, because it costs
      // more than the rest.
      return seconds > 0 && isTrusted(address) ? 0 : seconds
    },
    takeOfSite: (siteId) => sites.take(siteId, 1),
  }
}
