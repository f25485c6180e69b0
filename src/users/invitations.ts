// Invitations to an account: one-time links for one address each. Nobody can sign up without one.
import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'
import { invitationLetter } from './letters.ts'
import { addMember, membersOf, type Role } from './members.ts'
import { createLink, lifetimes, openLink, takeLink } from './one-time-links.ts'
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

interface MadeInvitation {
  token: string
  /** False: there is no mail server, or the address or the account has got too many invitations in an hour. */
  isMailed: boolean
}

/** Returns undefined for somebody who is a member already. An earlier invitation of the same address to the same account stops working. */
export const inviteMember = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  actor: Actor,
  { accountId, email, role }: Invited,
): Promise<MadeInvitation | undefined> =>
  inTransaction(postgres, async (transaction) => {
    if ((await membersOf(transaction, accountId)).some((member) => member.email === email)) return undefined
    await transaction`
      DELETE FROM one_time_links WHERE purpose = 'invitation' AND account_id = ${accountId} AND email = ${email}`
    await recordAction(transaction, { ...actor, accountId, action: 'member.invited', subject: email, details: role })
    const token = await createLink(transaction, { purpose: 'invitation', accountId, email, role })
    const kind = 'invitation'
    if (!outbox || !(await mayQueue(transaction, { kinds: [kind], recipient: email, accountId })))
      return { token, isMailed: false }
    const letter = invitationLetter(outbox, { account: await nameOf(transaction, accountId), by: actor, role, token })
    const expiresIn = lifetimes.invitation
    await queueMessage(transaction, outbox, { kind, recipient: email, accountId, letter, expiresIn })
    return { token, isMailed: true }
  })

async function nameOf(postgres: Postgres, accountId: string): Promise<string> {
  const [account] = await postgres<{ name: string }[]>`SELECT name FROM accounts WHERE id = ${accountId}`
  return account?.name ?? ''
}

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
  return { accountId, email, role, account: await nameOf(postgres, accountId) }
}

/** A signed-in user, or a new person, who may have no password. */
type Joiner = { userId: string } | { passwordHash: string | null }

/** Makes the invited person a member, and signs in a new person, who gets no mail about it. */
export const acceptInvitation = (
  postgres: Postgres,
  token: string,
  person: Joiner,
  browser: Browser,
): Promise<NewSession | undefined> =>
  inTransaction(postgres, async (transaction) => {
    const user = await join(transaction, token, person, browser.address)
    return 'userId' in person ? undefined : signIn(transaction, undefined, user, browser)
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
