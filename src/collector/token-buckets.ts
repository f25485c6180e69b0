// Token buckets: so many events a second, and a burst after a quiet time. In memory, of a bounded number of keys (decision D-150).

export interface Buckets<Key> {
  /**
   * Takes so many tokens and returns 0, or takes nothing and returns the seconds to wait. A bucket that holds one gives all that is
   * asked for and then owes the rest, so that a long list is not refused for ever where short ones pass. 0 tokens only ask.
   */
  take(key: Key, tokens: number): number
}

export interface BucketOptions {
  /** 0 switches the limit off. */
  perSecond: number
  /** How many seconds' worth of tokens a full bucket holds. */
  burstSeconds: number
  /** Milliseconds of a clock that nobody sets. */
  now?(): number
}

interface Bucket {
  tokens: number
  at: number
}

/** Of each of the two generations: together some 20 MB, whatever is sent. */
export const mostBuckets = 50_000

/**
 * A key that was not used while 50,000 others were is forgotten and begins with a full bucket. Whoever can use that has 50,000 addresses,
 * and with so many an address's limit means nothing anyway: then the site's holds.
 */
export function createBuckets<Key>({ perSecond, burstSeconds, now = monotonic }: BucketOptions): Buckets<Key> {
  if (perSecond === 0) return { take: () => 0 }
  const full = perSecond * burstSeconds
  let recent = new Map<Key, Bucket>()
  let older = new Map<Key, Bucket>()

  function bucketOf(key: Key, at: number): Bucket {
    const known = recent.get(key)
    if (known) return known
    if (recent.size >= mostBuckets) {
      older = recent
      recent = new Map()
    }
    const bucket = older.get(key) ?? { tokens: full, at }
    recent.set(key, bucket)
    return bucket
  }

  return {
    take(key, tokens) {
      const at = now()
      const bucket = bucketOf(key, at)
      bucket.tokens = Math.min(full, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
      bucket.at = at
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perSecond)
      bucket.tokens -= tokens
      return 0
    },
  }
}

const monotonic = () => performance.now()
