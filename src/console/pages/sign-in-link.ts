// A link that signs in, for `npm run try` and `npm run dev`.
import { openLink, userOfLink } from '../../users/one-time-links.ts'
import { signInWithLink } from '../../users/sign-ins.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { layout } from '../layout/layout.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { ownPath, sessionCookies } from '../sign-in/signing-in.ts'
import { askForCode } from './sign-in.ts'

export const signInLinkRoutes: readonly Route[] = [
  { method: 'GET', path: '/sign-in/:token', access: 'everyone', handle: ask },
  { method: 'POST', path: '/sign-in/:token', access: 'everyone', handle: signIn },
]

/** Opening the link changes nothing: programs that show a preview of it open it, too. */
async function ask(visit: Visit): Promise<Reply> {
  const { postgres } = visit.services
  const { email } = await userOfLink(postgres, await openLink(postgres, 'sign-in', visit.params.token as string))
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
  const next = ownPath(query.get('next'))
  const { user, session } = await signInWithLink(services.postgres, services.outbox, params.token as string, visit)
  return session ? goTo(next, sessionCookies(visit, session)) : askForCode(visit, user, next)
}
