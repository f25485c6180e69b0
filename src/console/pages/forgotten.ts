// Asks for a mail with a link to set a new password. Without a mail server, this page does not exist.
import { lifetimes } from '../../users/one-time-links.ts'
import { emailOf, isEmail } from '../../users/users.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type Reply, type Route, show, type Visit } from '../route.ts'

export const forgottenPath = '/login/forgotten'

export const forgottenRoutes: readonly Route[] = [
  { method: 'GET', path: forgottenPath, access: 'everyone', handle: ask },
  { method: 'POST', path: forgottenPath, access: 'everyone', handle: request },
]

function ask(visit: Visit): Reply {
  refuseWithoutMail(visit)
  return formPage(visit, visit.session?.user.email ?? '')
}

/** The same answer for every address: it must not tell who has a user (decision D-223). */
function request(visit: Visit): Reply {
  refuseWithoutMail(visit)
  const { services, form, address, clientAddress } = visit
  const email = emailOf(form.get('email') ?? '')
  if (!isEmail(email)) return formPage(visit, email, 'This is not an email address. Write it like maria@example.com.')
  const waitSeconds = services.resetRequests.take({ email, address, clientAddress })
  if (waitSeconds > 0) throw new Refusal('too_many', waitSeconds)
  return show(
    layout({
      title: 'Check your mail',
      visit,
      narrow: true,
      body: html`<h1>Check your mail</h1>
<p class="lead">If somebody signs in here as <b>${email}</b>, a mail with a link to set a new password is on its way to them.</p>
<p>The link works once, within ${lifetimes.reset}. Nothing changes before it is used.</p>
<p class="note">No mail after some minutes? Look into the spam folder, and check the address: <a href="${forgottenPath}">try again</a>. An address gets three mails an hour at most. Whoever runs this Footfall can also make a link: <code>footfall user reset</code></p>
<p><a class="button" href="/login">Back to sign-in</a></p>`,
    }),
  )
}

function refuseWithoutMail({ services }: Visit): void {
  if (!services.outbox) throw new Refusal('not_found')
}

const formPage = (visit: Visit, email: string, wrong?: string): Reply =>
  show(
    layout({
      title: 'Forgotten password',
      visit,
      narrow: true,
      body: html`<h1>Forgotten your password?</h1>
<p class="lead">Type the address with which you sign in. You get a mail with a link to set a new password.</p>
${wrong && fault(wrong)}
<form class="card form" method="post">
  ${tokenField(visit.formToken)}
  <label>Email <input name="email" type="email" autocomplete="username" required autofocus maxlength="254" value="${email}"></label>
  <button class="button first">Send the mail</button>
</form>
<p><a class="button" href="/login">Back to sign-in</a></p>`,
    }),
    wrong ? 422 : 200,
  )
