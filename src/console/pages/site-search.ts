// What the menu of sites in the header shows while one types.
import { listSitesOf } from '../../accounts/sites.ts'
import { maxHostname } from '../../hostnames.ts'
import { foundSites, switcherPath } from '../layout/site-switcher.ts'
import { type Reply, type Route, show, type UserVisit } from '../route.ts'

export const siteSearchRoutes: readonly Route[] = [
  { method: 'GET', path: switcherPath, access: 'user', handle: findSites },
]

/** As many as fit on a screen. */
const maxShown = 12

async function findSites({ services, memberships, query }: UserVisit): Promise<Reply> {
  const search = searchOf(query)
  const accounts = new Map(memberships.map(({ accountId, name }) => [accountId, name]))
  const sites = await listSitesOf(services.postgres, [...accounts.keys()])
  const found = sites.filter(({ domain }) => domain.includes(search))
  const shown = found
    .slice(0, maxShown)
    .map(({ domain, accountId }) => ({ domain, account: accounts.size > 1 && accounts.get(accountId) }))
  return show(foundSites(shown, found.length - shown.length))
}

/** A part of a domain. */
export const searchOf = (query: URLSearchParams): string =>
  (query.get('q') ?? '').trim().slice(0, maxHostname).toLowerCase()
