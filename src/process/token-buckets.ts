// Token buckets: a number of events per second, and a burst after a quiet time. In memory, for a bounded number of keys (decision D-150).
import { LRUCache } from 'lru-cache'

export interface Buckets<Key> {
  /**
   * Takes the tokens and returns 0, or takes none and returns the seconds to wait. A bucket with at least one token gives all
   * requested tokens and may go negative: otherwise a list longer than the burst would always be refused. With 0 tokens it only checks.
   */
  take(key: Key, tokens: number): number
  /** Returns tokens that were taken but not used, also to a negative bucket. */
  giveBack(key: Key, tokens: number): void
}

export interface BucketOptions {
  /** 0 disables the limit. */
  perSecond: number
  /** A full bucket holds the tokens of this many seconds. */
  burstSeconds: number
  /** Milliseconds of a monotonic clock. */
  now?(): number
}

interface Bucket {
  tokens: number
  at: number
}

/** Limits the memory to 20 MB. */
export const maxBuckets = 100_000

/**
 * Beyond 100,000 keys, the least recently used key is dropped and later starts with a full bucket. Only an attacker with 100,000 addresses
 * can use that; a limit per address is useless against so many anyway, and the limit of the site holds.
 */
export function createBuckets<Key extends string | number>({
  perSecond,
  burstSeconds,
  now = monotonic,
}: BucketOptions): Buckets<Key> {
  if (perSecond === 0) return { take: () => 0, giveBack: () => {} }
  const full = perSecond * burstSeconds
  const buckets = new LRUCache<Key, Bucket>({
    // Not `max`, which reserves the memory of all buckets at once: 1.6 MB and 10 ms for each limit, however few its keys.
    maxSize: maxBuckets,
    sizeCalculation: () => 1,
    memoMethod: () => ({ tokens: full, at: now() }),
  })

  function refilled(key: Key): Bucket {
    const at = now()
    const bucket = buckets.memo(key)
    bucket.tokens = Math.min(full, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
    bucket.at = at
    return bucket
  }

  return {
    take(key, tokens) {
      const bucket = refilled(key)
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perSecond)
      bucket.tokens -= tokens
      return 0
    },
    giveBack(key, tokens) {
      const bucket = refilled(key)
      bucket.tokens = Math.min(full, bucket.tokens + tokens)
    },
  }
}

const monotonic = () => performance.now()
