// A link that signs in, for `npm run try` and `npm run dev`.
import { inTransaction } from '../../stores/postgres.ts'
import { findLink, takeLink } from '../../users/one-time-links.ts'
import { findUserById, type UserSecrets } from '../../users/users.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { beginSession, ownPath } from '../sign-in/signing-in.ts'
import { askForCode } from './sign-in.ts'

export const signInLinkRoutes: readonly Route[] = [
  { method: 'GET', path: '/sign-in/:token', access: 'everyone', handle: ask },
  { method: 'POST', path: '/sign-in/:token', access: 'everyone', handle: signIn },
]

async function userOf({ services: { postgres }, params }: Visit): Promise<UserSecrets> {
  const link = await findLink(postgres, 'sign-in', params.token as string)
  const user = link && (await findUserById(postgres, link.userId as string))
  if (!user) throw new Refusal('spent_link')
  return user
}

/** Opening the link changes nothing: programs that show a preview of it open it, too. */
async function ask(visit: Visit): Promise<Reply> {
  const { email } = await userOf(visit)
  return show(
    layout({
      title: 'Sign in',
      visit,
      narrow: true,
      body: html`<h1>Welcome to Footfall</h1>
<p class="lead">This link signs you in as ${email}. It works once.</p>
<form class="card form" method="post">${tokenField(visit.formToken)}<button class="button first" autofocus>Open the dashboard</button></form>`,
    }),
  )
}

async function signIn(visit: Visit): Promise<Reply> {
  const { services, query, params } = visit
  const user = await userOf(visit)
  const next = ownPath(query.get('next'))
  return inTransaction(services.postgres, async (transaction) => {
    if (!(await takeLink(transaction, 'sign-in', params.token as string))) throw new Refusal('spent_link')
    if (user.hasSecondFactor) return askForCode(visit, user, next)
    return goTo(next, await beginSession(visit, transaction, user, 'user.signed_in_with_link'))
  })
}
