// Shared links in the settings of a site: the list, one link, and revoking it. new-link.ts makes them.

import { filterWords } from '../../display/labels.ts'
import { readStoredFilters } from '../../stats/questions/filters.ts'
import { revokeSharedLink, type SharedLinkListing, sharedLinkAddress, sharedLinksOf } from '../../users/shared-links.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { nonceField } from '../forms/nonces.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { dayText, relativeText, timeElement } from '../layout/times.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { expiresSoon, expiryText, stateOf } from './key-expiry.ts'
import { createNewLink, newLinkPage, renewLink, snippets } from './new-link.ts'

export const linkRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/links',
    access: 'site-member',
    handle: async (visit) => show(await linkListPage(visit)),
  },
  {
    method: 'GET',
    path: '/sites/:domain/settings/links/new',
    access: 'site-owner',
    handle: async (visit) => show(await newLinkPage(visit)),
  },
  { method: 'POST', path: '/sites/:domain/settings/links', access: 'site-owner', handle: createLink },
  {
    method: 'GET',
    path: '/sites/:domain/settings/links/:id',
    access: 'site-member',
    handle: (visit) => linkPage(visit),
  },
  { method: 'POST', path: '/sites/:domain/settings/links/:id/renew', access: 'site-owner', handle: makeAgain },
  { method: 'POST', path: '/sites/:domain/settings/links/:id/revoke', access: 'site-owner', handle: revokeLink },
]

const pathOf = ({ site }: SiteVisit, rest = ''): string => sitePath(site, `/settings/links${rest}`)

const isOwner = ({ account }: SiteVisit): boolean => account.role === 'owner'

async function createLink(visit: SiteVisit): Promise<Reply> {
  const { top, page, status } = await createNewLink(visit)
  return show(page ?? (await linkListPage(visit, top)), status)
}

/** `top`: the result of a form, above the list. */
async function linkListPage(visit: SiteVisit, top?: HtmlValue): Promise<Html> {
  const { services, site, query } = visit
  const links = await sharedLinksOf(services.postgres, site.id, services.now())
  return layout({
    title: `Shared links · ${site.domain}`,
    visit,
    site,
    body: html`${settingsHead(site, '/settings/links')}
${query.get('done') === 'revoked' && notice('The link is revoked. Nobody can open it any more.')}${top}
<div class="row keys-head"><h2>${links.length === 1 ? '1 link' : `${links.length} links`}</h2><span class="spring"></span>${
      isOwner(visit) && html`<a class="button first" href="${pathOf(visit, '/new')}">Create a link</a>`
    }</div>
${links.length === 0 ? emptyState(visit) : table(visit, links)}
<p class="note">Whoever has a link sees this dashboard without an account, and nothing else. Excluded countries are left out there, too.${
      links.length > 0 && ' Links that have ended stay in the list for 90 days. The last use is up to a minute old.'
    }</p>`,
  })
}

const emptyState = (visit: SiteVisit): Html => html`<section class="card padded no-keys">
  <p><b>There are no shared links yet.</b></p>
  <p>With a link somebody without an account sees the dashboard of ${visit.site.domain}, or only a part of it, such as one country.${
    !isOwner(visit) && ' An owner of the account can create one.'
  }</p>
</section>`

const table = (visit: SiteVisit, links: readonly SharedLinkListing[]): Html =>
  // On a phone each row is laid out as a card, which would take the roles of a table away.
  html`<section class="card"><table class="keys" role="table" aria-label="Shared links">
<thead role="rowgroup"><tr role="row">
  <th scope="col" role="columnheader">Name</th><th scope="col" role="columnheader">Shows</th><th scope="col" role="columnheader">Last used</th>
  <th scope="col" role="columnheader">State</th>${isOwner(visit) && html`<th scope="col" role="columnheader"><span class="unseen">Actions</span></th>`}
</tr></thead>
<tbody role="rowgroup">${links.map((link) => row(visit, link))}</tbody></table></section>`

function row(visit: SiteVisit, link: SharedLinkListing): Html {
  const now = visit.services.now()
  const page = pathOf(visit, `/${link.id}`)
  return html`<tr role="row">
  <th scope="row" role="rowheader"><a href="${page}"><b>${link.name}</b></a><span class="sub">${created(link)}</span></th>
  <td role="cell" class="shows" data-name="Shows">${shows(visit, link)}</td>
  <td role="cell" data-name="Last used">${lastUse(link, now)}</td>
  <td role="cell" class="state-cell">${state(link, now)}</td>${
    isOwner(visit) &&
    html`
  <td role="cell" class="right"><a class="button small" href="${page}" aria-label="Manage ${link.name}">Manage</a></td>`
  }
</tr>`
}

const created = ({ createdAt, createdBy }: SharedLinkListing): Html =>
  html`${timeElement(createdAt, dayText(createdAt))}<br>by ${createdBy}`

