// Who somebody is at the provider of single sign-on: issuer and subject, never the email (decision D-189).
import type { Postgres } from '../stores/postgres.ts'

export interface Identity {
  issuer: string
  subject: string
}

export async function userWithIdentity(
  postgres: Postgres,
  { issuer, subject }: Identity,
): Promise<{ id: string; email: string } | undefined> {
  const [row] = await postgres<{ id: string; email: string }[]>`
    SELECT users.id, email FROM user_identities JOIN users ON users.id = user_id
    WHERE issuer = ${issuer} AND subject = ${subject}`
  return row
}

/** Returns false if the identity belongs to a user already, or the user has one of this issuer. */
export async function addIdentity(
  transaction: Postgres,
  userId: string,
  { issuer, subject }: Identity,
): Promise<boolean> {
  const { count } = await transaction`
    INSERT INTO user_identities (issuer, subject, user_id) VALUES (${issuer}, ${subject}, ${userId}) ON CONFLICT DO NOTHING`
  return count > 0
}

export async function hasIdentity(postgres: Postgres, userId: string, issuer: string): Promise<boolean> {
  const rows = await postgres`SELECT FROM user_identities WHERE user_id = ${userId} AND issuer = ${issuer}`
  return rows.length > 0
}

/** Returns false if the user has none. */
export async function removeIdentity(transaction: Postgres, userId: string, issuer: string): Promise<boolean> {
  const { count } = await transaction`DELETE FROM user_identities WHERE user_id = ${userId} AND issuer = ${issuer}`
  return count > 0
}

/** Two new people must not be added at the same time: both could be the same person. */
export const lockIdentities = (transaction: Postgres) =>
  transaction`SELECT pg_advisory_xact_lock(hashtext('footfall identities'))`
