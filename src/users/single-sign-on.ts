// Signing in with single sign-on. New people join with an invitation or with an email of the domain.
import type { Outbox } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { recordAction } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'
import { addIdentity, type Identity, userWithIdentity } from './identities.ts'
import { join } from './invitations.ts'
import { addMember } from './members.ts'
import { findLink } from './one-time-links.ts'
import { type Browser, type NewSession, signIn } from './sign-ins.ts'
import { createUser, findUser, type UserReference } from './users.ts'

/** People with a verified email of the domain become viewers of the account. */
export interface Joining {
  domain: string
  accountId: string
}

interface NewPerson {
  /** Verified by the provider. */
  email: string | undefined
  /** The token of an invitation. */
  invitation: string | undefined
  joining: Joining | undefined
}

const signedOn = 'user.signed_on'

/** Returns undefined if nobody here has the identity. */
export async function signOn(
  postgres: Postgres,
  outbox: Outbox | undefined,
  identity: Identity,
  browser: Browser,
): Promise<NewSession | undefined> {
  const user = await userWithIdentity(postgres, identity)
  return user && signIn(postgres, outbox, user, browser, signedOn)
}

/** Never finds an existing user by email: they sign in with the password and connect. A new person gets no mail about the sign-in. */
export const signOnNewPerson = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  identity: Identity,
  browser: Browser,
  { email, invitation, joining }: NewPerson,
): Promise<NewSession> =>
  inTransaction(postgres, async (transaction) => {
    // Two new people must not be added at the same time: both could be the same person.
    await transaction`SELECT pg_advisory_xact_lock(hashtext('footfall identities'))`
    const existing = await userWithIdentity(transaction, identity)
    if (existing) return signIn(transaction, outbox, existing, browser, signedOn)
    const invited = invitation && (await findLink(transaction, 'invitation', invitation))
    if (invited && invited.email !== email) throw new ChangeRefused('other_email')
    if (!email || (await findUser(transaction, email))) throw new ChangeRefused('unknown_identity')
    const { address } = browser
    const user = await (invitation
      ? join(transaction, invitation, { passwordHash: null }, address)
      : joinByDomain(transaction, email, joining, address))
    await addIdentity(transaction, user.id, identity, email)
    return signIn(transaction, undefined, user, browser, signedOn)
  })

async function joinByDomain(
  transaction: Postgres,
  email: string,
  { domain, accountId }: Partial<Joining> = {},
  address: string,
): Promise<UserReference> {
  if (!accountId || email.split('@')[1] !== domain) throw new ChangeRefused('unknown_identity')
  const id = await createUser(transaction, email, null)
  await addMember(transaction, accountId, id, 'viewer')
  const entry = { actor: email, action: 'member.joined_by_domain', subject: email, details: 'viewer', address } as const
  await recordAction(transaction, { accountId, ...entry })
  return { id, email }
}
