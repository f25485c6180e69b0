// Creates a key and shows its whole text once: in the answer to the form, which no browser may store. The text is not in the session, and
// nothing leads back to it. Sending the form again changes nothing, because its nonce has already made a key.
import { type CreatedKey, KeyAlreadyCreated } from '../../accounts/keys.ts'
import type { Site } from '../../accounts/sites.ts'
import { addKey } from '../../users/key-changes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { chosenExpiry, expiryChoice, expiryOfKey } from '../forms/expiry-choice.ts'
import { maxNameLength, wrongName } from '../forms/names.ts'
import { nonceField, nonceOf } from '../forms/nonces.ts'
import { fault } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type Reply, show } from '../route.ts'
import { hasAccess, listPage } from './key-list.ts'
import { type KeyScope, sitesAt } from './key-scope.ts'

const wholeAccount = 'account'

export const newKeyPage = async (scope: KeyScope): Promise<Reply> =>
  show(hasAccess(scope) ? formPage(scope, await sitesAt(scope)) : await listPage(scope))

export async function createNewKey(scope: KeyScope): Promise<Reply> {
  const { visit } = scope
  const { form, services, account } = visit
  if (!hasAccess(scope)) return show(await listPage(scope), 422)
  const sites = await sitesAt(scope)
  const reads = form.get('scope') ?? ''
  const site = sites.find(({ domain }) => domain === reads)
  if (!site && reads !== wholeAccount && reads !== '') throw new Refusal('not_found')
  const name = (form.get('name') ?? '').trim()
  const expiry = chosenExpiry(form, services.now(), expiryOfKey)
  const wrong =
    wrongName('key', name) ??
    (reads === '' ? 'Choose what the key may read.' : 'wrong' in expiry ? expiry.wrong : undefined)
  if (wrong !== undefined || 'wrong' in expiry) return show(formPage(scope, sites, wrong), 422)
  const nonce = nonceOf(form)
  return shownOnce(scope, async () => {
    const key = await addKey(services.postgres, services.keySecrets, visit.actor, {
      accountId: account.accountId,
      siteId: site?.id,
      reads: site?.domain,
      name,
      expiresAt: expiry.expiresAt ?? undefined,
      nonce,
    })
    return { key, site: site ?? sites[0], lead: html`<b>${name}</b> is ready.` }
  })
}

export interface ShownKey {
  key: CreatedKey
  /** The site to try the key with. */
  site: Site | undefined
  lead: Html
}

/** Runs the change and shows the whole key, or says that the form was already sent. */
export async function shownOnce(scope: KeyScope, change: () => Promise<ShownKey>): Promise<Reply> {
  try {
    const shown = await change()
    return show(await listPage(scope, wholeKey(scope, shown)))
  } catch (error) {
    if (!(error instanceof KeyAlreadyCreated)) throw error
    return show(await listPage(scope, alreadyCreated), 409)
  }
}

const alreadyCreated = html`<section class="card padded" role="alert">
  <p><b>This key was already created and is shown only once.</b> If you have not copied it, delete it and create another one.</p>
</section>`

function formPage(scope: KeyScope, sites: readonly Site[], wrong?: string): Html {
  const { form, services } = scope.visit
  const reads = form.get('scope') ?? scope.site?.domain ?? wholeAccount
  const option = (value: string, name: HtmlValue): Html =>
    html`<label><input type="radio" name="scope" value="${value}"${value === reads && html` checked`}>${name}</label>`
  return scope.page(
    'Create a key',
    html`
<h2>Create a key</h2>
${wrong && fault(wrong)}
<form class="card form key-form" method="post" action="${scope.path()}" data-once>
  ${scope.hiddenFields}${nonceField()}
  <label>Name <input name="name" required maxlength="${maxNameLength}" autocomplete="off" autofocus placeholder="Weekly report" value="${form.get('name') ?? ''}"><span class="hint">What uses the key. Only people of the account see it.</span></label>
  <fieldset class="choice">
    <legend>Reads</legend>
    <div class="options${!scope.site && ' many'}">
      ${scope.site && option(scope.site.domain, html`This site: ${scope.site.domain}`)}
      ${option(wholeAccount, 'All sites of the account')}
      ${!scope.site && sites.map(({ domain }) => option(domain, domain))}
    </div>
  </fieldset>
  ${expiryChoice(form, services.now(), expiryOfKey, { legend: 'Expires', standard: '90' })}
  <div class="row"><button class="button first">Create key</button><a class="button" href="${scope.path()}">Cancel</a></div>
</form>`,
  )
}

/** Without JavaScript the key can be selected and tried with curl. The script removes the text when the page is left. */
function wholeKey({ visit }: KeyScope, { key, site, lead }: ShownKey): Html {
  const query = new URLSearchParams({ range: '7d' })
  if (key.text.startsWith('ff_a_')) query.set('site_id', site?.id ?? '<site_id>')
  const path = `/api/v1/stats/overview?${query}`
  return html`<section class="new-key" aria-label="The new key">
  <p role="status">${lead} Copy the key now: it is shown only once.</p>
  <div class="whole"><code id="whole-key" data-secret>${key.text}</code><button class="button scripted" type="button" data-copy="whole-key">Copy</button><button class="button scripted" type="button" data-try="${path}">Try it now</button></div>
  <pre id="curl" data-secret tabindex="0" aria-label="A call with curl">curl -H "Authorization: Bearer ${key.text}" \\
  "${visit.services.publicUrl}${path}"</pre>
  <pre class="answer" id="answer" role="status" tabindex="0" aria-label="The answer" hidden></pre>
</section>`
}
