// Remembers the events that sites did not count, for those who look for one by its id, and writes them away from the path of a hit.
import type { DroppedEvent } from '../../accounts/dropped-events.ts'
import { hourMs } from '../../durations.ts'

/** The page that waits for the first event asks every three seconds. */
const everyMs = 2_000
/** Most events per write, of one site and of all, so that a flood of made-up hits costs one small statement. */
const maxOfSite = 100
const maxEvents = 500

export type DroppedEvents = ReturnType<typeof openDroppedEvents>

export function openDroppedEvents(write: (events: readonly DroppedEvent[]) => Promise<void>) {
  let pending: DroppedEvent[] = []
  const ofSites = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    const events = pending
    pending = []
    ofSites.clear()
    timer = undefined
    await write(events)
  }

  // Without new ones, old ones must go, too.
  const forgetting = setInterval(flush, hourMs).unref()

  return {
    note(event: DroppedEvent): void {
      const ofSite = ofSites.get(event.siteId) ?? 0
      if (ofSite >= maxOfSite || pending.length >= maxEvents) return
      ofSites.set(event.siteId, ofSite + 1)
      pending.push(event)
      timer ??= setTimeout(flush, everyMs).unref()
    },
    async close(): Promise<void> {
      clearInterval(forgetting)
      clearTimeout(timer)
      if (pending.length > 0) await flush()
    },
  }
}
