// Links that work once: to make the first owner, to accept an invitation, to set a new password, to sign in. A link holds 256 random bits;
// PostgreSQL holds only their hash, so a stolen table opens nothing.
import { hash, randomBytes } from 'node:crypto'
import { newId } from '../accounts/ids.ts'
import type { Postgres } from '../stores/postgres.ts'
import { ChangeRefused } from './change-refused.ts'
import type { Role } from './members.ts'
import { findUserById, type UserSecrets } from './users.ts'

export const lifetimes = {
  setup: '24 hours',
  invitation: '7 days',
  reset: '24 hours',
  'sign-in': '10 minutes',
} as const

export type LinkPurpose = keyof typeof lifetimes

export interface NewLink {
  purpose: LinkPurpose
  accountId?: string
  role?: Role
  email?: string
  userId?: string
}

export interface OneTimeLink {
  id: string
  accountId: string | null
  role: Role | null
  email: string | null
  userId: string | null
}

/** Returns the token for the link. Also deletes expired links. */
export async function createLink(
  postgres: Postgres,
  { purpose, accountId, role, email, userId }: NewLink,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await postgres`DELETE FROM one_time_links WHERE expires_at <= now()`
  await postgres`
    INSERT INTO one_time_links (hash, id, purpose, account_id, role, email, user_id, expires_at)
    VALUES (${hashOf(token)}, ${newId('link')}, ${purpose}, ${accountId ?? null}, ${role ?? null}, ${email ?? null},
            ${userId ?? null}, now() + ${lifetimes[purpose]}::text::interval)`
  return token
}

/** The address of a link, made from PUBLIC_URL. */
export const linkAddress = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/${purpose}/${token}`

const columns = (postgres: Postgres) => postgres`id, account_id AS "accountId", role, email, user_id AS "userId"`

/** Does not use up the link. */
export async function findLink(
  postgres: Postgres,
  purpose: LinkPurpose,
  token: string,
): Promise<OneTimeLink | undefined> {
  const [row] = await postgres<OneTimeLink[]>`
    SELECT ${columns(postgres)} FROM one_time_links
    WHERE hash = ${hashOf(token)} AND purpose = ${purpose} AND expires_at > now()`
  return row
}

/** Like findLink, but throws if the link does not work. */
export const openLink = async (postgres: Postgres, purpose: LinkPurpose, token: string): Promise<OneTimeLink> =>
  unspent(await findLink(postgres, purpose, token))

/**
 * Uses up the link in the transaction that needs it. Of two requests at the same time, the second waits for the first: it is refused if
 * the first commits, and gets the link if the first fails.
 */
export async function takeLink(transaction: Postgres, purpose: LinkPurpose, token: string): Promise<OneTimeLink> {
  const [row] = await transaction<OneTimeLink[]>`
    DELETE FROM one_time_links WHERE hash = ${hashOf(token)} AND purpose = ${purpose} AND expires_at > now()
    RETURNING ${columns(transaction)}`
  return unspent(row)
}

/** A new password ends the other links to set one: there may be several, because each mail has one. */
export const endResetLinks = (postgres: Postgres, userId: string) =>
  postgres`DELETE FROM one_time_links WHERE purpose = 'reset' AND user_id = ${userId}`

/** The user of a link that sets a password or signs in. */
export const userOfLink = async (postgres: Postgres, { userId }: OneTimeLink): Promise<UserSecrets> =>
  unspent(await findUserById(postgres, userId as string))

function unspent<Value>(value: Value | undefined): Value {
  if (!value) throw new ChangeRefused('spent_link')
  return value
}

const hashOf = (token: string): Buffer => hash('sha256', token, 'buffer')
