// The second factor of a user: the secret that an authenticator app shares with us, and recovery codes for a lost phone.
import { hash, randomBytes } from 'node:crypto'
import type { KeySecrets } from '../accounts/keys.ts'
import { seal, unseal } from '../accounts/sealing.ts'
import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordOfUser } from './audit-log.ts'
import { secondFactorLetter } from './letters.ts'
import { stepOfCode } from './totp.ts'
import type { UserReference } from './users.ts'

const recoveryCodeCount = 10

/**
 * Turns the second factor on. The user has typed a code of the secret; `step` is the step of that code, which then cannot be used again.
 * Returns the recovery codes, which are stored only as hashes, or undefined if there already is a second factor.
 */
export const turnOnSecondFactor = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  secrets: KeySecrets,
  actor: Actor,
  user: UserReference,
  { secret, step }: { secret: string; step: number },
): Promise<string[] | undefined> =>
  inTransaction(postgres, async (transaction) => {
    const { count } = await transaction`
      UPDATE users SET totp_secret = ${seal(secrets, 'second factor', user.id, secret)}, totp_step = ${step}
      WHERE id = ${user.id} AND totp_secret IS NULL`
    if (count === 0) return undefined
    const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode)
    await transaction`DELETE FROM recovery_codes WHERE user_id = ${user.id}`
    const rows = codes.map((code) => ({ user_id: user.id, hash: hashOf(code) }))
    await transaction`INSERT INTO recovery_codes ${transaction(rows)}`
    await recordOfUser(transaction, actor, user, 'user.second_factor_on')
    await announce(transaction, outbox, user, { isOn: true, by: actor })
    return codes
  })

export const turnOffSecondFactor = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  actor: Actor,
  user: UserReference,
): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    const wasOn = await dropSecondFactor(transaction, user.id)
    await recordOfUser(transaction, actor, user, 'user.second_factor_off')
    if (wasOn) await announce(transaction, outbox, user, { isOn: false, by: actor })
  })

/** Call it in a transaction. Returns whether there was one. */
async function dropSecondFactor(transaction: Postgres, userId: string): Promise<boolean> {
  const { count } = await transaction`
    UPDATE users SET totp_secret = NULL WHERE id = ${userId} AND totp_secret IS NOT NULL`
  await transaction`DELETE FROM recovery_codes WHERE user_id = ${userId}`
  return count > 0
}

/** Whoever knows the password could otherwise fill the mailbox. */
const mostPerHour = 10

async function announce(
  transaction: Postgres,
  outbox: Outbox | undefined,
  { email: recipient }: UserReference,
  change: { isOn: boolean; by: Actor },
): Promise<void> {
  const kind = 'second factor'
  const accountId = null
  if (!outbox || !(await mayQueue(transaction, { kinds: [kind], recipient, accountId, mostPerHour }))) return
  const letter = secondFactorLetter(outbox, recipient, { ...change, at: new Date() })
  await queueMessage(transaction, outbox, { kind, recipient, accountId, letter })
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
    secrets.find((secret) => unseal([secret], 'second factor', id, sealed) !== undefined)?.version
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
  const secret = row?.sealed && unseal(secrets, 'second factor', userId, row.sealed)
  const step = secret ? stepOfCode(secret, code, now) : undefined
  if (!secret || step === undefined) return false
  // Sealed again, so that an older secret of KEY_SECRETS can be removed once everybody has signed in.
  const { count } = await postgres`
    UPDATE users SET totp_step = ${step}, totp_secret = ${seal(secrets, 'second factor', userId, secret)}
    WHERE id = ${userId} AND totp_step < ${step} AND totp_secret = ${row.sealed as Buffer}`
  return count > 0
}

/** Nobody can guess 80 random bits, so a plain hash is enough. */
function newRecoveryCode(): string {
  const characters = Array.from(randomBytes(16), (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31]).join('')
  return (characters.match(/.{4}/g) as string[]).join('-')
}

const hashOf = (code: string): Buffer => hash('sha256', code.replaceAll('-', ''), 'buffer')
