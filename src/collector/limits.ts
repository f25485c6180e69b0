// How many events one sender, and all senders of one site, may have counted (decision D-150). Everything is in this process's memory.
import type { NetworkKey } from './network-key.ts'
import { createBuckets } from './token-buckets.ts'

export interface Limits {
  /** Seconds until this address may send again, 0 when it may. Charged for a request as a whole, before its events are looked at. */
  takeOfAddress(address: string, events: number): number
  /** The same for a site, one event at a time. */
  takeOfSite(siteId: string): number
}

/** Many people behind one address come in waves: an office in the morning, a mobile carrier when a match ends. */
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
      // A trusted proxy that does not say whom it speaks for speaks for many. Asked last: it costs more than all the rest.
      return seconds > 0 && isTrusted(address) ? 0 : seconds
    },
    takeOfSite: (siteId) => sites.take(siteId, 1),
  }
}
