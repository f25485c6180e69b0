// The requests of keys: of the last 24 hours, and of the running window of the rate limit.
import type { KeyListing } from '../../accounts/keys.ts'
import { readUsage } from '../../accounts/last-use.ts'
import { plans } from '../../accounts/plans.ts'
import { counted, inFull } from '../../display/formats.ts'
import { type Html, html } from '../../web/html.ts'
import { stateOf } from './key-expiry.ts'
import type { KeyScope } from './key-scope.ts'

const hours = 24

export interface KeyUsage {
  /** The running hour is last. */
  byHour: readonly number[]
  /** Of the running window; undefined if this process cannot know. */
  inWindow: number | undefined
}

export async function usageOf(
  { visit: { services } }: KeyScope,
  keys: readonly KeyListing[],
): Promise<Map<string, KeyUsage>> {
  const { postgres, limiter, now } = services
  const ids = keys.map(({ id }) => id)
  const byHour = await readUsage(postgres, ids, { now: now(), hours })
  const windows = await Promise.all(ids.map((id) => inWindow(limiter, id)))
  return new Map(
    ids.map((id, index) => [id, { byHour: byHour.get(id) ?? Array<number>(hours).fill(0), inWindow: windows[index] }]),
  )
}

/** If Redis does not answer, keys are shown without this number. */
async function inWindow(limiter: KeyScope['visit']['services']['limiter'], id: string): Promise<number | undefined> {
  if (!limiter) return undefined
  return limiter.peek(id).then(
    (window) => window?.count ?? 0,
    () => undefined,
  )
}

const barWidth = 3
const gap = 1

/** One bar for each hour. Hours without requests keep a line, so that the width says 24 hours. */
export function sparkline(byHour: readonly number[], height: number): Html {
  const total = byHour.reduce((sum, requests) => sum + requests, 0)
  const max = Math.max(...byHour, 1)
  const width = byHour.length * (barWidth + gap)
  const bars = byHour.map((requests, hour) => {
    const tall = requests === 0 ? 1 : Math.max(2, Math.round((requests / max) * height))
    return html`<rect${requests === 0 && html` class="none"`} x="${hour * (barWidth + gap)}" y="${height - tall}" width="${barWidth}" height="${tall}" rx="1"/>`
  })
  const text = `${counted(total, 'request')} in the last 24 hours`
  return html`<span class="usage"><svg class="spark" role="img" aria-label="${text}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${bars}</svg><span aria-hidden="true" title="${text}">${inFull(total)}</span></span>`
}

/** `412 of 2,000`; a dash if the key cannot be used or the window is not known here. */
export function windowText({ visit }: KeyScope, key: KeyListing, { inWindow }: KeyUsage): Html {
  const limit = plans[visit.account.plan]?.requestsPerHour
  if (limit === undefined || inWindow === undefined || stateOf(key, visit.services.now()) !== 'active') {
    return html`<span aria-hidden="true">–</span><span class="unseen">not known</span>`
  }
  return html`${inFull(inWindow)} of ${inFull(limit)}`
}
