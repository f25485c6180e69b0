// Invitations to an account: one-time links for one address each. Nobody can sign up without one.
import type { Postgres } from '../stores/postgres.ts'
import { addMember, type Role } from './members.ts'
import { createLink, takeLink } from './one-time-links.ts'
import { createUser, findUser } from './users.ts'

export interface Invitation {
  id: string
  email: string
  role: Role
  createdAt: Date
  expiresAt: Date
}

/** Returns the token. An earlier invitation of the same address to the same account stops working. */
export async function invite(
  transaction: Postgres,
  { accountId, email, role }: { accountId: string; email: string; role: Role },
): Promise<string> {
  await transaction`
    DELETE FROM one_time_links WHERE purpose = 'invitation' AND account_id = ${accountId} AND email = ${email}`
  return createLink(transaction, { purpose: 'invitation', accountId, email, role })
}

export const invitationsTo = (postgres: Postgres, accountId: string): Promise<Invitation[]> => postgres<Invitation[]>`
  SELECT id, email, role, created_at AS "createdAt", expires_at AS "expiresAt" FROM one_time_links
  WHERE purpose = 'invitation' AND account_id = ${accountId} AND expires_at > now() ORDER BY created_at DESC, id`

/** Returns the address that was invited, or undefined if the account has no such invitation. */
export async function revokeInvitation(postgres: Postgres, accountId: string, id: string): Promise<string | undefined> {
  const [row] = await postgres<{ email: string }[]>`
    DELETE FROM one_time_links WHERE purpose = 'invitation' AND account_id = ${accountId} AND id = ${id}
    RETURNING email`
  return row?.email
}

export interface Accepted {
  accountId: string
  userId: string
  email: string
  role: Role
}

/**
 * Makes a member of the invited person. `passwordHash` is for somebody who has no user yet, null for one without a password; for a user,
 * `userId` is who is signed in.
 * Returns undefined if the link does not work, or not for this person. Throw then, so that the link is kept.
 */
export async function acceptInvitation(
  transaction: Postgres,
  token: string,
  person: { passwordHash: string | null } | { userId: string },
): Promise<Accepted | undefined> {
  const link = await takeLink(transaction, 'invitation', token)
  if (!link) return undefined
  const { accountId, email, role } = link as { accountId: string; email: string; role: Role }
  const known = await findUser(transaction, email)
  // A new password must never come with an invitation: whoever wrote it could otherwise take over a user who exists.
  if ('userId' in person ? known?.id !== person.userId : known) return undefined
  const userId = 'userId' in person ? person.userId : await createUser(transaction, email, person.passwordHash)
  await addMember(transaction, accountId, userId, role)
  return { accountId, userId, email, role }
}
