// Identities at the provider of single sign-on: issuer and subject, never the email (decision D-189).
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordOfUser } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'
import type { Session } from './sessions.ts'
import type { UserReference } from './users.ts'

export interface Identity {
  issuer: string
  subject: string
}

export async function userWithIdentity(
  postgres: Postgres,
  { issuer, subject }: Identity,
): Promise<UserReference | undefined> {
  const [row] = await postgres<UserReference[]>`
    SELECT users.id, users.email FROM user_identities JOIN users ON users.id = user_id
    WHERE issuer = ${issuer} AND subject = ${subject}`
  return row
}

/**
 * `email` is for people to read. It must be verified, because a user could make up any other. Returns false if the identity already
 * belongs to a user, or the user already has one of this issuer.
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

/** Connects an identity with the user of the session; `email` as above. */
export const connectIdentity = (
  postgres: Postgres,
  actor: Actor,
  { id, user }: Session,
  identity: Identity,
  email: string | undefined,
): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    // A new password may have ended the session since it was read. Then no identity may be added (decision D-211). The lock makes a
    // transaction that ends the session wait for this one, so that it finds the identity and removes it.
    const { count } = await transaction`SELECT FROM user_sessions WHERE id = ${id} FOR KEY SHARE`
    if (count === 0) throw new ChangeRefused('sign_on_failed')
    if (!(await addIdentity(transaction, user.id, identity, email))) throw new ChangeRefused('identity_taken')
    await recordOfUser(transaction, actor, user, 'user.sign_on_connected', identityText(identity.issuer, email))
  })

export interface ConnectedIdentity {
  /** Null if unknown. */
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
 * Disconnects the user from one issuer or from all, also from those that are not configured now: they may be configured again. Writes an
 * entry for each to the audit log, and returns the removed identities in words.
 */
export const disconnectIdentities = (
  postgres: Postgres,
  actor: Actor,
  user: UserReference,
  issuer: string | null = null,
): Promise<string[]> =>
  inTransaction(postgres, async (transaction) => {
    const rows = await transaction<{ issuer: string; email: string | null }[]>`
      DELETE FROM user_identities WHERE user_id = ${user.id} AND (${issuer}::text IS NULL OR issuer = ${issuer})
      RETURNING issuer, email`
    const texts = rows.map((row) => identityText(row.issuer, row.email))
    for (const details of texts) await recordOfUser(transaction, actor, user, 'user.sign_on_disconnected', details)
    return texts
  })

/** `maria@example.com at https://login.example.com/` */
const identityText = (issuer: string, email: string | null | undefined): string =>
  `${email ?? 'unknown email'} at ${issuer}`
