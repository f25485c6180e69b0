import { hash, randomBytes } from 'node:crypto'

const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

type Kind =
  | 'acct'
  | 'site'
  | 'key'
  | 'user'
  | 'sess'
  | 'link'
  | 'share'
  | 'browser'
  | 'rep'
  | 'mail'
  | 'whk'
  | 'whd'
  | 'note'
  | 'alert'

/** A prefix such as `site_` and 16 random base32 characters: 80 bits. The id does not reveal how many there are. */
export const newId = (kind: Kind): string => idOf(kind, randomBytes(16))

/** The same text gets the same id, so that a repeated request creates nothing twice. The text must have at least 80 random bits. */
export const derivedId = (kind: Kind, text: string): string =>
  idOf(kind, hash('sha256', text, 'buffer').subarray(0, 16))

const idOf = (kind: Kind, bytes: Uint8Array): string =>
  `${kind}_${Array.from(bytes, (byte) => base32[byte & 31]).join('')}`
