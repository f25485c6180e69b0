// What the menu of sites in the header shows while one types.
import { searchSites } from '../../accounts/sites.ts'
import { maxHostname } from '../../hostnames.ts'
import { foundSites, switcherPath } from '../layout/site-switcher.ts'
import { type Reply, type Route, show, type UserVisit } from '../route.ts'

export const siteSearchRoutes: readonly Route[] = [
  { method: 'GET', path: switcherPath, access: 'user', handle: findSites },
]

/** As many as fit on a screen. */
const maxShown = 12

async function findSites({ services, memberships, query }: UserVisit): Promise<Reply> {
  const accounts = new Map(memberships.map(({ accountId, name }) => [accountId, name]))
  const { sites, total } = await searchSites(services.postgres, [...accounts.keys()], searchOf(query), maxShown)
  const shown = sites.map(({ domain, accountId }) => ({
    domain,
    account: accounts.size > 1 && accounts.get(accountId),
  }))
  return show(foundSites(shown, total - shown.length))
}

/** A part of a domain. */
export const searchOf = (query: URLSearchParams): string =>
  (query.get('q') ?? '').trim().slice(0, maxHostname).toLowerCase()
