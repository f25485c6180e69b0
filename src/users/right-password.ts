// Between password and code, a browser holds a signed note that names the user whose password was right. It is no session: it only allows
// to type a code, for five minutes, and a new password invalidates it.
import { hash } from 'node:crypto'
import { signed, signedText } from '../accounts/derived-keys.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import type { Postgres } from '../stores/postgres.ts'
import { findUserById, type UserSecrets } from './users.ts'

export const rightPasswordSeconds = 5 * 60

export const rightPasswordNote = (secrets: KeySecrets, user: UserSecrets, now: number): string =>
  signed(secrets, 'right password', `${user.id}.${now + rightPasswordSeconds * 1000}.${fingerprint(user)}`)

/** The user whose password was right, if the note is ours and still valid. */
export async function userOfNote(
  postgres: Postgres,
  secrets: KeySecrets,
  note: string | undefined,
  now: number,
): Promise<UserSecrets | undefined> {
  const text = note && signedText(secrets, 'right password', note)
  if (!text) return undefined
  const [id = '', until, expected] = text.split('.')
  if (now >= Number(until)) return undefined
  const user = await findUserById(postgres, id)
  return user?.hasSecondFactor && fingerprint(user) === expected ? user : undefined
}

const fingerprint = ({ passwordHash }: UserSecrets): string =>
  hash('sha256', passwordHash ?? '', 'base64url').slice(0, 22)
