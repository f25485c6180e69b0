import { openLink, userOfLink } from '../../users/one-time-links.ts'
import { resetPassword } from '../../users/password-changes.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout } from '../layout/layout.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { newPasswordFields, newPasswordOf } from '../sign-in/signing-in.ts'

export const resetRoutes: readonly Route[] = [
  { method: 'GET', path: '/reset/:token', access: 'everyone', handle: askForNewPassword },
  { method: 'POST', path: '/reset/:token', access: 'everyone', handle: reset },
]

async function askForNewPassword(visit: Visit): Promise<Reply> {
  return resetPage(visit, await emailOf(visit))
}

async function emailOf({ services: { postgres }, params }: Visit): Promise<string> {
  const { email } = await userOfLink(postgres, await openLink(postgres, 'reset', params.token as string))
  return email
}

/** Does not sign in: somebody with a second factor still needs it. */
async function reset(visit: Visit): Promise<Reply> {
  const { services, form, address, cookies } = visit
  const email = await emailOf(visit)
  const chosen = newPasswordOf(form)
  if ('wrong' in chosen) return resetPage(visit, email, chosen.wrong)
  const passwordHash = await services.passwords.hash(chosen.password)
  await resetPassword(services.postgres, visit.params.token as string, passwordHash, address)
  return goTo(`/login?done=${services.singleSignOn ? 'disconnected' : 'reset'}`, [cookies.remove('session')])
}

const resetPage = (visit: Visit, email: string, wrong?: string): Reply =>
  show(
    layout({
      title: 'Set a new password',
      visit,
      narrow: true,
      body: html`<h1>Set a new password</h1>
<p class="lead">For ${email}. You are signed out everywhere${visit.services.singleSignOn && ', and single sign-on is disconnected. You can connect it again afterwards'}.</p>
${wrong && fault(wrong)}
<form class="card form" method="post">
  ${tokenField(visit.formToken)}
  <input type="hidden" name="email" autocomplete="username" value="${email}">
  ${newPasswordFields()}
  <button class="button first">Set password</button>
</form>`,
    }),
    wrong ? 422 : 200,
  )
