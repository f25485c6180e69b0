import { connectIdentity } from '../../users/identities.ts'
import { signOn, signOnNewPerson } from '../../users/single-sign-on.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type Visit } from '../route.ts'
import { callbackPath, type Person } from '../sign-in/provider.ts'
import { beginFlow, flowOf, providerOf } from '../sign-in/sign-on-flow.ts'
import { judgeAttempt, ownPath, sessionCookies } from '../sign-in/signing-in.ts'

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
  const { postgres, outbox } = services
  const provider = providerOf(visit)
  const flow = flowOf(visit)
  if (!flow) throw new Refusal('sign_on_failed')
  const person = await judgeAttempt(services.attempts.beginUnknown(visit), () => provider.finish(query, flow.checks))
  if (!person) throw new Refusal('sign_on_failed')
  if (flow.userId) return goTo(await connect(visit, flow.userId, person), [cookies.remove('flow')])

  const { invitation, next } = flow
  const session = await signOn(postgres, outbox, person, visit)
  // If the invitation is for another address, its page says so.
  if (session) return goTo(invitation ? `/invitation/${invitation}` : next, sessionCookies(visit, session))
  const { joining } = services.singleSignOn ?? {}
  const newPerson = { email: await person.verifiedEmail(), invitation, joining }
  return goTo(next, sessionCookies(visit, await signOnNewPerson(postgres, outbox, person, visit, newPerson)))
}

/** Throws if another user is signed in by now. */
async function connect(visit: Visit, userId: string, person: Person): Promise<string> {
  const { services, session, address } = visit
  if (session?.user.id !== userId) throw new Refusal('sign_on_failed')
  const actor = { actor: session.user.email, address }
  await connectIdentity(services.postgres, actor, session, person, await person.verifiedEmail())
  return '/account/security?done=connected'
}
