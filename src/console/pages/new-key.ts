// Creates a key and shows its whole text once: in the answer to the form, which no browser may store. The text is not in the session, and
// nothing leads back to it. Sending the form again changes nothing, because its nonce has already made a key.
import { type CreatedKey, KeyAlreadyCreated } from '../../accounts/keys.ts'
import type { Site } from '../../accounts/sites.ts'
import { addKey } from '../../users/key-changes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { chosenExpiry, expiryChoice, expiryOfKey } from '../forms/expiry-choice.ts'
import { longestName, wrongName } from '../forms/names.ts'
import { nonceField, nonceOf } from '../forms/nonces.ts'
import { fault } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type Reply, show } from '../route.ts'
import { hasAccess, listPage } from './key-list.ts'
import { type KeyPlace, sitesAt } from './key-place.ts'

const wholeAccount = 'account'

export const newKeyPage = async (place: KeyPlace): Promise<Reply> =>
  show(hasAccess(place) ? formPage(place, await sitesAt(place)) : await listPage(place))

export async function createNewKey(place: KeyPlace): Promise<Reply> {
  const { visit } = place
  const { form, services, account } = visit
  if (!hasAccess(place)) return show(await listPage(place), 422)
  const sites = await sitesAt(place)
  const scope = form.get('scope') ?? ''
  const site = sites.find(({ domain }) => domain === scope)
  if (!site && scope !== wholeAccount && scope !== '') throw new Refusal('not_found')
  const name = (form.get('name') ?? '').trim()
  const expiry = chosenExpiry(form, services.now(), expiryOfKey)
  const wrong =
    wrongName('key', name) ??
    (scope === '' ? 'Choose what the key may read.' : 'wrong' in expiry ? expiry.wrong : undefined)
  if (wrong !== undefined || 'wrong' in expiry) return show(formPage(place, sites, wrong), 422)
  const nonce = nonceOf(form)
  return shownOnce(place, async () => {
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
export async function shownOnce(place: KeyPlace, change: () => Promise<ShownKey>): Promise<Reply> {
  try {
    const shown = await change()
    return show(await listPage(place, wholeKey(place, shown)))
  } catch (error) {
    if (!(error instanceof KeyAlreadyCreated)) throw error
    return show(await listPage(place, alreadyCreated), 409)
  }
}

const alreadyCreated = html`<section class="card padded" role="alert">
  <p><b>This key was already created and is shown only once.</b> If you have not copied it, delete it and create another one.</p>
</section>`

function formPage(place: KeyPlace, sites: readonly Site[], wrong?: string): Html {
  const { form, services } = place.visit
  const scope = form.get('scope') ?? place.site?.domain ?? wholeAccount
  const option = (value: string, name: HtmlValue): Html =>
    html`<label><input type="radio" name="scope" value="${value}"${value === scope && html` checked`}>${name}</label>`
  return place.page(
    'Create a key',
    html`
<h2>Create a key</h2>
${wrong && fault(wrong)}
<form class="card form key-form" method="post" action="${place.path()}" data-once>
  ${place.hiddenFields}${nonceField()}
  <label>Name <input name="name" required maxlength="${longestName}" autocomplete="off" autofocus placeholder="Weekly report" value="${form.get('name') ?? ''}"><span class="hint">What uses the key. Only people of the account see it.</span></label>
  <fieldset class="choice">
    <legend>Reads</legend>
    <div class="options${!place.site && ' many'}">
      ${place.site && option(place.site.domain, html`This site: ${place.site.domain}`)}
      ${option(wholeAccount, 'All sites of the account')}
      ${!place.site && sites.map(({ domain }) => option(domain, domain))}
    </div>
  </fieldset>
  ${expiryChoice(form, services.now(), expiryOfKey, { legend: 'Expires', standard: '90' })}
  <div class="row"><button class="button first">Create key</button><a class="button" href="${place.path()}">Cancel</a></div>
</form>`,
  )
}

/** Without JavaScript the key can be selected and tried with curl. The script removes the text when the page is left. */
function wholeKey({ visit }: KeyPlace, { key, site, lead }: ShownKey): Html {
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
