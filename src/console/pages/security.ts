import { wrongCodesOf } from '../../users/audit-log.ts'
import { type ConnectedIdentity, identityOf } from '../../users/identities.ts'
import { changePassword } from '../../users/password-changes.ts'
import { recoveryCodesLeft } from '../../users/second-factor.ts'
import { endSessionOf, type SessionListing, sessionsOf, signOutEverywhere } from '../../users/sessions.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { accountField, accountHead, accountPath } from '../layout/account-head.ts'
import { fault, layout, notice } from '../layout/layout.ts'
import { dayText, relativeText, timeElement } from '../layout/times.ts'
import { goTo, type Reply, type Route, show, type UserVisit } from '../route.ts'
import { isOwnPassword, newPasswordFields, newPasswordOf } from '../sign-in/signing-in.ts'
import { forgottenPath } from './forgotten.ts'

export const securityRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/security', access: 'user', handle: (visit) => securityPage(visit) },
  { method: 'POST', path: '/account/password', access: 'user', handle: setNewPassword },
  { method: 'POST', path: '/account/sessions/end', access: 'user', handle: endOne },
  { method: 'POST', path: '/account/sessions/end-all', access: 'user', handle: endAll },
]

/** Success messages by `?done=`. */
const done: Readonly<Record<string, string>> = {
  password: 'Your password is changed. Your other sessions are signed out.',
  session: 'That session is signed out.',
  'second-factor-off': 'The second factor is off.',
  connected: 'Single sign-on is connected. You can sign in with it from now on.',
  disconnected: 'Single sign-on is disconnected.',
}

async function setNewPassword(visit: UserVisit): Promise<Reply> {
  const { services, form, session } = visit
  const chosen = newPasswordOf(form)
  if ('wrong' in chosen) return securityPage(visit, chosen.wrong)
  if (!(await isOwnPassword(visit))) return securityPage(visit, 'Your current password is not right.')
  const passwordHash = await services.passwords.hash(chosen.password)
  await changePassword(services.postgres, visit.actor, session, passwordHash)
  return goTo(accountPath(visit, '/account/security', { done: 'password' }))
}

async function endOne(visit: UserVisit): Promise<Reply> {
  await endSessionOf(visit.services.postgres, visit.actor, visit.session.user, visit.form.get('session') ?? '')
  return goTo(accountPath(visit, '/account/security', { done: 'session' }))
}

async function endAll(visit: UserVisit): Promise<Reply> {
  await signOutEverywhere(visit.services.postgres, visit.actor, visit.session.user)
  return goTo('/login?done=everywhere', [visit.cookies.remove('session')])
}

async function securityPage(visit: UserVisit, wrong?: string): Promise<Reply> {
  const { services, query, session } = visit
  const provider = services.singleSignOn?.provider
  const [sessions, wrongCodes, codesLeft, identity] = await Promise.all([
    sessionsOf(services.postgres, session.user.id),
    wrongCodesOf(services.postgres, session.user.email),
    recoveryCodesLeft(services.postgres, session.user.id),
    provider && identityOf(services.postgres, session.user.id, provider.issuer),
  ])
  const message = done[query.get('done') ?? '']
  const body = html`${accountHead(visit, '/account/security')}
${message && notice(message)}${wrong && fault(wrong)}${wrongCodes[0] && wrongCodesNotice(wrongCodes.length, wrongCodes[0], services.now())}
<section aria-labelledby="password"><h2 id="password">Password</h2>${session.user.hasPassword ? passwordForm(visit) : noPassword}</section>
${
  session.user.hasPassword &&
  html`<section aria-labelledby="second-factor"><h2 id="second-factor">Second factor</h2>
<div class="card padded row people-row">${secondFactor(visit, codesLeft)}</div></section>`
}
${
  provider &&
  html`<section aria-labelledby="single-sign-on"><h2 id="single-sign-on">Single sign-on</h2>
<div class="card padded row people-row">${singleSignOn(visit, provider.name, identity)}</div></section>`
}
<section aria-labelledby="sessions"><h2 id="sessions">Where you are signed in</h2>
<div class="card"><table class="people">
<thead><tr><th scope="col">Browser</th><th scope="col" class="hide">Address</th><th scope="col">Last seen</th><th scope="col"><span class="unseen">Sign out</span></th></tr></thead>
<tbody>${sessions.map((one) => sessionRow(visit, one))}</tbody></table></div>
<form class="people-after" method="post" action="/account/sessions/end-all">${tokenField(visit.formToken)}${accountField(visit)}
<button class="button">Sign out everywhere</button></form>
<p class="note">${mailNote(visit)}</p></section>`
  return show(layout({ title: 'Your sign-in', visit, body }), wrong ? 422 : 200)
}

