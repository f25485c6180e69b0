// The second factor of a user: the secret that an authenticator app shares with us, and recovery codes for a lost phone.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import type { KeySecrets } from '../accounts/keys.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordOfUser } from './audit-log.ts'
import { derivedKeys } from './derived-keys.ts'
import { stepOfCode } from './totp.ts'
import type { UserReference } from './users.ts'

const recoveryCodeCount = 10
const nonceBytes = 12
const tagBytes = 16

/**
 * Turns the second factor on. The user has typed a code of the secret; `step` is the step of that code, which then cannot be used again.
 * Returns the recovery codes, which are stored only as hashes, or undefined if there already is a second factor.
 */
export const turnOnSecondFactor = (
  postgres: Postgres,
  secrets: KeySecrets,
  actor: Actor,
  user: UserReference,
  { secret, step }: { secret: string; step: number },
): Promise<string[] | undefined> =>
  inTransaction(postgres, async (transaction) => {
    const { count } = await transaction`
      UPDATE users SET totp_secret = ${seal(secrets, user.id, secret)}, totp_step = ${step}
      WHERE id = ${user.id} AND totp_secret IS NULL`
    if (count === 0) return undefined
    const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode)
    await transaction`DELETE FROM recovery_codes WHERE user_id = ${user.id}`
    const rows = codes.map((code) => ({ user_id: user.id, hash: hashOf(code) }))
    await transaction`INSERT INTO recovery_codes ${transaction(rows)}`
    await recordOfUser(transaction, actor, user, 'user.second_factor_on')
    return codes
  })

export const turnOffSecondFactor = (postgres: Postgres, actor: Actor, user: UserReference): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    await dropSecondFactor(transaction, user.id)
    await recordOfUser(transaction, actor, user, 'user.second_factor_off')
  })

/** Call it in a transaction. */
export async function dropSecondFactor(transaction: Postgres, userId: string): Promise<void> {
  await transaction`UPDATE users SET totp_secret = NULL WHERE id = ${userId}`
  await transaction`DELETE FROM recovery_codes WHERE user_id = ${userId}`
}

export async function recoveryCodesLeft(postgres: Postgres, userId: string): Promise<number> {
  const [row] = await postgres<{ left: number }[]>`
    SELECT count(*)::int AS left FROM recovery_codes WHERE user_id = ${userId}`
  return row?.left ?? 0
}

/** The number of second factors that each version of KEY_SECRETS can decrypt. Those that no version can decrypt are not counted. */
export async function secondFactorsBySecret(postgres: Postgres, secrets: KeySecrets): Promise<Map<number, number>> {
  const rows = await postgres<{ id: string; sealed: Buffer }[]>`
    SELECT id, totp_secret AS sealed FROM users WHERE totp_secret IS NOT NULL`
  const versionOf = ({ id, sealed }: { id: string; sealed: Buffer }) =>
    secrets.find((secret) => unseal([secret], id, sealed) !== undefined)?.version
  const byVersion = Map.groupBy(rows, versionOf)
  return new Map(secrets.map(({ version }) => [version, byVersion.get(version)?.length ?? 0]))
}

/** Accepts each code of an app and each recovery code once, also if two requests send it at the same time. */
export async function useCode(
  postgres: Postgres,
  secrets: KeySecrets,
  { userId, code, now }: { userId: string; code: string; now: number },
): Promise<'app' | 'recovery' | undefined> {
  const typed = code.replace(/[\s-]/g, '').toLowerCase()
  if (/^\d{6}$/.test(typed))
    return (await useAppCode(postgres, secrets, { userId, code: typed, now })) ? 'app' : undefined
  const { count } = await postgres`DELETE FROM recovery_codes WHERE user_id = ${userId} AND hash = ${hashOf(typed)}`
  return count > 0 ? 'recovery' : undefined
}

async function useAppCode(
  postgres: Postgres,
  secrets: KeySecrets,
  { userId, code, now }: { userId: string; code: string; now: number },
): Promise<boolean> {
  const [row] = await postgres<{ sealed: Buffer | null }[]>`
    SELECT totp_secret AS sealed FROM users WHERE id = ${userId}`
  const secret = row?.sealed && unseal(secrets, userId, row.sealed)
  const step = secret ? stepOfCode(secret, code, now) : undefined
  if (!secret || step === undefined) return false
  // Sealed again, so that an older secret of KEY_SECRETS can be removed once everybody has signed in.
  const { count } = await postgres`
    UPDATE users SET totp_step = ${step}, totp_secret = ${seal(secrets, userId, secret)}
    WHERE id = ${userId} AND totp_step < ${step} AND totp_secret = ${row.sealed as Buffer}`
  return count > 0
}

/** Encrypts the secret, bound to the user: a row copied to another user cannot be read. */
function seal(secrets: KeySecrets, userId: string, secret: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', derivedKeys(secrets, 'second factor')[0], nonce)
  cipher.setAAD(Buffer.from(userId))
  const text = Buffer.concat([cipher.update(secret), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

function unseal(secrets: KeySecrets, userId: string, sealed: Buffer): string | undefined {
  const tagEnd = nonceBytes + tagBytes
  for (const key of derivedKeys(secrets, 'second factor')) {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(userId))
    decipher.setAuthTag(sealed.subarray(nonceBytes, tagEnd))
    try {
      return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]).toString()
    } catch {
      // Sealed with another secret.
    }
  }
  return undefined
}

/** Nobody can guess 80 random bits, so a plain hash is enough. */
function newRecoveryCode(): string {
  const characters = Array.from(randomBytes(16), (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31]).join('')
  return (characters.match(/.{4}/g) as string[]).join('-')
}

const hashOf = (code: string): Buffer => hash('sha256', code.replaceAll('-', ''), 'buffer')
