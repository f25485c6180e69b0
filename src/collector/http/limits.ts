// Rate limits for events, per sender and per site (decision D-150). All of it is in the memory of this process.
import type { NetworkKey } from '../../process/network-key.ts'
import { createBuckets } from '../../process/token-buckets.ts'

export interface Limits {
  ofAddress(address: string): AddressLimit
  /** Seconds until this site may record again. Charges one event and returns 0 when it may now. */
  takeOfSite(siteId: string): number
}

interface AddressLimit {
  /** Seconds until this address may send again, 0 when it may now. */
  waitSeconds: number
  charge(events: number): void
}

/** Many people behind one address come in bursts: an office in the morning, a mobile carrier when a match ends. */
const addressBurstSeconds = 20
const siteBurstSeconds = 10

const unlimited: AddressLimit = { waitSeconds: 0, charge() {} }

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
    ofAddress(address) {
      if (perAddress === 0) return unlimited
      const key = networkKey(address)
      const seconds = addresses.take(key, 0)
      return {
        // A trusted proxy that does not name its client stands for many clients. This check comes last, because it costs
        // more than the rest.
        waitSeconds: seconds > 0 && isTrusted(address) ? 0 : seconds,
        charge: (events) => void addresses.take(key, events),
      }
    },
    takeOfSite: (siteId) => sites.take(siteId, 1),
  }
}
