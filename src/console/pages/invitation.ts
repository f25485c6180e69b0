import { inTransaction } from '../../stores/postgres.ts'
import { recordAction } from '../../users/audit-log.ts'
import { acceptInvitation } from '../../users/invitations.ts'
import { findLink, type OneTimeLink } from '../../users/one-time-links.ts'
import { findUser } from '../../users/users.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms.ts'
import { fault, layout } from '../layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { beginFlow } from '../sign-on-flow.ts'
import { beginSession, newPasswordFields, newPasswordOf } from '../signing-in.ts'

export const invitationRoutes: readonly Route[] = [
  { method: 'GET', path: '/invitation/:token', access: 'everyone', handle: showInvitation },
  { method: 'POST', path: '/invitation/:token', access: 'everyone', handle: accept },
]

/** What must happen before this visitor can be the invited person. */
type Standing = 'new' | 'signed in' | 'must sign in' | 'somebody else'

async function invitationOf({ services: { postgres }, params, session }: Visit) {
  const link = await findLink(postgres, 'invitation', params.token as string)
  if (!link) throw new Refusal('spent_link')
  const { email } = link as OneTimeLink & { email: string }
  const standing: Standing = session
    ? session.user.email === email
      ? 'signed in'
      : 'somebody else'
    : (await findUser(postgres, email))
      ? 'must sign in'
      : 'new'
  const [account] = await postgres<{ name: string }[]>`SELECT name FROM accounts WHERE id = ${link.accountId}`
  return { email, role: link.role, account: account?.name ?? '', standing }
}

type Invited = Awaited<ReturnType<typeof invitationOf>>

async function showInvitation(visit: Visit): Promise<Reply> {
  const invited = await invitationOf(visit)
  if (!visit.query.has(singleSignOn)) return invitationPage(visit, invited)
  const { address, cookie } = await beginFlow(visit, { next: '/', invitation: visit.params.token as string })
  return goTo(address, [cookie])
}

/** A link of the page to itself, so that the token of the invitation is in no page. */
const singleSignOn = 'single-sign-on'

async function accept(visit: Visit): Promise<Reply> {
  const { services, form, address } = visit
  const invited = await invitationOf(visit)
  const { email, standing } = invited
  if (standing === 'somebody else' || standing === 'must sign in') return invitationPage(visit, invited, '')
  const chosen = standing === 'new' ? newPasswordOf(form) : undefined
  if (chosen && 'wrong' in chosen) return invitationPage(visit, invited, chosen.wrong)
  const person = chosen
    ? { passwordHash: await services.passwords.hash(chosen.password) }
    : { userId: visit.session?.user.id as string }
  const cookies = await inTransaction(services.postgres, async (transaction) => {
    const accepted = await acceptInvitation(transaction, visit.params.token as string, person)
    if (!accepted) throw new Refusal('spent_link')
    const { accountId, userId, role } = accepted
    const entry = { actor: email, action: 'member.joined', subject: email, details: role, address } as const
    await recordAction(transaction, { accountId, ...entry })
    return chosen ? beginSession(visit, transaction, { id: userId, email }) : []
  })
  return goTo('/', cookies)
}

/** `wrong` is undefined for a page that was asked for, and says what is wrong after a form. */
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
  if (standing === 'must sign in') {
    return html`<p>There is a user with this address already. Sign in, then accept the invitation.</p>
<p><a class="button first" href="/login?next=${encodeURIComponent(visit.path)}">Sign in</a></p>`
  }
  const provider = standing === 'new' ? visit.services.singleSignOn?.provider : undefined
  return html`<form class="${standing === 'new' && 'card '}form" method="post">
  ${tokenField(visit.formToken)}
  ${standing === 'new' && html`<input type="hidden" name="email" autocomplete="username" value="${email}">${newPasswordFields()}`}
  <button class="button first">Join ${account}</button>
</form>
${provider && html`<p class="other-way"><a class="button" href="?${singleSignOn}">Continue with ${provider.name}</a></p>`}`
}
