// The members of an account. An owner may change everything; a viewer may only look.
import type { Plan } from '../accounts/plans.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'
import { switchKey } from './key-changes.ts'
import { keysLeftBehind, revokeLinksLeftBehind } from './left-behind.ts'
import { endReportsOf } from './report-changes.ts'
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

/** An existing member keeps their role. */
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

/** The addresses of the owners of an account. */
export const ownersOf = async (postgres: Postgres, accountId: string): Promise<string[]> =>
  (await membersOf(postgres, accountId)).flatMap(({ role, email }) => (role === 'owner' ? [email] : []))

interface MemberReference {
  accountId: string
  userId: string
}

/** Returns false if the account would have no owner. */
export const changeRole = (
  postgres: Postgres,
  actor: Actor,
  { accountId, userId }: MemberReference,
  role: Role,
): Promise<boolean> =>
  inTransaction(postgres, async (transaction) => {
    const member = await lockMember(transaction, { accountId, userId }, role)
    if (!member) return false
    if (member.role === role) return true
    await transaction`UPDATE members SET role = ${role} WHERE account_id = ${accountId} AND user_id = ${userId}`
    const details = `${member.role} → ${role}`
    const entry = { action: 'member.role_changed', subject: member.email, details } as const
    await recordAction(transaction, { ...actor, accountId, ...entry })
    return true
  })

/**
 * Also ends the sessions of the user and the reports that they get, deletes the user if they have no other account and, on request, ends the
 * keys and shared links that they created. Returns the ids of the disabled keys, or undefined if the account would have no owner.
 */
export const removeMember = (
  postgres: Postgres,
  actor: Actor,
  { accountId, userId }: MemberReference,
  { endsKeys, endsLinks, now }: { endsKeys: boolean; endsLinks: boolean; now: number },
): Promise<string[] | undefined> =>
  inTransaction(postgres, async (transaction) => {
    const member = await lockMember(transaction, { accountId, userId }, undefined)
    if (!member) return undefined
    const { email, role } = member
    await endReportsOf(transaction, actor, { accountId, userId, email })
    await transaction`DELETE FROM members WHERE account_id = ${accountId} AND user_id = ${userId}`
    await endSessionsOf(transaction, userId)
    await transaction`
      DELETE FROM users WHERE id = ${userId} AND NOT EXISTS (SELECT FROM members WHERE user_id = ${userId})`
    await recordAction(transaction, { ...actor, accountId, action: 'member.removed', subject: email, details: role })
    // Read again, because the owner may have seen an older list.
    const maker = { accountId, email, now }
    const keys = endsKeys ? await keysLeftBehind(transaction, maker) : []
    for (const key of keys) await switchKey(transaction, actor, key, true)
    if (endsLinks) await revokeLinksLeftBehind(transaction, actor, maker)
    return keys.map(({ id }) => id)
  })

/**
 * Returns undefined if no owner would be left. The lock on the account makes changes of its members wait for each other: two owners
 * cannot remove each other at the same time.
 */
async function lockMember(
  transaction: Postgres,
  { accountId, userId }: MemberReference,
  newRole: Role | undefined,
): Promise<Member | undefined> {
  await transaction`SELECT FROM accounts WHERE id = ${accountId} FOR UPDATE`
  const members = await membersOf(transaction, accountId)
  const member = members.find((one) => one.userId === userId)
  if (!member) throw new ChangeRefused('not_found')
  const owners = members.filter(({ role }) => role === 'owner')
  if (newRole !== 'owner' && member.role === 'owner' && owners.length === 1) return undefined
  return member
}
