// Remembers the last dropped hit of sites that wait for their first event, and writes them away from the path of a hit.
import type { DroppedHit } from '../../accounts/dropped-hits.ts'
import type { Site } from '../../accounts/sites.ts'

/** The page that shows them asks every three seconds. */
const everyMs = 2_000
/** Most sites per write, so that a flood of made-up hits costs one small statement. */
const maxSites = 100

export type DroppedHits = ReturnType<typeof openDroppedHits>

export function openDroppedHits(write: (hits: readonly DroppedHit[]) => Promise<void>) {
  const pending = new Map<string, DroppedHit>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    const hits = [...pending.values()]
    pending.clear()
    timer = undefined
    await write(hits)
  }

  return {
    /** Sites with closed days have had events, and need no hint. */
    note({ id, coverage }: Site, reason: string, hostname: string, at: number): void {
      if (coverage.versions.length > 0 || (pending.size >= maxSites && !pending.has(id))) return
      pending.set(id, { siteId: id, at, reason, hostname })
      timer ??= setTimeout(flush, everyMs).unref()
    },
    async close(): Promise<void> {
      clearTimeout(timer)
      if (pending.size > 0) await flush()
    },
  }
}
