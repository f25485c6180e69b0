import { inTransaction } from '../../stores/postgres.ts'
import { recordAction } from '../../users/audit-log.ts'
import { findLink } from '../../users/one-time-links.ts'
import { makeFirstOwner } from '../../users/setup.ts'
import { emailOf, isEmail } from '../../users/users.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { beginSession, newPasswordFields, newPasswordOf } from '../sign-in/signing-in.ts'

export const setupRoutes: readonly Route[] = [
  { method: 'GET', path: '/setup/:token', access: 'everyone', handle: askForOwner },
  { method: 'POST', path: '/setup/:token', access: 'everyone', handle: setUp },
]

async function askForOwner(visit: Visit): Promise<Reply> {
  const link = await findLink(visit.services.postgres, 'setup', visit.params.token as string)
  if (!link) throw new Refusal('spent_link')
  return setupPage(visit, link.email ?? '')
}

async function setUp(visit: Visit): Promise<Reply> {
  const { services, form, address } = visit
  const token = visit.params.token as string
  if (!(await findLink(services.postgres, 'setup', token))) throw new Refusal('spent_link')
  const email = emailOf(form.get('email') ?? '')
  if (!isEmail(email)) return setupPage(visit, email, 'This is not an email address. Write it like you@example.com.')
  const chosen = newPasswordOf(form)
  if ('wrong' in chosen) return setupPage(visit, email, chosen.wrong)
  const passwordHash = await services.passwords.hash(chosen.password)
  const cookies = await inTransaction(services.postgres, async (transaction) => {
    const owner = await makeFirstOwner(transaction, token, { email, passwordHash })
    if (!owner) throw new Refusal('spent_link')
    const { accountId, userId } = owner
    await recordAction(transaction, { accountId, actor: email, action: 'account.set_up', subject: email, address })
    return beginSession(visit, transaction, { id: userId, email })
  })
  return goTo('/', cookies)
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
    <span class="hint">You sign in with it. Footfall sends no mail.</span></label>
  ${newPasswordFields()}
  <button class="button first">Create owner</button>
</form>`,
    }),
    wrong ? 422 : 200,
  )
