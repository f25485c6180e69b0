// The text of an API key: `ff_s_` (one site) or `ff_a_` (a whole account), 30 random base62 characters (178 bits), and a checksum of 6
// characters. The checksum refuses a typo or a made-up key without a database read.
import { createHmac, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const shape = /^ff_[sa]_[0-9A-Za-z]{36}$/
const checksumLength = 6

export type KeyScope = 'site' | 'account'

export function newKeyText(scope: KeyScope): string {
  const unsigned = `ff_${scope === 'site' ? 's' : 'a'}_${randomBase62(30)}`
  return unsigned + checksum(unsigned)
}

export function isKeyText(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
}

/** The part of a key that lists may show: enough to recognise the key, not enough to use it. */
export const keyPrefix = (text: string): string => text.slice(0, 9)

/** Random keys need no slow hash: nobody can guess 178 bits, and a stolen table of keyed hashes is useless. */
export const hashKeyText = (text: string, secret: Buffer): Buffer => createHmac('sha256', secret).update(text).digest()

function checksum(unsigned: string): string {
  let rest = crc32(unsigned)
  let digits = ''
  for (let position = 0; position < checksumLength; position++) {
    digits = base62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Rejection sampling: 248 is the largest multiple of 62 in a byte, so every character is equally likely. */
function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}
