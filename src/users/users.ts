import { newId } from '../accounts/ids.ts'
import type { Postgres } from '../stores/postgres.ts'

export interface UserReference {
  id: string
  email: string
}

export interface User extends UserReference {
  /** Whether signing in also asks for a code of an authenticator app. */
  hasSecondFactor: boolean
  /** Without a password, the user signs in with single sign-on only. */
  hasPassword: boolean
}

/** In lower case: people type their address in any case. */
export const emailOf = (text: string): string => text.trim().toLowerCase()

/** Not a full check, which would need a mail to the address. It finds a missing @, stray spaces and control characters. */
export const isEmail = (text: string): boolean => text.length <= 254 && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text)

export async function createUser(postgres: Postgres, email: string, passwordHash: string | null): Promise<string> {
  const id = newId('user')
  await postgres`INSERT INTO users (id, email, password_hash) VALUES (${id}, ${email}, ${passwordHash})`
  return id
}

export interface UserSecrets extends User {
  passwordHash: string | null
}

const selectUser = (postgres: Postgres) => postgres`
  SELECT id, email, password_hash AS "passwordHash", totp_secret IS NOT NULL AS "hasSecondFactor",
         password_hash IS NOT NULL AS "hasPassword"
  FROM users`

export async function findUser(postgres: Postgres, email: string): Promise<UserSecrets | undefined> {
  const [row] = await postgres<UserSecrets[]>`${selectUser(postgres)} WHERE email = ${email}`
  return row
}

export async function findUserById(postgres: Postgres, id: string): Promise<UserSecrets | undefined> {
  const [row] = await postgres<UserSecrets[]>`${selectUser(postgres)} WHERE id = ${id}`
  return row
}

export const setPassword = (postgres: Postgres, id: string, passwordHash: string) =>
  postgres`UPDATE users SET password_hash = ${passwordHash} WHERE id = ${id}`

export interface UserListing {
  email: string
  /** `owner of Main` and so on. */
  roles: string[]
  hasSecondFactor: boolean
  signedInAt: Date | null
  createdAt: Date
}

export const listUsers = (postgres: Postgres): Promise<UserListing[]> => postgres<UserListing[]>`
  SELECT email, totp_secret IS NOT NULL AS "hasSecondFactor", signed_in_at AS "signedInAt", users.created_at AS "createdAt",
         ARRAY(SELECT role || ' of ' || name FROM members JOIN accounts ON accounts.id = account_id
               WHERE user_id = users.id ORDER BY members.created_at) AS roles
  FROM users ORDER BY email`
