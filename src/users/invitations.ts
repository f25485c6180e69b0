// Invitations to an account: one-time links for one address each. Nobody can sign up without one.
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'
import { addMember, membersOf, type Role } from './members.ts'
import { createLink, openLink, takeLink } from './one-time-links.ts'
import { type Browser, type NewSession, signIn } from './sign-ins.ts'
import { createUser, findUser } from './users.ts'

interface Invited {
  accountId: string
  email: string
  role: Role
}

export interface Invitation extends Omit<Invited, 'accountId'> {
  id: string
  createdAt: Date
  expiresAt: Date
}

/**
 * Returns the token, or undefined for somebody who is a member already. An earlier invitation of the same address to the same account
 * stops working.
 */
export const inviteMember = (
  postgres: Postgres,
  actor: Actor,
  { accountId, email, role }: Invited,
): Promise<string | undefined> =>
  inTransaction(postgres, async (transaction) => {
    if ((await membersOf(transaction, accountId)).some((member) => member.email === email)) return undefined
    await transaction`
      DELETE FROM one_time_links WHERE purpose = 'invitation' AND account_id = ${accountId} AND email = ${email}`
    await recordAction(transaction, { ...actor, accountId, action: 'member.invited', subject: email, details: role })
    return createLink(transaction, { purpose: 'invitation', accountId, email, role })
  })

export const invitationsTo = (postgres: Postgres, accountId: string): Promise<Invitation[]> => postgres<Invitation[]>`
  SELECT id, email, role, created_at AS "createdAt", expires_at AS "expiresAt" FROM one_time_links
  WHERE purpose = 'invitation' AND account_id = ${accountId} AND expires_at > now() ORDER BY created_at DESC, id`

export const revokeInvitation = (postgres: Postgres, actor: Actor, accountId: string, id: string): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    const [row] = await transaction<{ email: string }[]>`
      DELETE FROM one_time_links WHERE purpose = 'invitation' AND account_id = ${accountId} AND id = ${id}
      RETURNING email`
    if (!row) throw new ChangeRefused('not_found')
    await recordAction(transaction, { ...actor, accountId, action: 'member.invitation_revoked', subject: row.email })
  })

/** Does not use up the invitation. `account` is the name of the account. */
export async function openInvitation(postgres: Postgres, token: string): Promise<Invited & { account: string }> {
  const { email, role, accountId } = (await openLink(postgres, 'invitation', token)) as Invited
  const [account] = await postgres<{ name: string }[]>`SELECT name FROM accounts WHERE id = ${accountId}`
  return { accountId, email, role, account: account?.name ?? '' }
}

/** A signed-in user, or a new person, who may have no password. */
type Joiner = { userId: string } | { passwordHash: string | null }

/** Makes the invited person a member, and signs in a new person. */
export const acceptInvitation = (
  postgres: Postgres,
  token: string,
  person: Joiner,
  browser: Browser,
): Promise<NewSession | undefined> =>
  inTransaction(postgres, async (transaction) => {
    const user = await join(transaction, token, person, browser.address)
    return 'userId' in person ? undefined : signIn(transaction, user, browser)
  })

/** Call it in a transaction. */
export async function join(transaction: Postgres, token: string, person: Joiner, address: string) {
  const { accountId, email, role } = (await takeLink(transaction, 'invitation', token)) as Invited
  const user = await findUser(transaction, email)
  // An invitation never sets the password of an existing user: anybody with the link could otherwise take over the user.
  if ('userId' in person ? user?.id !== person.userId : user) throw new ChangeRefused('spent_link')
  const id = 'userId' in person ? person.userId : await createUser(transaction, email, person.passwordHash)
  await addMember(transaction, accountId, id, role)
  const entry = { action: 'member.joined', subject: email, details: role } as const
  await recordAction(transaction, { accountId, actor: email, address, ...entry })
  return { id, email }
}
