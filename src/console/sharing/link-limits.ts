// Rate limits of shared links: people with a link must not slow the API (decision D-188). A request costs one token per query that it may run.
// Counted in memory, before the link is read. A request with a made-up token is refused earlier and not counted (decision D-208).
import { createNetworkBuckets } from '../../process/network-buckets.ts'
import { createBuckets } from '../../process/token-buckets.ts'

/** Per network: a page per second, and twenty at once. */
const perNetwork = { perSecond: 10, burstSeconds: 20 }
/** Per link, for all networks together. */
const perLink = { perSecond: 10, burstSeconds: 20 }
/** For all links together. */
const ofAll = { perSecond: 20, burstSeconds: 20 }

export interface LinkLimits {
  /** Returns 0, or the seconds to wait; then refuse the request without reading the link. */
  take(token: string, clientAddress: string, cost: number): number
}

export function createLinkLimits(now?: () => number): LinkLimits {
  const clock = now && { now }
  const networks = createNetworkBuckets({ ...perNetwork, ...clock })
  const links = createBuckets<string>({ ...perLink, ...clock })
  const all = createBuckets<string>({ ...ofAll, ...clock })
  return {
    take(token, clientAddress, cost) {
      const change = (tokens: number) =>
        Math.max(networks.take(clientAddress, tokens), links.take(token, tokens), all.take('', tokens))
      const waitSeconds = change(0)
      if (waitSeconds === 0) change(cost)
      return waitSeconds
    },
  }
}
