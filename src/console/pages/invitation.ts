import { acceptInvitation, openInvitation } from '../../users/invitations.ts'
import { findUser } from '../../users/users.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout } from '../layout/layout.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { beginFlow } from '../sign-in/sign-on-flow.ts'
import { newPasswordFields, newPasswordOf, sessionCookies } from '../sign-in/signing-in.ts'

export const invitationRoutes: readonly Route[] = [
  { method: 'GET', path: '/invitation/:token', access: 'everyone', handle: showInvitation },
  { method: 'POST', path: '/invitation/:token', access: 'everyone', handle: accept },
]

/** Who the visitor is, judged by the session alone: the page must not tell whether the invited address has a user (decision D-213). */
type Standing = 'not signed in' | 'signed in' | 'somebody else'

async function invitationOf({ services: { postgres }, params, session }: Visit) {
  const invitation = await openInvitation(postgres, params.token as string)
  const { email } = invitation
  const standing: Standing = !session ? 'not signed in' : session.user.email === email ? 'signed in' : 'somebody else'
  return { ...invitation, standing }
}

type Invited = Awaited<ReturnType<typeof invitationOf>>

async function showInvitation(visit: Visit): Promise<Reply> {
  const invited = await invitationOf(visit)
  if (visit.query.has(signIn)) return goTo(`/login?next=${encodeURIComponent(visit.path)}`)
  if (!visit.query.has(singleSignOn)) return invitationPage(visit, invited)
  const { address, cookie } = await beginFlow(visit, { next: '/', invitation: visit.params.token as string })
  return goTo(address, [cookie])
}

/** Queries of links from the page to itself, so that no page contains the token of the invitation. */
const [signIn, singleSignOn] = ['sign-in', 'single-sign-on']

async function accept(visit: Visit): Promise<Reply> {
  const { services, form } = visit
  const invited = await invitationOf(visit)
  const { email, standing } = invited
  if (standing === 'somebody else') return invitationPage(visit, invited, '')
  const chosen = standing === 'not signed in' ? newPasswordOf(form) : undefined
  if (chosen && 'wrong' in chosen) return invitationPage(visit, invited, chosen.wrong)
  if (chosen && (await findUser(services.postgres, email))) return invitationPage(visit, invited, mustSignIn)
  const person = chosen
    ? { passwordHash: await services.passwords.hash(chosen.password) }
    : { userId: visit.session?.user.id as string }
  const session = await acceptInvitation(services.postgres, visit.params.token as string, person, visit)
  return goTo('/', session && sessionCookies(visit, session))
}

const mustSignIn = 'This did not work. If you have signed in here before, sign in, and accept the invitation then.'

/** `wrong`: the mistake in a form that was sent; undefined after a GET. */
const invitationPage = (visit: Visit, invited: Invited, wrong?: string): Reply =>
  show(
    layout({
      title: 'Invitation',
      visit,
      narrow: true,
      body: html`<h1>Join ${invited.account}</h1>
<p class="lead">You are invited as ${invited.email}. ${invited.role === 'owner' ? 'As an owner you can change everything.' : 'As a viewer you can see everything, but change nothing.'}</p>
${wrong && fault(wrong)}
${nextStep(visit, invited)}`,
    }),
    wrong === undefined ? 200 : 422,
  )

function nextStep(visit: Visit, { email, account, standing }: Invited): Html {
  if (standing === 'somebody else') {
    return html`<p class="warning">You are signed in as ${visit.session?.user.email}, but this invitation is for ${email}. Sign out, then open the link again.</p>
<form method="post" action="/logout">${tokenField(visit.formToken)}<button class="button first">Sign out</button></form>`
  }
  const join = html`<button class="button first">Join ${account}</button>`
  if (standing === 'signed in')
    return html`<form class="form" method="post">${tokenField(visit.formToken)}${join}</form>`
  const provider = visit.services.singleSignOn?.provider
  return html`<form class="card form" method="post">
  ${tokenField(visit.formToken)}
  <input type="hidden" name="email" autocomplete="username" value="${email}">${newPasswordFields()}
  ${join}
</form>
${provider && html`<p class="other-way"><a class="button" href="?${singleSignOn}">Continue with ${provider.name}</a></p>`}
<p class="other-way"><a class="button" href="?${signIn}">I already have a password here</a></p>`
}
