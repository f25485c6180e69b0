import { plans } from '../../accounts/plans.ts'
import { daySeconds } from '../../durations.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { accountField, accountHead, accountPath } from '../layout/account-head.ts'
import { layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type AccountVisit, goTo, type Reply, type Route, show, type UserVisit } from '../route.ts'

export const accountRoutes: readonly Route[] = [
  { method: 'GET', path: '/account', access: 'user', handle: accountPage },
  { method: 'POST', path: '/account/theme', access: 'user', handle: changeTheme },
]

const themes = { system: 'As the system', light: 'Light', dark: 'Dark' } as const
const themeSeconds = 400 * daySeconds

function accountPage(visit: UserVisit): Reply {
  const requestedId = visit.query.get('account')
  const account = visit.memberships.find(({ accountId }) => requestedId === null || accountId === requestedId)
  if (!account && requestedId !== null) throw new Refusal('not_found')
  // The only account of the user may have been deleted. Their sign-in is left.
  if (!account) return goTo('/account/security')
  return show(
    layout({
      title: 'Account',
      visit,
      body: html`${accountHead(visit, '/account')}
<section aria-labelledby="plan"><h2 id="plan">Plan</h2>${planCard(account)}</section>
<section aria-labelledby="appearance"><h2 id="appearance">Appearance</h2>
<form class="card padded row people-row" method="post" action="/account/theme">
  ${tokenField(visit.formToken)}${accountField(visit)}
  ${Object.entries(themes).map(
    ([theme, name]) =>
      html`<button class="button" name="theme" value="${theme}" aria-pressed="${theme === (visit.theme ?? 'system') ? 'true' : 'false'}">${name}</button>`,
  )}
</form></section>
<section aria-labelledby="you"><h2 id="you">You</h2>
<div class="card padded row people-row">
  <p>Signed in as <b>${visit.session.user.email}</b>, ${account.role === 'owner' ? 'an owner' : 'a viewer'} of this account.</p>
  <span class="spring"></span>
  <form method="post" action="/logout">${tokenField(visit.formToken)}<button class="button">Sign out</button></form>
</div></section>`,
    }),
  )
}

function planCard({ accountId, plan, role }: AccountVisit['account']): Html {
  const limits = plans[plan]
  return html`<div class="card padded people-plan">
  <p class="people-figure">${plan}</p>
  <p>${
    limits
      ? `${limits.requestsPerHour.toLocaleString('en')} API requests per hour for each key. Sites, visitors and members are not limited.`
      : 'Reports without limit, but no access to the API. API keys work again as soon as the plan includes them.'
  }</p>
  <p class="hint">${
    role === 'owner'
      ? html`Whoever runs the server changes it: <code>footfall account plan ${accountId} Growth</code>`
      : 'Owners can ask whoever runs the server to change it.'
  }</p>
</div>`
}

function changeTheme(visit: UserVisit): Reply {
  const { form, cookies } = visit
  const theme = form.get('theme')
  const cookie =
    theme === 'light' || theme === 'dark' ? cookies.set('theme', theme, themeSeconds) : cookies.remove('theme')
  return goTo(accountPath(visit, '/account'), [cookie])
}
