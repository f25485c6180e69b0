// Webhooks in the settings of a site: the list, and adding one. webhook.ts is the page of one.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { addWebhook, originOf } from '../../users/webhook-changes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { type LoggedDelivery, lastDeliveries } from '../../webhooks/log.ts'
import { findTarget, maxUrlLength } from '../../webhooks/target.ts'
import { type CreatedWebhook, type Webhook, webhooksOf } from '../../webhooks/webhooks.ts'
import { tokenField } from '../forms/forms.ts'
import { nonceField, nonceOf } from '../forms/nonces.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { dayText, relativeText, timeElement } from '../layout/times.ts'
import { type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const webhooksRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/webhooks',
    access: 'site-member',
    handle: async (visit) => show(await listPage(visit)),
  },
  { method: 'POST', path: '/sites/:domain/settings/webhooks', access: 'site-owner', handle: createNewWebhook },
]

/** An address below the list. */
export const webhooksPath = ({ site }: SiteVisit, rest = ''): string => sitePath(site, `/settings/webhooks${rest}`)

/** To look up the name. */
const lookUpMs = 5_000

async function createNewWebhook(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const nonce = nonceOf(form)
  let created: CreatedWebhook | undefined
  try {
    const typed = (form.get('url') ?? '').trim()
    const { url } = await findTarget(typed, services.webhookRules, AbortSignal.timeout(lookUpMs))
    created = await addWebhook(services.postgres, services.keySecrets, actor, site, { url: url.href, nonce })
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return show(await listPage(visit, fault(`${error.message} ${error.advice}`)), 422)
  }
  // The form that was sent is empty now.
  const fresh = { ...visit, form: new URLSearchParams() }
  if (!created) return show(await listPage(fresh, shownBefore), 409)
  const lead = html`The webhook is added.`
  return show(await listPage(fresh, secretOnce(created, lead)))
}

export const shownBefore = html`<section class="card padded" role="alert">
  <p><b>This form was already sent, and the secret is shown only once.</b> If you have not copied it, open the webhook and make a new secret.</p>
</section>`

/** Only in the answer to the form, which no browser may store. */
export const secretOnce = ({ secret }: CreatedWebhook, lead: Html): Html => html`
<section class="new-key" aria-label="The secret">
  <p role="status">${lead} Copy its secret now: it is shown only once. The receiver checks signatures with it.</p>
  <div class="whole"><code id="whole-key" data-secret>${secret}</code><button class="button scripted" type="button" data-copy="whole-key">Copy</button></div>
</section>`

const isOwner = ({ account }: SiteVisit): boolean => account.role === 'owner'

/** `top`: the result of a form, above the list. */
async function listPage(visit: SiteVisit, top?: HtmlValue): Promise<Html> {
  const { services, site, query, account } = visit
  const [webhooks, last] = await Promise.all([
    webhooksOf(services.postgres, site.id),
    lastDeliveries(services.postgres, site.id),
  ])
  const body = html`${settingsHead(site, '/settings/webhooks')}
${!top && query.get('done') === 'deleted' && notice('The webhook is deleted, and nothing more is sent to it.')}${top}
<p class="lead">A webhook is an address of yours that gets a message when an alert begins or ends. Messages are signed, so that the receiver can tell them from forged ones.</p>
${webhooks.length > 0 ? table(visit, webhooks, last) : html`<p class="card padded no-reports">${site.domain} has no webhooks yet.</p>`}
${isOwner(visit) ? addForm(visit) : html`<p class="note">Owners of ${account.name} can change the webhooks and see what was delivered.</p>`}`
  return layout({ title: `Webhooks · ${site.domain}`, visit, site, body })
}

type Last = Pick<LoggedDelivery, 'state' | 'createdAt'>

const table = (visit: SiteVisit, webhooks: readonly Webhook[], last: ReadonlyMap<string, Last>): Html => html`
<section aria-labelledby="webhooks"><h2 id="webhooks">${webhooks.length === 1 ? '1 webhook' : `${webhooks.length} webhooks`}</h2>
<div class="card"><table class="people reports">
<thead><tr><th scope="col">Address</th><th scope="col">State</th><th scope="col">Last message</th>${isOwner(visit) && html`<th scope="col"><span class="unseen">Manage</span></th>`}</tr></thead>
<tbody>${webhooks.map((webhook) => row(visit, webhook, last.get(webhook.id)))}</tbody></table></div></section>`

/** Whoever knows the whole address may be able to use it, so viewers see its host only. */
function row(visit: SiteVisit, webhook: Webhook, last: Last | undefined): Html {
  const { id, url, createdAt, createdBy } = webhook
  const now = visit.services.now()
  return html`<tr><th scope="row"><span class="webhook-url">${isOwner(visit) ? shortened(url) : originOf(webhook)}</span><span class="sub">${timeElement(createdAt, dayText(createdAt))}, by ${createdBy}</span></th>
<td>${webhookState(webhook)}</td>
<td>${last ? html`${stateMark(last.state)}<span class="sub">${timeElement(last.createdAt, relativeText(last.createdAt, now))}</span>` : 'none yet'}</td>${
    isOwner(visit) &&
    html`
<td class="right"><a class="button small" href="${webhooksPath(visit, `/${id}`)}">Manage<span class="unseen"> ${shortened(url)}</span></a></td>`
  }</tr>`
}

/** The page of the webhook has the whole address. */
const shortened = (url: string): string => (url.length > 80 ? `${url.slice(0, 79)}…` : url)

/** The colour repeats what the word says. */
export const webhookState = ({ disabledAt }: Webhook): Html =>
  html`<span class="state${disabledAt && ' off'}"><i></i>${disabledAt ? 'disabled' : 'active'}</span>`

const looks: Readonly<Record<LoggedDelivery['state'], string>> = {
  waiting: ' off',
  sending: ' off',
  delivered: '',
  failed: ' soon',
  'in doubt': ' soon',
}

export const stateMark = (state: LoggedDelivery['state']): Html =>
  html`<span class="state${looks[state]}"><i></i>${state}</span>`

const addForm = ({ form, formToken, site }: SiteVisit): Html => html`
<section aria-labelledby="add"><h2 id="add">Add a webhook</h2>
<form class="card form people-form" method="post" action="${sitePath(site, '/settings/webhooks')}" data-once>
  ${tokenField(formToken)}${nonceField()}
  <label>Address <input name="url" type="url" required maxlength="${maxUrlLength}" autocomplete="off" spellcheck="false" placeholder="https://example.com/webhook" value="${form.get('url') ?? ''}">
    <span class="hint">It is called with https, on port 443 or 8443, and must be public. Redirects are not followed.</span></label>
  <div><button class="button first">Add webhook</button></div>
</form></section>`
