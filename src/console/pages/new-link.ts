// Creates a shared link and shows its address once, as new-key.ts does with keys: only a hash of it is stored.
import { type Filter, filterText } from '../../stats/questions/filters.ts'
import { type CountryCode, countryNames } from '../../traffic/country.ts'
import { devices } from '../../traffic/device.ts'
import { maxPasswordLength, minPasswordLength } from '../../users/passwords.ts'
import { segmentsOf } from '../../users/segments.ts'
import { addSharedLink, renewSharedLink, type SharedLinkListing, sharedLinkAddress } from '../../users/shared-links.ts'
import { type Html, html } from '../../web/html.ts'
import { areSame, enteredFilters, filterList, queryOfFilters, readSegments, textOf } from '../dashboard/filter-texts.ts'
import { chosenExpiry, expiryChoice, expiryOfEmbeddedLink, expiryOfLink } from '../forms/expiry-choice.ts'
import { tokenField } from '../forms/forms.ts'
import { maxNameLength, wrongName } from '../forms/names.ts'
import { nonceField, nonceOf } from '../forms/nonces.ts'
import { widget } from '../layout/assets.ts'
import { fault, layout, settingsHead, sitePath } from '../layout/layout.ts'
import type { SiteVisit } from '../route.ts'

interface Created {
  status: number
  /** Above the list. */
  top?: Html
  /** The form again, with what is wrong. */
  page?: Html
}

export async function createNewLink(visit: SiteVisit): Promise<Created> {
  const { services, site, form } = visit
  const name = (form.get('name') ?? '').trim()
  const isEmbeddable = form.has('embeddable')
  const showsNotes = form.has('notes')
  const expiry = chosenExpiry(form, services.now(), isEmbeddable ? expiryOfEmbeddedLink : expiryOfLink)
  const password = form.get('password') ?? ''
  const locked = lockedIn(form)
  const wrong = wrongName('link', name) ?? wrongPassword(password, isEmbeddable)
  if (wrong !== undefined) return { status: 422, page: await newLinkPage(visit, wrong) }
  if ('wrong' in expiry) return { status: 422, page: await newLinkPage(visit, expiry.wrong) }
  if ('wrong' in locked) return { status: 422, page: await newLinkPage(visit, locked.wrong) }
  const token = await addSharedLink(services.postgres, services.keySecrets, visit.actor, site, {
    name,
    expiresAt: expiry.expiresAt,
    passwordHash: password === '' ? null : await services.passwords.hash(password),
    isEmbeddable,
    showsNotes,
    filters: locked.filters.map(textOf),
    nonce: nonceOf(form),
  })
  return shownOnce(visit, { name, isEmbeddable }, token)
}

/** The same link at another address. The old address ends at once. */
export async function renewLink(visit: SiteVisit, link: SharedLinkListing): Promise<Created> {
  const { services, site, form } = visit
  const again = { id: link.id, nonce: nonceOf(form), now: services.now() }
  const token = await renewSharedLink(services.postgres, services.keySecrets, visit.actor, site, again)
  return shownOnce(visit, link, token)
}

function shownOnce(
  { services: { publicUrl } }: SiteVisit,
  { name, isEmbeddable }: Pick<SharedLinkListing, 'name' | 'isEmbeddable'>,
  token: string | undefined,
): Created {
  if (token === undefined) return { status: 409, top: alreadyCreated }
  const address = sharedLinkAddress(publicUrl, token)
  return {
    status: 200,
    top: wholeLink(name, address, isEmbeddable && snippets(publicUrl, address, html` data-secret`)),
  }
}

function wrongPassword(password: string, isEmbeddable: boolean): string | undefined {
  if (password === '') return undefined
  if (isEmbeddable) {
    return 'A link with a password cannot be embedded: nobody should type a password into a frame of another site. Choose one of the two.'
  }
  if (password.length < minPasswordLength)
    return `The password is too short. Use at least ${minPasswordLength} characters.`
  if (password.length > maxPasswordLength)
    return `The password is too long. Use at most ${maxPasswordLength} characters.`
  return undefined
}

const filterNames = ['country', 'device', 'hostname', 'utm_source']

/** The form sends the filters that it shows, so a segment that is changed meanwhile does not change the link. */
function lockedIn(form: URLSearchParams): { filters: Filter[] } | { wrong: string } {
  const choice = form.get('filters')
  if (choice === null) return { wrong: 'Choose what the link shows.' }
  const chosen = new URLSearchParams(choice).getAll('filter')
  const typed = [...form].filter(([name, value]) => filterNames.includes(name) && value !== '')
  const pages = form.get('pages')
  return enteredFilters([
    ...chosen,
    ...(pages ? [filterText('page', 'starts_with', [pages])] : []),
    ...typed.map(([name, value]) => filterText(name, 'is', [value])),
  ])
}

const countries = (Object.entries(countryNames) as [CountryCode, string][]).toSorted(([, one], [, other]) =>
  one.localeCompare(other, 'en'),
)

const option = (value: string, text: string, current: string | undefined): Html =>
  html`<option value="${value}"${value === (current ?? '') && html` selected`}>${text}</option>`

