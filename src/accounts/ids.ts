import { randomBytes } from 'node:crypto'

const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** `site_` and 16 random base32 characters: 80 bits, opaque, and telling nothing of how many there are. */
export const newId = (kind: 'acct' | 'site' | 'key'): string =>
  `${kind}_${Array.from(randomBytes(16), (byte) => base32[byte & 31]).join('')}`
