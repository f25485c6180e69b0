// Who somebody is at the provider of single sign-on: issuer and subject, never the email (decision D-189).
import type { Postgres } from '../stores/postgres.ts'
import { type Actor, recordOfUser } from './audit-log.ts'
import type { User } from './users.ts'

export interface Identity {
  issuer: string
  subject: string
}

export async function userWithIdentity(
  postgres: Postgres,
  { issuer, subject }: Identity,
): Promise<{ id: string; email: string } | undefined> {
  const [row] = await postgres<{ id: string; email: string }[]>`
    SELECT users.id, users.email FROM user_identities JOIN users ON users.id = user_id
    WHERE issuer = ${issuer} AND subject = ${subject}`
  return row
}

/**
 * `email`: a verified one, for people to read; whoever connects could make up any other. Returns false if the identity belongs to a user
 * already, or the user has one of this issuer.
 */
export async function addIdentity(
  transaction: Postgres,
  userId: string,
  { issuer, subject }: Identity,
  email: string | undefined,
): Promise<boolean> {
  const { count } = await transaction`
    INSERT INTO user_identities (issuer, subject, user_id, email)
    VALUES (${issuer}, ${subject}, ${userId}, ${email ?? null}) ON CONFLICT DO NOTHING`
  return count > 0
}

export interface ConnectedIdentity {
  /** Null if it is not known. */
  email: string | null
  connectedAt: Date
}

export async function identityOf(
  postgres: Postgres,
  userId: string,
  issuer: string,
): Promise<ConnectedIdentity | undefined> {
  const [row] = await postgres<ConnectedIdentity[]>`
    SELECT email, created_at AS "connectedAt" FROM user_identities WHERE user_id = ${userId} AND issuer = ${issuer}`
  return row
}

/**
 * Disconnects the user from one issuer, or from all of them, also from one that is not configured now: it may be configured again. Writes
 * an entry for each to the audit log, and returns what was connected, in words.
 */
export async function disconnectIdentities(
  transaction: Postgres,
  { id, email }: Pick<User, 'id' | 'email'>,
  actor: Actor,
  issuer: string | null = null,
): Promise<string[]> {
  const rows = await transaction<{ issuer: string; email: string | null }[]>`
    DELETE FROM user_identities WHERE user_id = ${id} AND (${issuer}::text IS NULL OR issuer = ${issuer})
    RETURNING issuer, email`
  const gone = rows.map((row) => identityText(row.issuer, row.email))
  for (const details of gone) {
    await recordOfUser(transaction, id, { ...actor, action: 'user.sign_on_disconnected', subject: email, details })
  }
  return gone
}

/** `maria@example.com at https://login.example.com/` */
export const identityText = (issuer: string, email: string | null | undefined): string =>
  `${email ?? 'unknown email'} at ${issuer}`

/** Two new people must not be added at the same time: both could be the same person. */
export const lockIdentities = (transaction: Postgres) =>
  transaction`SELECT pg_advisory_xact_lock(hashtext('footfall identities'))`