const mailNote = ({ services, session }: UserVisit): string =>
  services.outbox
    ? `A new browser that signs in, and a second factor that is turned on or off, are announced by mail to ${session.user.email}.`
    : 'Footfall sends no mail about new browsers: no mail server is set up.'

function wrongCodesNotice(count: number, { at, address }: { at: Date; address: string }, now: number): Html {
  const last = html`${timeElement(at, relativeText(at, now))} from ${address}`
  return fault(html`<b>Somebody typed your password and a wrong code</b> ${count === 1 ? last : html`${count} times, last ${last}`}.
If that was not you, somebody knows your password: change it here. The second factor has kept them out.`)
}

const passwordForm = (visit: UserVisit): Html => html`
<form class="card form people-form" method="post" action="/account/password">
  ${tokenField(visit.formToken)}${accountField(visit)}
  <input type="hidden" name="email" autocomplete="username" value="${visit.session.user.email}">
  <label>Current password <input name="password" type="password" autocomplete="current-password" required></label>
  ${newPasswordFields()}
  <div><button class="button">Change password</button><span class="hint">Signs out your other sessions.</span></div>
</form>
${visit.services.outbox && html`<p class="note">Forgotten your current password? <a href="${forgottenPath}">Set a new one by mail</a></p>`}`

const noPassword = html`<p class="card padded">You have none: you sign in with single sign-on. Whoever runs this Footfall can make a link to set one: <code>footfall user reset</code></p>`

function singleSignOn(visit: UserVisit, name: string, identity: ConnectedIdentity | undefined): Html {
  const path = accountPath(visit, '/account/single-sign-on')
  return identity
    ? html`<p><b>Connected.</b> ${name} signs you in, without a password and a code.<span class="sub">${identity.email ? `As ${identity.email}, since` : 'Since'} ${timeElement(identity.connectedAt, dayText(identity.connectedAt))}</span></p>
<span class="spring"></span><a class="button" href="${path}">Disconnect</a>`
    : html`<p><b>Not connected.</b> Sign in with ${name} instead of your password.</p>
<span class="spring"></span><a class="button first" href="${path}">Connect</a>`
}

function secondFactor(visit: UserVisit, codesLeft: number): Html {
  const [path, isOn] = [accountPath(visit, '/account/second-factor'), visit.session.user.hasSecondFactor]
  if (!isOn) {
    return html`<p><b>Off.</b> A code from an app on your phone, in addition to the password. A stolen password alone is then worth nothing.</p>
<span class="spring"></span><a class="button first" href="${path}">Turn on</a>`
  }
  const left = codesLeft === 1 ? '1 recovery code is left' : `${codesLeft} recovery codes are left`
  return html`<p><b>On.</b> Signing in asks for a code of your app. ${left}${codesLeft < 3 && '; for new ones turn it off and on again'}.</p>
<span class="spring"></span><a class="button" href="${path}">Turn off</a>`
}

const sessionRow = (visit: UserVisit, { id, browser, address, seenAt }: SessionListing): Html => html`
<tr><th scope="row">${browser}${id === visit.session.id && html` <span class="people-me">this one</span>`}</th><td class="hide">${address}</td>
<td data-label="Last seen">${timeElement(seenAt, relativeText(seenAt, visit.services.now()))}</td><td class="right">${
  id !== visit.session.id &&
  html`<form method="post" action="/account/sessions/end">${tokenField(visit.formToken)}${accountField(visit)}
<input type="hidden" name="session" value="${id}"><button class="button small">Sign out<span class="unseen"> ${browser}, ${address}</span></button></form>`
}</td></tr>`
