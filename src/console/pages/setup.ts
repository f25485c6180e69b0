import { openLink } from '../../users/one-time-links.ts'
import { makeFirstOwner } from '../../users/setup.ts'
import { emailOf, isEmail } from '../../users/users.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout } from '../layout/layout.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { newPasswordFields, newPasswordOf, sessionCookies } from '../sign-in/signing-in.ts'

export const setupRoutes: readonly Route[] = [
  { method: 'GET', path: '/setup/:token', access: 'everyone', handle: askForOwner },
  { method: 'POST', path: '/setup/:token', access: 'everyone', handle: setUp },
]

async function askForOwner(visit: Visit): Promise<Reply> {
  const { email } = await openLink(visit.services.postgres, 'setup', visit.params.token as string)
  return setupPage(visit, email ?? '')
}

async function setUp(visit: Visit): Promise<Reply> {
  const { services, form } = visit
  const token = visit.params.token as string
  await openLink(services.postgres, 'setup', token)
  const email = emailOf(form.get('email') ?? '')
  if (!isEmail(email)) return setupPage(visit, email, 'This is not an email address. Write it like you@example.com.')
  const chosen = newPasswordOf(form)
  if ('wrong' in chosen) return setupPage(visit, email, chosen.wrong)
  const passwordHash = await services.passwords.hash(chosen.password)
  return goTo(
    '/',
    sessionCookies(
      visit,
      await makeFirstOwner(services.postgres, services.outbox, token, { email, passwordHash }, visit),
    ),
  )
}

const setupPage = (visit: Visit, email: string, wrong?: string): Reply =>
  show(
    layout({
      title: 'Set up Footfall',
      visit,
      narrow: true,
      body: html`<h1>Set up Footfall</h1>
<p class="lead">You become the first owner of this installation. You can invite others later.</p>
${wrong && fault(wrong)}
<form class="card form" method="post">
  ${tokenField(visit.formToken)}
  <label>Email <input name="email" type="email" autocomplete="username" required autofocus maxlength="254" value="${email}">
    <span class="hint">You sign in with it. ${visit.services.outbox ? 'Footfall sends notices to it.' : 'Footfall sends no mail.'}</span></label>
  ${newPasswordFields()}
  <button class="button first">Create owner</button>
</form>`,
    }),
    wrong ? 422 : 200,
  )
