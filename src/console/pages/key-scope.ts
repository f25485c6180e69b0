// Keys are managed in two places with the same pages: in the settings of a site, and in the account with the keys of all its sites.
import { type KeyListing, listKeysOf } from '../../accounts/keys.ts'
import { listSitesOf, type Site } from '../../accounts/sites.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { accountField, accountHead, accountPath } from '../layout/account-head.ts'
import { layout, settingsHead, sitePath } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import type { AccountVisit, SiteVisit } from '../route.ts'

export interface KeyScope {
  visit: AccountVisit
  /** Undefined in the account. */
  site: Site | undefined
  isOwner: boolean
  /** The address of the list, or of a page below it. */
  path(rest?: string, done?: string): string
  /** For every form. */
  hiddenFields: Html
  page(title: string, body: HtmlValue): Html
}

export const scopeOfSite = (visit: SiteVisit): KeyScope => ({
  ...scopeOf(visit),
  site: visit.site,
  path: (rest = '', done) => sitePath(visit.site, `/settings/keys${rest}${done ? `?done=${done}` : ''}`),
  page: (title, body) =>
    layout({
      title: `${title} · ${visit.site.domain}`,
      visit,
      site: visit.site,
      body: html`${settingsHead(visit.site, '/settings/keys')}${body}`,
    }),
})

export const scopeOfAccount = (visit: AccountVisit): KeyScope => ({
  ...scopeOf(visit),
  site: undefined,
  path: (rest = '', done) => accountPath(visit, `/account/keys${rest}`, done ? { done } : {}),
  page: (title, body) =>
    layout({
      title: `${title} · ${visit.account.name}`,
      visit,
      body: html`${accountHead(visit, '/account/keys')}${body}`,
    }),
})

const scopeOf = (visit: AccountVisit) => ({
  visit,
  isOwner: visit.account.role === 'owner',
  hiddenFields: html`${tokenField(visit.formToken)}${accountField(visit)}`,
})

export const keysAt = ({ visit, site }: KeyScope): Promise<KeyListing[]> =>
  listKeysOf(visit.services.postgres, visit.account.accountId, site?.id)

/** The key that the address names. Keys of other accounts and sites look like keys that do not exist. */
export function namedKey({ visit }: KeyScope, keys: readonly KeyListing[]): KeyListing {
  const key = keys.find(({ id }) => id === visit.params.id)
  if (!key) throw new Refusal('not_found')
  return key
}

/** The sites that a new key may read. */
export const sitesAt = async ({ visit, site }: KeyScope): Promise<Site[]> =>
  site ? [site] : listSitesOf(visit.services.postgres, [visit.account.accountId])
