// Who belongs to an account. An owner may change everything; a viewer may look.
import type { Plan } from '../accounts/plans.ts'
import type { Postgres } from '../stores/postgres.ts'
import { endSessionsOf } from './sessions.ts'

export const roles = ['owner', 'viewer'] as const
export type Role = (typeof roles)[number]

/** An account as one of its members sees it. */
export interface Membership {
  accountId: string
  name: string
  plan: Plan
  role: Role
}

export const isRole = (text: string): text is Role => (roles as readonly string[]).includes(text)

/** The accounts of a user, the one that was joined first at the top. */
export const membershipsOf = (postgres: Postgres, userId: string): Promise<Membership[]> => postgres<Membership[]>`
  SELECT account_id AS "accountId", name, plan, role
  FROM members JOIN accounts ON accounts.id = account_id
  WHERE user_id = ${userId} ORDER BY members.created_at, account_id`

/** Somebody who is a member already keeps their role. */
export const addMember = (postgres: Postgres, accountId: string, userId: string, role: Role) => postgres`
  INSERT INTO members (account_id, user_id, role) VALUES (${accountId}, ${userId}, ${role}) ON CONFLICT DO NOTHING`

export interface Member {
  userId: string
  email: string
  role: Role
  hasSecondFactor: boolean
  signedInAt: Date | null
}

/** The members of an account, owners first. */
export const membersOf = (postgres: Postgres, accountId: string): Promise<Member[]> => postgres<Member[]>`
  SELECT user_id AS "userId", email, role, totp_secret IS NOT NULL AS "hasSecondFactor", signed_in_at AS "signedInAt"
  FROM members JOIN users ON users.id = user_id
  WHERE account_id = ${accountId} ORDER BY role, email`

export type MemberChange = Member | 'unknown' | 'last owner'

/** Returns the member as it was before, or why nothing was changed. Call it in a transaction. */
export async function changeRole(
  transaction: Postgres,
  accountId: string,
  userId: string,
  role: Role,
): Promise<MemberChange> {
  const member = await lockMember(transaction, accountId, userId, role)
  if (typeof member === 'string') return member
  await transaction`UPDATE members SET role = ${role} WHERE account_id = ${accountId} AND user_id = ${userId}`
  return member
}

/** Also ends the sessions of the user, and deletes the user when no account is left. Call it in a transaction. */
export async function removeMember(transaction: Postgres, accountId: string, userId: string): Promise<MemberChange> {
  const member = await lockMember(transaction, accountId, userId, undefined)
  if (typeof member === 'string') return member
  await transaction`DELETE FROM members WHERE account_id = ${accountId} AND user_id = ${userId}`
  await endSessionsOf(transaction, userId)
  await transaction`
    DELETE FROM users WHERE id = ${userId} AND NOT EXISTS (SELECT FROM members WHERE user_id = ${userId})`
  return member
}

/** The lock on the account makes changes of its members wait for each other: two owners cannot remove each other at the same time. */
async function lockMember(
  transaction: Postgres,
  accountId: string,
  userId: string,
  newRole: Role | undefined,
): Promise<MemberChange> {
  await transaction`SELECT FROM accounts WHERE id = ${accountId} FOR UPDATE`
  const members = await membersOf(transaction, accountId)
  const member = members.find((one) => one.userId === userId)
  if (!member) return 'unknown'
  const owners = members.filter(({ role }) => role === 'owner')
  if (newRole !== 'owner' && member.role === 'owner' && owners.length === 1) return 'last owner'
  return member
}