const lastUse = ({ lastUsedAt }: SharedLinkListing, now: number): HtmlValue =>
  lastUsedAt ? timeElement(lastUsedAt, relativeText(lastUsedAt, now)) : 'never'

/** `Country Germany, Page starts with /blog` and, below it, `with a password` or `embeddable` */
function shows({ site }: SiteVisit, { filters, hasPassword, isEmbeddable, showsNotes }: SharedLinkListing): Html {
  const locked = readStoredFilters(filters, site)
  const words = locked ? locked.map(filterWords).join(', ') : filters.join(', ')
  const kind = [
    hasPassword && 'with a password',
    isEmbeddable && 'embeddable',
    showsNotes && (hasPassword ? 'and notes' : 'with notes'),
  ]
    .filter(Boolean)
    .join(' ')
  return html`${words || 'everything'}${kind && html`<span class="sub">${kind}</span>`}${!locked && html`<span class="sub soon">It shows nothing: a goal of its filters is gone</span>`}`
}

/** The colour repeats what the word says. */
function state({ revokedAt, expiresAt }: SharedLinkListing, now: number): Html {
  const link = { disabled: revokedAt !== null, expiresAt }
  const linkState = stateOf(link, now)
  const soon = expiresSoon(link, now) && ' soon'
  const below = revokedAt ? timeElement(revokedAt, relativeText(revokedAt, now)) : expiryText(link, now)
  return html`<span class="state${linkState === 'active' ? soon : ' off'}"><i></i>${revokedAt ? 'revoked' : linkState}</span><span class="sub${soon}">${below}</span>`
}

async function linkPage(visit: SiteVisit, wrong?: string): Promise<Reply> {
  const { services, site, formToken } = visit
  const now = services.now()
  const link = await linkOf(visit)
  const facts: [string, HtmlValue][] = [
    ['Shows', shows(visit, link)],
    ['State', state(link, now)],
    ['Created', created(link)],
    ['Last used', lastUse(link, now)],
  ]
  const body = html`${settingsHead(site, '/settings/links')}
<p class="back"><a href="${pathOf(visit)}"><span aria-hidden="true">← </span>All links</a></p>
<h2 class="key-name">${link.name}</h2>
${wrong && fault(wrong)}
<dl class="card key-facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${link.isEmbeddable && !link.revokedAt && html`<section class="card padded"><p class="lead">Put one of these into a page, with the address of the link that you were shown when you created it.</p>${snippets(services.publicUrl, sharedLinkAddress(services.publicUrl, '…'))}</section>`}
${
  isOwner(visit) &&
  !link.revokedAt &&
  html`<div class="actions">
<form class="card form" method="post" action="${pathOf(visit, `/${link.id}/renew`)}" data-once>${tokenField(formToken)}${nonceField()}
  <h3>New address</h3>
  <p>If the address is lost or somebody has it who should not. The old address ends at once; ${keeps(link, now)}</p>
  <div><button class="button">Make a new address</button></div>
</form>
<form class="card form" method="post" action="${pathOf(visit, `/${link.id}/revoke`)}">${tokenField(formToken)}
  <h3>Revoke</h3>
  <p>For good. Nobody can open the link any more, and pages that embed it show nothing.</p>
  <label class="confirm"><input type="checkbox" name="confirm" value="yes" required>Yes, revoke ${link.name}</label>
  <div><button class="button danger">Revoke link</button></div>
</form></div>`
}`
  return show(layout({ title: `${link.name} · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}

async function linkOf({ services, site, params }: SiteVisit): Promise<SharedLinkListing> {
  const all = await sharedLinksOf(services.postgres, site.id, services.now())
  const link = all.find(({ id }) => id === params.id)
  if (!link) throw new Refusal('not_found')
  return link
}

/** What another address has in common with the old one. */
const keeps = ({ expiresAt, hasPassword }: SharedLinkListing, now: number): string => {
  const kept = `what it shows${hasPassword ? ', its password' : ''}`
  return expiresAt && expiresAt.getTime() <= now
    ? `${kept} and how long it works stay, counted from now.`
    : `${kept} and its expiry stay.`
}

async function makeAgain(visit: SiteVisit): Promise<Reply> {
  const { top, status } = await renewLink(visit, await linkOf(visit))
  return show(await linkListPage(visit, top), status)
}

async function revokeLink(visit: SiteVisit): Promise<Reply> {
  const { services, site, params, form } = visit
  if (form.get('confirm') !== 'yes') return linkPage(visit, 'Confirm that the link is to be revoked.')
  const isRevoked = await revokeSharedLink(services.postgres, visit.actor, site, params.id ?? '')
  if (!isRevoked) throw new Refusal('not_found')
  return goTo(pathOf(visit, '?done=revoked'))
}
