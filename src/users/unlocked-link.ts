// Once somebody has typed the password of a shared link, their browser holds a signed note in a cookie of that link. The link is still read
// for each request, so the note ends with it.

import { signed, signedText } from '../accounts/derived-keys.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import type { SharedLink } from './shared-links.ts'

const maxSeconds = 12 * 3600

/** Lifetime of the note: never longer than that of the link. */
export const unlockedSeconds = ({ expiresAt }: SharedLink, now: number): number =>
  expiresAt === null ? maxSeconds : Math.min(maxSeconds, Math.ceil((expiresAt - now) / 1000))

export const unlockedNote = (secrets: KeySecrets, link: SharedLink, now: number): string =>
  signed(secrets, 'shared link', `${link.id}.${now + unlockedSeconds(link, now) * 1000}`)

/** Whether the link may be opened: it has no password, or the note says that the password was typed. */
export function isUnlocked(secrets: KeySecrets, link: SharedLink, note: string | undefined, now: number): boolean {
  if (link.passwordHash === null) return true
  const [id, until] = (note && signedText(secrets, 'shared link', note))?.split('.') ?? []
  return id === link.id && now < Number(until)
}
