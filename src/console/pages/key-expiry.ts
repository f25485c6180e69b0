// Whether a key works, and until when.
import type { KeyListing } from '../../accounts/keys.ts'
import { dayMs } from '../../durations.ts'
import { type Html, html } from '../../web/html.ts'
import { dayText, relativeText, timeElement } from '../layout/times.ts'

/** A key that expires within this time is shown in amber. */
const soonMs = 14 * dayMs

export type KeyState = 'active' | 'disabled' | 'expired'

/** A key, or a shared link; a revoked link counts as disabled. */
type Expiring = Pick<KeyListing, 'disabled' | 'expiresAt'>

export function stateOf({ disabled, expiresAt }: Expiring, now: number): KeyState {
  if (disabled) return 'disabled'
  return expiresAt && expiresAt.getTime() <= now ? 'expired' : 'active'
}

export const expiresSoon = (key: Expiring, now: number): boolean =>
  stateOf(key, now) === 'active' && key.expiresAt !== null && key.expiresAt.getTime() - now < soonMs

/** `never expires`, `expires 13 Feb 2027`, `expires in 9 days`; below the state of an expired key only `3 days ago` */
export function expiryText(key: Expiring, now: number): Html {
  const { expiresAt } = key
  if (!expiresAt) return html`never expires`
  const distance = expiresAt.getTime() - now
  if (distance <= 0) {
    return html`${stateOf(key, now) !== 'expired' && 'expired '}${timeElement(expiresAt, relativeText(expiresAt, now))}`
  }
  return html`expires ${timeElement(expiresAt, distance < soonMs ? relativeText(expiresAt, now) : dayText(expiresAt))}`
}
