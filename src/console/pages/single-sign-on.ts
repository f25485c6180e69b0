import { inTransaction, type Postgres } from '../../stores/postgres.ts'
import { recordAction, recordOfUser } from '../../users/audit-log.ts'
import { addIdentity, identityText, lockIdentities, userWithIdentity } from '../../users/identities.ts'
import { acceptInvitation } from '../../users/invitations.ts'
import { addMember } from '../../users/members.ts'
import { findLink } from '../../users/one-time-links.ts'
import { holdSession } from '../../users/sessions.ts'
import { createUser, findUser } from '../../users/users.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type Visit } from '../route.ts'
import { callbackPath, type Person } from '../sign-in/provider.ts'
import { beginFlow, flowOf, providerOf } from '../sign-in/sign-on-flow.ts'
import { beginSession, judgeAttempt, ownPath } from '../sign-in/signing-in.ts'

export const singleSignOnRoutes: readonly Route[] = [
  { method: 'GET', path: '/login/oidc', access: 'everyone', handle: begin },
  { method: 'GET', path: callbackPath, access: 'everyone', handle: comeBack },
]

async function begin(visit: Visit): Promise<Reply> {
  const { address, cookie } = await beginFlow(visit, { next: ownPath(visit.query.get('next')) })
  return goTo(address, [cookie])
}

async function comeBack(visit: Visit): Promise<Reply> {
  const { services, query, cookies } = visit
  const provider = providerOf(visit)
  const flow = flowOf(visit)
  if (!flow) throw new Refusal('sign_on_failed')
  const person = await judgeAttempt(services.attempts.beginUnknown(visit), () => provider.finish(query, flow.checks))
  if (!person) throw new Refusal('sign_on_failed')
  if (flow.userId) return goTo(await connect(visit, flow.userId, person), [cookies.remove('flow')])

  const known = await userWithIdentity(services.postgres, person)
  if (known) {
    const begun = inTransaction(services.postgres, (transaction) => beginSession(visit, transaction, known, signedOn))
    // Whoever was invited under another address learns it on the page of the invitation.
    return goTo(flow.invitation ? `/invitation/${flow.invitation}` : flow.next, await begun)
  }
  return goTo(flow.next, await signInNewPerson(visit, person, flow.invitation))
}

const signedOn = 'user.signed_on'

/** Only the user who began it: the session may be another one by now. */
async function connect(visit: Visit, userId: string, person: Person): Promise<string> {
  const { services, session, address } = visit
  if (session?.user.id !== userId) throw new Refusal('sign_on_failed')
  const { email } = session.user
  const emailThere = await person.verifiedEmail()
  await inTransaction(services.postgres, async (transaction) => {
    // A new password may have ended the session since it was read. It must not leave an identity behind (decision D-211).
    if (!(await holdSession(transaction, session.id))) throw new Refusal('sign_on_failed')
    if (!(await addIdentity(transaction, userId, person, emailThere))) throw new Refusal('identity_taken')
    const details = identityText(person.issuer, emailThere)
    const entry = { actor: email, action: 'user.sign_on_connected', subject: email, details, address } as const
    await recordOfUser(transaction, userId, entry)
  })
  return '/account/security?done=connected'
}

/** Returns the cookies of a session. A user who exists is never found by the email: they sign in with the password and connect. */
async function signInNewPerson(visit: Visit, person: Person, invitation: string | undefined): Promise<string[]> {
  const { services } = visit
  const email = await person.verifiedEmail()
  return inTransaction(services.postgres, async (transaction) => {
    await lockIdentities(transaction)
    const known = await userWithIdentity(transaction, person)
    if (known) return beginSession(visit, transaction, known, signedOn)
    const invited = invitation && (await findLink(transaction, 'invitation', invitation))
    if (invited && invited.email !== email) throw new Refusal('other_email')
    if (!email || (await findUser(transaction, email))) throw new Refusal('unknown_identity')
    const id = await (invitation
      ? joinByInvitation(visit, transaction, email, invitation)
      : joinByDomain(visit, transaction, email))
    await addIdentity(transaction, id, person, email)
    return beginSession(visit, transaction, { id, email }, signedOn)
  })
}

async function joinByInvitation(
  { address }: Visit,
  transaction: Postgres,
  email: string,
  token: string,
): Promise<string> {
  const accepted = await acceptInvitation(transaction, token, { passwordHash: null })
  if (!accepted) throw new Refusal('spent_link')
  const { accountId, userId, role } = accepted
  const entry = { actor: email, action: 'member.joined', subject: email, details: role, address } as const
  await recordAction(transaction, { accountId, ...entry })
  return userId
}

async function joinByDomain({ services, address }: Visit, transaction: Postgres, email: string): Promise<string> {
  const { domain, accountId } = services.singleSignOn?.joining ?? {}
  if (!accountId || email.split('@')[1] !== domain) throw new Refusal('unknown_identity')
  const userId = await createUser(transaction, email, null)
  await addMember(transaction, accountId, userId, 'viewer')
  const entry = { actor: email, action: 'member.joined_by_domain', subject: email, details: 'viewer', address } as const
  await recordAction(transaction, { accountId, ...entry })
  return userId
}
