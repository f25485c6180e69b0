// The head of the account pages: which account, and the tabs.
import type { Membership } from '../../users/members.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { UserVisit } from '../route.ts'

const tabs = [
  ['/account', 'Account'],
  ['/account/members', 'Members'],
  ['/account/reports', 'Reports'],
  ['/account/keys', 'API keys'],
  ['/account/audit', 'Audit log'],
  ['/account/security', 'Your sign-in'],
] as const

/** The account that the page is about: the one that the request names, otherwise the first of the user. */
const accountOf = ({ memberships, query, form }: UserVisit): Membership | undefined => {
  const requestedId = form.get('account') ?? query.get('account')
  return memberships.find(({ accountId }) => accountId === requestedId) ?? memberships[0]
}

/** The path of an account page; it names the account only for somebody who has several. */
export function accountPath(visit: UserVisit, path: string, query: Record<string, string> = {}): string {
  const account = visit.memberships.length > 1 && accountOf(visit)
  const all = new URLSearchParams({ ...query, ...(account && { account: account.accountId }) })
  return all.size > 0 ? `${path}?${all}` : path
}

/** For every form of an account page. */
export const accountField = (visit: UserVisit): HtmlValue =>
  visit.memberships.length > 1 && html`<input type="hidden" name="account" value="${accountOf(visit)?.accountId}">`

/** A user without an account sees only the tab of their sign-in. */
export function accountHead(visit: UserVisit, current: (typeof tabs)[number][0]): Html {
  const account = accountOf(visit)
  const shown = tabs.filter(
    ([path]) => path === '/account/security' || (account && (path !== '/account/audit' || account.role === 'owner')),
  )
  return html`
<h1>${account?.name ?? 'Account'}</h1>
${visit.memberships.length > 1 && switcher(visit, account)}
<nav class="tabs wrapping" aria-label="Account">${shown.map(
    ([path, name]) =>
      html`<a href="${accountPath(visit, path)}"${path === current && html` aria-current="page"`}>${name}</a>`,
  )}</nav>`
}

const switcher = (visit: UserVisit, current: Membership | undefined): Html => html`
<p class="other-accounts">Your other accounts: ${visit.memberships
  .filter((one) => one !== current)
  .map(
    ({ accountId, name }, index) => html`${index > 0 && ', '}<a href="/account?account=${accountId}">${name}</a>`,
  )}</p>`