/** What links are made for most often. The names of the others are those of the API. */
const filterFields = (field: (name: string) => string | undefined): Html => html`
    <label>Pages that start with <input name="pages" value="${field('pages')}" maxlength="2000" autocomplete="off" placeholder="/blog"></label>
    <label>Country <select name="country">${option('', 'All', field('country'))}${countries.map(([code, name]) => option(code, name, field('country')))}</select></label>
    <label>Device <select name="device">${option('', 'All', field('device'))}${devices.filter((one) => one !== 'Unknown').map((one) => option(one.toLowerCase(), one, field('device')))}</select></label>
    <label>Hostname <input name="hostname" value="${field('hostname')}" autocomplete="off"></label>
    <label>UTM source <input name="utm_source" value="${field('utm_source')}" maxlength="255" autocomplete="off"></label>`

/** Everything, the filters of the dashboard that somebody came from, or those of a segment. The link gets a copy. */
async function filterChoice({ services, site, form, query }: SiteVisit): Promise<Html> {
  const segments = readSegments(await segmentsOf(services.postgres, site.id))
  const sent = enteredFilters(new URLSearchParams(form.get('filters') ?? '').getAll('filter'))
  const came = enteredFilters(query.getAll('filter'))
  const shown = [sent, came].flatMap((one) => ('wrong' in one || one.filters.length === 0 ? [] : [one.filters]))
  const [chosen] = shown
  const of = shown.find((filters) => !segments.some((segment) => areSame(segment.filters, filters)))
  const choices = [
    { name: 'Everything', filters: [] },
    ...(of ? [{ name: 'The filters of the dashboard', filters: of }] : []),
    ...segments,
  ]
  const isChosen = (filters: readonly Filter[]) => !('wrong' in came) && areSame(filters, chosen ?? [])
  return html`${'wrong' in came && fault(came.wrong)}<div class="options filter-choice" role="group" aria-label="Filters">${choices.map(
    ({ name, filters }) =>
      html`<label><input type="radio" name="filters" required value="${queryOfFilters(filters)}"${isChosen(filters) && html` checked`}>${name}${filters.length > 0 && filterList(filters)}</label>`,
  )}</div>`
}

export async function newLinkPage(visit: SiteVisit, wrong?: string): Promise<Html> {
  const { site, form, services, formToken } = visit
  const path = sitePath(site, '/settings/links')
  const field = (name: string) => form.get(name) ?? undefined
  return layout({
    title: `Create a link · ${site.domain}`,
    visit,
    site,
    body: html`${settingsHead(site, '/settings/links')}
<h2>Create a link</h2>
${wrong && fault(wrong)}
<form class="card form key-form" method="post" action="${path}" data-once>
  ${tokenField(formToken)}${nonceField()}
  <label>Name <input name="name" required maxlength="${maxNameLength}" autocomplete="off" autofocus placeholder="For the agency" value="${field('name')}"><span class="hint">For whom the link is. Only people of the account see it.</span></label>
  <label class="check"><input type="checkbox" name="embeddable" value="yes"${form.has('embeddable') && html` checked`}>Other sites may embed it</label>
  ${expiryChoice(form, services.now(), expiryOfLink, { legend: 'Expires', standard: '30', when: 'when-opened' })}
  ${expiryChoice(form, services.now(), expiryOfEmbeddedLink, { legend: 'Expires, if embedded', standard: 'never', when: 'when-embedded' })}
  <fieldset class="choice locked-filters">
    <legend>Shows only</legend>
    <p class="hint">Whoever has the link sees these filters and cannot lift them. Filters on Page and Hostname limit which pages are listed; all others choose whole visits, with every page they went to.</p>
    ${await filterChoice(visit)}
    ${filterFields(field)}
  </fieldset>
  <label class="check"><input type="checkbox" name="notes" value="yes"${form.has('notes') && html` checked`}>Show the notes on the chart</label>
  <label>Password <input name="password" type="password" autocomplete="new-password" minlength="${minPasswordLength}" maxlength="${maxPasswordLength}"><span class="hint">Optional, at least ${minPasswordLength} characters. Pass it on separately from the link.</span></label>
  <div class="row"><button class="button first">Create link</button><a class="button" href="${path}">Cancel</a></div>
</form>`,
  })
}

const alreadyCreated = html`<section class="card padded" role="alert">
  <p><b>This link was already created and is shown only once.</b> If you have not copied it, open it in the list and make a new address.</p>
</section>`

/** The script removes the address when the page is left. */
const wholeLink = (
  name: string,
  address: string,
  embedding: Html | false,
): Html => html`<section class="new-key" aria-label="The new link">
  <p role="status"><b>${name}</b> is ready. Copy the link now: it is shown only once.</p>
  <div class="whole"><code id="whole-link" data-secret>${address}</code><button class="button scripted" type="button" data-copy="whole-link">Copy</button></div>
  ${embedding}
</section>`

/** The code that shows the link on a page of another site. */
export const snippets = (publicUrl: string, address: string, secret?: Html): Html => html`
  <p class="snippet-title" id="frame-title">The dashboard in a frame</p>
  <pre id="frame" class="snippet"${secret} tabindex="0" aria-labelledby="frame-title">${`<iframe src="${address}?theme=light" title="Visitors" width="100%" height="1400" loading="lazy"></iframe>`}</pre>
  <button class="button scripted" type="button" data-copy="frame" aria-label="Copy the frame">Copy</button>
  <p class="snippet-title" id="widget-title">The visitors of the last 30 days</p>
  <pre id="widget" class="snippet"${secret} tabindex="0" aria-labelledby="widget-title">${`<script defer src="${publicUrl}${widget.path}" data-link="${address}"></script>`}</pre>
  <button class="button scripted" type="button" data-copy="widget" aria-label="Copy the widget">Copy</button>`
