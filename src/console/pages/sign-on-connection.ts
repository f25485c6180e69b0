// Connects single sign-on with the user who is signed in, and disconnects it.
import { disconnectIdentities, identityOf } from '../../users/identities.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { accountField, accountPath } from '../layout/account-head.ts'
import { fault, layout } from '../layout/layout.ts'
import { goTo, type Reply, type Route, show, type UserVisit } from '../route.ts'
import { beginFlow, providerOf } from '../sign-in/sign-on-flow.ts'
import { isOwnPassword, judgeCode } from '../sign-in/signing-in.ts'
import { codeField, passwordField, wrongCode } from './second-factor.ts'

export const signOnConnectionRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/single-sign-on', access: 'user', handle: (visit) => connectionPage(visit) },
  { method: 'POST', path: '/account/single-sign-on', access: 'user', handle: change },
]

const isConnected = async (visit: UserVisit): Promise<boolean> =>
  (await identityOf(visit.services.postgres, visit.session.user.id, providerOf(visit).issuer)) !== undefined

/** Compares with the current state, because a form that is sent twice must not connect and disconnect. */
async function change(visit: UserVisit): Promise<Reply> {
  const target = visit.form.get('to')
  if (target !== ((await isConnected(visit)) ? 'disconnect' : 'connect')) {
    return goTo(accountPath(visit, '/account/security'))
  }
  if (!(await isOwnPassword(visit))) return connectionPage(visit, 'Your password is not right.')
  return target === 'connect' ? connect(visit) : disconnect(visit)
}

/**
 * Signing in with the provider needs no second factor of ours, so connecting needs a code, too. The page has a link to the provider,
 * because our policy lets no form lead to another host.
 */
async function connect(visit: UserVisit): Promise<Reply> {
  const { user } = visit.session
  const { name } = providerOf(visit)
  if (user.hasSecondFactor && !(await judgeCode(visit, user))) return connectionPage(visit, wrongCode)
  const { address, cookie } = await beginFlow(visit, { next: '/account/security', userId: user.id })
  const body = html`<h1>Continue at ${name}</h1>
<p class="lead">Sign in there with the account that shall sign you in here.</p>
<p class="row"><a class="button first" href="${address}">Continue at ${name}</a><a class="button" href="${accountPath(visit, '/account/security')}">Cancel</a></p>`
  return { ...show(layout({ title: 'Single sign-on', visit, narrow: true, body })), cookies: [cookie] }
}

async function disconnect(visit: UserVisit): Promise<Reply> {
  await disconnectIdentities(visit.services.postgres, visit.actor, visit.session.user, providerOf(visit).issuer)
  return goTo(accountPath(visit, '/account/security', { done: 'disconnected' }))
}

async function connectionPage(visit: UserVisit, wrong?: string): Promise<Reply> {
  const { name } = providerOf(visit)
  const body = html`${(await isConnected(visit)) ? disconnectForm(visit, name, wrong) : connectForm(visit, name, wrong)}`
  return show(layout({ title: 'Single sign-on', visit, narrow: true, body }), wrong ? 422 : 200)
}

const connectForm = (visit: UserVisit, name: string, wrong: string | undefined): Html => html`
<h1>Connect single sign-on</h1>
<p class="lead">Afterwards you can also sign in with ${name}. Footfall then asks for neither password nor code.</p>
${wrong && fault(wrong)}
<form class="card form" method="post">
  ${tokenField(visit.formToken)}${accountField(visit)}<input type="hidden" name="to" value="connect">
  ${passwordField}
  ${visit.session.user.hasSecondFactor && codeField('Six digits of your authenticator app, or a recovery code.')}
  <div class="row"><button class="button first">Connect</button><a class="button" href="${accountPath(visit, '/account/security')}">Cancel</a></div>
</form>`

function disconnectForm(visit: UserVisit, name: string, wrong: string | undefined): Html {
  if (!visit.session.user.hasPassword) {
    return html`<h1>Disconnect single sign-on</h1>
<p class="lead">You have no password, so ${name} is your only way in. Whoever runs this Footfall can make a link to set one, which also disconnects: <code>footfall user reset</code></p>
<p><a class="button" href="${accountPath(visit, '/account/security')}">Back</a></p>`
  }
  return html`<h1>Disconnect single sign-on</h1>
<p class="lead">Afterwards ${name} no longer signs you in here, and you need your password.</p>
${wrong && fault(wrong)}
<form class="card form" method="post">
  ${tokenField(visit.formToken)}${accountField(visit)}<input type="hidden" name="to" value="disconnect">
  ${passwordField}
  <div class="row"><button class="button danger">Disconnect</button><a class="button" href="${accountPath(visit, '/account/security')}">Cancel</a></div>
</form>`
}
