// Encrypts texts that PostgreSQL must keep but nobody may read in it, with a key derived from KEY_SECRETS.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { derivedKeys, type KeyUse } from './derived-keys.ts'
import type { KeySecrets } from './keys.ts'

const nonceBytes = 12
const tagBytes = 16

/** Binds the text to the id of its row: sealed bytes that are copied to another row cannot be read. */
export function seal(secrets: KeySecrets, use: KeyUse, rowId: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', derivedKeys(secrets, use)[0], nonce)
  cipher.setAAD(Buffer.from(rowId))
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Undefined: it was sealed with a secret that KEY_SECRETS does not have any more. */
export function unseal(secrets: KeySecrets, use: KeyUse, rowId: string, sealed: Buffer): string | undefined {
  const tagEnd = nonceBytes + tagBytes
  for (const key of derivedKeys(secrets, use)) {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(rowId))
    decipher.setAuthTag(sealed.subarray(nonceBytes, tagEnd))
    try {
      return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]).toString()
    } catch {
      // Sealed with another secret.
    }
  }
  return undefined
}
