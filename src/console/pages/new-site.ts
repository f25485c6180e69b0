import { domainOf, InvalidSetting, timeZoneOf } from '../../accounts/site-rules.ts'
import { addSite } from '../../users/site-changes.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { timeZoneField } from '../forms/time-zone-field.ts'
import { siteScript } from '../layout/assets.ts'
import { fault, layout, sitePath } from '../layout/layout.ts'
import { type AccountVisit, goTo, type Reply, type Route, show } from '../route.ts'

export const newSiteRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/new', access: 'owner', handle: (visit) => show(newSitePage(visit)) },
  { method: 'POST', path: '/sites/new', access: 'owner', handle: createSite },
]

async function createSite(visit: AccountVisit): Promise<Reply> {
  const { services, form, account } = visit
  try {
    const domain = domainOf(form.get('domain') ?? '')
    const timeZone = timeZoneOf(form.get('zone') ?? '')
    const id = await addSite(services.postgres, visit.actor, { accountId: account.accountId, domain, timeZone })
    // The same words for a site of the same account and of another: nobody learns whose it is.
    if (!id) throw new InvalidSetting(`${domain} is already in use.`, 'Every domain can be added once.')
    services.directory.forget(id)
    return goTo(sitePath({ domain }, '/settings?saved=created'))
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return show(newSitePage(visit, `${error.message} ${error.advice}`), 422)
  }
}

function newSitePage(visit: AccountVisit, wrong?: string): Html {
  const { form, formToken, account } = visit
  const zone = form.get('zone')
  const owned = visit.memberships.filter(({ role }) => role === 'owner')
  return layout({
    title: 'Add a site',
    visit,
    narrow: true,
    head: html`<script type="module" src="${siteScript.path}"></script>\n`,
    body: html`<h1>Add a site</h1>
<p class="lead">You get the snippet for its pages next.</p>
${wrong && fault(wrong)}
<form class="card form" method="post" action="/sites/new">
  ${tokenField(formToken)}
  <label>Domain
    <input name="domain" required maxlength="300" autofocus autocomplete="off" autocapitalize="none" spellcheck="false" inputmode="url" placeholder="example.com" value="${form.get('domain') ?? ''}">
    <span class="hint">The host name of its pages. It names the site here and cannot be changed later.</span>
  </label>
  <div>${timeZoneField({ value: zone ?? 'UTC', isDefault: zone === null })}
    <span class="hint">A day of the site begins at midnight in this zone.</span></div>
  ${
    owned.length > 1
      ? html`<label>Account
    <select name="account">${owned.map(
      ({ accountId, name }) =>
        html`<option value="${accountId}"${accountId === account.accountId && html` selected`}>${name}</option>`,
    )}</select>
  </label>`
      : html`<input type="hidden" name="account" value="${account.accountId}">`
  }
  <button class="button first">Add site</button>
</form>`,
  })
}
