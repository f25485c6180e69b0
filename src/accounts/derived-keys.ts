// One key per purpose, derived from KEY_SECRETS: nothing else must be configured, and no key reveals another.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { KeySecrets } from './keys.ts'

export type KeyUse =
  | 'second factor'
  | 'right password'
  | 'known browser'
  | 'sign-on flow'
  | 'shared link'
  | 'link token'
  | 'outbox'
  | 'report link'
  | 'webhook'

/** One key for each secret, the current one first. Values of an older secret can still be read. */
export const derivedKeys = (secrets: KeySecrets, use: KeyUse): readonly [Buffer, ...Buffer[]] =>
  secrets.map(({ secret }) => Buffer.from(hkdfSync('sha256', secret, '', `footfall ${use}`, 32))) as [
    Buffer,
    ...Buffer[],
  ]

/** The text with a signature, for a cookie. */
export const signed = (secrets: KeySecrets, use: KeyUse, text: string): string =>
  `${text}.${signature(derivedKeys(secrets, use)[0], text)}`

/** The text, or undefined if we did not sign it for this use. */
export function signedText(secrets: KeySecrets, use: KeyUse, value: string): string | undefined {
  const dot = value.lastIndexOf('.')
  const [text, actual] = [value.slice(0, Math.max(0, dot)), Buffer.from(value.slice(dot + 1))]
  const isOurs = derivedKeys(secrets, use).some((key) => {
    const expected = Buffer.from(signature(key, text))
    return expected.length === actual.length && timingSafeEqual(expected, actual)
  })
  return isOurs ? text : undefined
}

const signature = (key: Buffer, text: string): string => createHmac('sha256', key).update(text).digest('base64url')
