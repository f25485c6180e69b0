// Token buckets by the network of an address. A sender with an IPv6 /48 has 65,536 networks of /64, so wider networks are limited, too.
import { createNetworkKey, type NetworkBits } from './network-key.ts'
import { type BucketOptions, type Buckets, createBuckets } from './token-buckets.ts'

/** The tokens of each network, as a multiple of those of a /64. For IPv4 all three are the same address, so the first limit decides. */
const shares: readonly (readonly [NetworkBits, number])[] = [
  [64, 1],
  [56, 4],
  [48, 16],
]

/** The key is a whole address; only its hash with a random secret is kept. */
export function createNetworkBuckets({ perSecond, ...options }: BucketOptions): Buckets<string> {
  const all = shares.map(([bits, share]) => {
    const keyOf = createNetworkKey(bits)
    const buckets = createBuckets<number>({ ...options, perSecond: perSecond * share })
    return { keyOf, buckets }
  })
  return {
    take: (address, tokens) => Math.max(...all.map(({ keyOf, buckets }) => buckets.take(keyOf(address), tokens))),
    giveBack(address, tokens) {
      for (const { keyOf, buckets } of all) buckets.giveBack(keyOf(address), tokens)
    },
  }
}
