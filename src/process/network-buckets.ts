// Token buckets by the network of an address. Whoever has a /48 of IPv6 has 65,536 networks of /64, so wider networks are counted, too.
import { createNetworkKey, type NetworkBits } from './network-key.ts'
import { type BucketOptions, type Buckets, createBuckets } from './token-buckets.ts'

/** How many times the tokens of a /64 each network has. For an IPv4 address the three are the same, and the first decides. */
const shares: readonly (readonly [NetworkBits, number])[] = [
  [64, 1],
  [56, 4],
  [48, 16],
]

/** The key is a whole address; it is kept only as a hash with a random secret. */
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
