import { inTransaction } from '../../stores/postgres.ts'
import { recordOfUser } from '../../users/audit-log.ts'
import { disconnectIdentities } from '../../users/identities.ts'
import { findLink, takeLink } from '../../users/one-time-links.ts'
import { endSessionsOf } from '../../users/sessions.ts'
import { findUserById, setPassword, type User } from '../../users/users.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { newPasswordFields, newPasswordOf } from '../sign-in/signing-in.ts'

export const resetRoutes: readonly Route[] = [
  { method: 'GET', path: '/reset/:token', access: 'everyone', handle: askForNewPassword },
  { method: 'POST', path: '/reset/:token', access: 'everyone', handle: reset },
]

async function userOf({ services: { postgres }, params }: Visit): Promise<User> {
  const link = await findLink(postgres, 'reset', params.token as string)
  const user = link && (await findUserById(postgres, link.userId as string))
  if (!user) throw new Refusal('spent_link')
  return user
}

async function askForNewPassword(visit: Visit): Promise<Reply> {
  return resetPage(visit, await userOf(visit))
}

/** Does not sign in: somebody with a second factor still needs it. */
async function reset(visit: Visit): Promise<Reply> {
  const { services, form, address, cookies } = visit
  const user = await userOf(visit)
  const chosen = newPasswordOf(form)
  if ('wrong' in chosen) return resetPage(visit, user, chosen.wrong)
  const passwordHash = await services.passwords.hash(chosen.password)
  await inTransaction(services.postgres, async (transaction) => {
    if (!(await takeLink(transaction, 'reset', visit.params.token as string))) throw new Refusal('spent_link')
    await setPassword(transaction, user.id, passwordHash)
    await endSessionsOf(transaction, user.id)
    const entry = { actor: user.email, action: 'user.password_reset', subject: user.email, address } as const
    await recordOfUser(transaction, user.id, entry)
    // After the sessions: whoever is connecting with one of them has finished by now, or cannot (decision D-211).
    await disconnectIdentities(transaction, user, { actor: user.email, address })
  })
  return goTo(`/login?done=${services.singleSignOn ? 'disconnected' : 'reset'}`, [cookies.remove('session')])
}

const resetPage = (visit: Visit, { email }: User, wrong?: string): Reply =>
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
