import { encode } from 'uqr'
import { turnOffSecondFactor, turnOnSecondFactor } from '../../users/second-factor.ts'
import { isTotpSecret, newTotpSecret, otpauthLink, stepOfCode } from '../../users/totp.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { accountField, accountPath } from '../layout/account-head.ts'
import { fault, layout } from '../layout/layout.ts'
import { goTo, type Reply, type Route, show, type UserVisit } from '../route.ts'
import { isOwnPassword, judgeCode, judgeWithinLimits } from '../sign-in/signing-in.ts'

export const secondFactorRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/second-factor', access: 'user', handle: ask },
  { method: 'POST', path: '/account/second-factor', access: 'user', handle: change },
]

function ask(visit: UserVisit): Reply {
  return visit.session.user.hasSecondFactor ? offPage(visit) : onPage(visit, newTotpSecret())
}

/** Compares with the current state, because a form that is sent twice must not turn it on and off again. */
function change(visit: UserVisit): Reply | Promise<Reply> {
  const target = visit.form.get('to')
  if (target === 'on' && !visit.session.user.hasSecondFactor) return turnOn(visit)
  if (target === 'off' && visit.session.user.hasSecondFactor) return turnOff(visit)
  return goTo(accountPath(visit, '/account/security'))
}

async function turnOn(visit: UserVisit): Promise<Reply> {
  const { services, form, session } = visit
  const secret = form.get('secret') ?? ''
  if (!isTotpSecret(secret)) return onPage(visit, newTotpSecret(), 'Scan the new picture and type the code of it.')
  if (!(await isOwnPassword(visit))) return onPage(visit, secret, 'Your password is not right.')
  const step = await judgeWithinLimits(visit, 'code', session.user.email, async () =>
    stepOfCode(secret, (form.get('code') ?? '').replace(/\s/g, ''), services.now()),
  )
  if (step === undefined) {
    return onPage(
      visit,
      secret,
      'This code is not right. Type the one that your app shows now; its clock must be right.',
    )
  }
  const { postgres, outbox, keySecrets } = services
  const codes = await turnOnSecondFactor(postgres, outbox, keySecrets, visit.actor, session.user, { secret, step })
  return codes ? show(codesPage(visit, codes)) : goTo(accountPath(visit, '/account/security'))
}

async function turnOff(visit: UserVisit): Promise<Reply> {
  const { user } = visit.session
  if (!(await isOwnPassword(visit))) return offPage(visit, 'Your password is not right.')
  if (!(await judgeCode(visit, user))) return offPage(visit, wrongCode)
  const { postgres, outbox } = visit.services
  await turnOffSecondFactor(postgres, outbox, visit.actor, user)
  return goTo(accountPath(visit, '/account/security', { done: 'second-factor-off' }))
}

export const wrongCode = 'This code is not right, or was used already. Wait for the next one.'

export const passwordField = html`<label>Your password <input name="password" type="password" autocomplete="current-password" required></label>`

/** Not of type number: a code may begin with 0, and browsers would offer to count up. */
export const codeField = (hint: string): Html => html`
<label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="40"><span class="hint">${hint}</span></label>`

function onPage(visit: UserVisit, secret: string, wrong?: string): Reply {
  const link = otpauthLink(secret, visit.session.user.email)
  const body = html`<h1>Turn on the second factor</h1>
${wrong && fault(wrong)}
<ol class="people-steps">
<li>Open an authenticator app on your phone and scan this picture.
  <div class="people-qr">${qrCode(link)}</div>
  <details><summary>Or type the secret into the app</summary><p><code class="people-secret">${secret.match(/.{4}/g)?.join(' ')}</code></p><p><a href="${link}">Open in an app on this device</a></p></details></li>
<li>Confirm with the code that the app shows.
<form class="card form" method="post">
  ${tokenField(visit.formToken)}${accountField(visit)}
  <input type="hidden" name="to" value="on"><input type="hidden" name="secret" value="${secret}">
  ${passwordField}
  ${codeField('Six digits; the app shows new ones every 30 seconds.')}
  <div class="row"><button class="button first">Turn on</button><a class="button" href="${accountPath(visit, '/account/security')}">Cancel</a></div>
</form></li></ol>`
  return show(layout({ title: 'Second factor', visit, narrow: true, body }), wrong ? 422 : 200)
}

/** Dark on light in both themes: not every app reads the reverse. Four modules of margin belong to the code. */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { border: 4 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  // Every module of the QR code has the same size, however long the email is, so that a camera can tell them apart.
  const width = 5 * size
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="${width}" height="${width}" role="img" aria-label="QR code for the authenticator app" shape-rendering="crispEdges"><path d="M0 0h${size}v${size}h-${size}z" fill="#fff"/><path d="${path}" fill="#000"/></svg>`
}

const codesPage = (visit: UserVisit, codes: readonly string[]): Html =>
  layout({
    title: 'Recovery codes',
    visit,
    narrow: true,
    body: html`<h1>Save your recovery codes</h1>
<p class="lead">The second factor is on. If you lose your phone, each of these codes signs you in once. They are shown only now.</p>
<pre id="codes" tabindex="0">${codes.join('\n')}</pre>
<p class="row people-after"><button class="button scripted" type="button" data-copy="codes">Copy codes</button>
<a class="button first" href="${accountPath(visit, '/account/security')}">I have saved them</a></p>`,
  })

function offPage(visit: UserVisit, wrong?: string): Reply {
  const body = html`<h1>Turn off the second factor</h1>
<p class="lead">Afterwards your password alone signs you in, and your recovery codes no longer work.</p>
${wrong && fault(wrong)}
<form class="card form" method="post">
  ${tokenField(visit.formToken)}${accountField(visit)}<input type="hidden" name="to" value="off">
  ${passwordField}
  ${codeField('Of your app, or a recovery code.')}
  <div class="row"><button class="button danger">Turn off</button><a class="button" href="${accountPath(visit, '/account/security')}">Cancel</a></div>
</form>`
  return show(layout({ title: 'Second factor', visit, narrow: true, body }), wrong ? 422 : 200)
}
