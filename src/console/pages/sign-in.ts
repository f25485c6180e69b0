import { rightPasswordNote, rightPasswordSeconds, userOfNote } from '../../users/right-password.ts'
import { endSession } from '../../users/sessions.ts'
import { recordWrongCode, signIn } from '../../users/sign-ins.ts'
import { emailOf, findUser, isEmail, type UserSecrets } from '../../users/users.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout, notice } from '../layout/layout.ts'
import { goTo, type Reply, type Route, show, type Visit } from '../route.ts'
import { judgeCode, judgeWithinLimits, ownPath, sessionCookies } from '../sign-in/signing-in.ts'
import { forgottenPath } from './forgotten.ts'
import { codeField, wrongCode } from './second-factor.ts'

export const signInRoutes: readonly Route[] = [
  { method: 'GET', path: '/login', access: 'everyone', handle: askForPassword },
  { method: 'POST', path: '/login', access: 'everyone', handle: signInWithPassword },
  { method: 'POST', path: '/logout', access: 'user', handle: signOut },
]

const done: Readonly<Record<string, string>> = {
  reset: 'Your password is set. Sign in with it.',
  disconnected:
    'Your password is set. Sign in with it. Single sign-on is disconnected; you can connect it again under “Your sign-in”.',
  everywhere: 'You are signed out everywhere.',
}

/** Asks for a code instead if the password was already right. */
async function askForPassword(visit: Visit): Promise<Reply> {
  if (visit.session) return goTo('/')
  const isAgain = visit.query.get('again') !== null
  return show(!isAgain && (await userAskedForCode(visit)) ? codePage(visit) : signInPage(visit))
}

const userAskedForCode = ({ services, codeCookie }: Visit): Promise<UserSecrets | undefined> =>
  userOfNote(services.postgres, services.keySecrets, codeCookie, services.now())

async function signInWithPassword(visit: Visit): Promise<Reply> {
  const { services, form } = visit
  if (form.has('code')) return signInWithCode(visit)
  const email = emailOf(form.get('email') ?? '')
  const user = await judgeWithinLimits(visit, 'password', email, async (knownUser) => {
    const candidate = isEmail(email) ? await findUser(services.postgres, email) : undefined
    const isRight = await services.passwords.verify(form.get('password') ?? '', candidate?.passwordHash, knownUser)
    return candidate && isRight ? candidate : undefined
  })
  if (!user) return show(signInPage(visit, 'Email or password is not right.'), 401)
  const next = ownPath(form.get('next'))
  if (user.hasSecondFactor) return askForCode(visit, user, next)
  return goTo(next, sessionCookies(visit, await signIn(services.postgres, services.outbox, user, visit)))
}

/** Leads a user whose password or link was right to the second factor. */
export function askForCode({ services, cookies }: Visit, user: UserSecrets, next: string): Reply {
  const note = rightPasswordNote(services.keySecrets, user, services.now())
  return goTo(`/login?next=${encodeURIComponent(next)}`, [cookies.set('code', note, rightPasswordSeconds)])
}

async function signInWithCode(visit: Visit): Promise<Reply> {
  const { services, form } = visit
  const user = await userAskedForCode(visit)
  if (!user) return show(signInPage(visit, 'That took too long. Sign in again.'), 401)
  const verdict = await judgeCode(visit, user)
  if (!verdict) {
    await recordWrongCode(services.postgres, user, visit.address)
    return show(codePage(visit, wrongCode), 401)
  }
  const action = verdict === 'recovery' ? 'user.recovery_code_used' : 'user.signed_in'
  const session = await signIn(services.postgres, services.outbox, user, visit, action)
  return goTo(ownPath(form.get('next')), sessionCookies(visit, session))
}

async function signOut({ services, cookie, cookies }: Visit): Promise<Reply> {
  await endSession(services.postgres, cookie as string)
  return goTo('/login', [cookies.remove('session')])
}

const nextOf = ({ form, query }: Visit): string => form.get('next') ?? query.get('next') ?? ''

const nextField = (visit: Visit): Html => html`<input type="hidden" name="next" value="${nextOf(visit)}">`

function signInPage(visit: Visit, wrong?: string): Html {
  const message = done[visit.query.get('done') ?? '']
  const provider = visit.services.singleSignOn?.provider
  return layout({
    title: 'Sign in',
    visit,
    narrow: true,
    body: html`<h1>Sign in</h1>
${message && notice(message)}${wrong && fault(wrong)}
<form class="card form" method="post" action="/login">
  ${tokenField(visit.formToken)}${nextField(visit)}
  <label>Email <input name="email" type="email" autocomplete="username" required autofocus maxlength="254" value="${visit.form.get('email') ?? ''}"></label>
  <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
  <button class="button first">Sign in</button>
</form>
${provider && html`<p class="other-way"><a class="button" href="/login/oidc?next=${encodeURIComponent(nextOf(visit))}">Sign in with ${provider.name}</a></p>`}
<p class="note">${
      visit.services.outbox
        ? html`Forgotten your password? <a href="${forgottenPath}">Set a new one</a>`
        : html`Forgotten your password? Ask whoever runs this Footfall for a one-time link: <code>footfall user reset</code>`
    }</p>`,
  })
}

const codePage = (visit: Visit, wrong?: string): Html =>
  layout({
    title: 'Sign in',
    visit,
    narrow: true,
    body: html`<h1>One more step</h1>
<p class="lead">Your password is right. Now the code of your app.</p>
${wrong && fault(wrong)}
<form class="card form" method="post" action="/login">
  ${tokenField(visit.formToken)}${nextField(visit)}
  ${codeField('Six digits of your authenticator app, or one of your recovery codes.')}
  <button class="button first">Sign in</button>
</form>
<p class="note"><a href="/login?again">Start again with another address</a></p>`,
  })
