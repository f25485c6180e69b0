// The pages of API keys, in the settings of a site and in the account.
import { type AccountVisit, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { changeNamedExpiry, deleteNamedKey, keyPage, rotateNamedKey, switchNamedKey } from './key.ts'
import { listPage } from './key-list.ts'
import { type KeyScope, scopeOfAccount, scopeOfSite } from './key-scope.ts'
import { createNewKey, newKeyPage } from './new-key.ts'

interface KeyRoute {
  method: 'GET' | 'POST'
  /** Below the list. */
  path: string
  for: 'member' | 'owner'
  handle(scope: KeyScope): Promise<Reply>
}

const routes: readonly KeyRoute[] = [
  { method: 'GET', path: '', for: 'member', handle: async (scope) => show(await listPage(scope)) },
  { method: 'GET', path: '/new', for: 'owner', handle: newKeyPage },
  { method: 'POST', path: '', for: 'owner', handle: createNewKey },
  { method: 'GET', path: '/:id', for: 'member', handle: (scope) => keyPage(scope) },
  { method: 'POST', path: '/:id/state', for: 'owner', handle: switchNamedKey },
  { method: 'POST', path: '/:id/expiry', for: 'owner', handle: changeNamedExpiry },
  { method: 'POST', path: '/:id/rotate', for: 'owner', handle: rotateNamedKey },
  { method: 'POST', path: '/:id/delete', for: 'owner', handle: deleteNamedKey },
]

export const keyRoutes: readonly Route[] = routes.flatMap(({ method, path, for: who, handle }): Route[] => [
  {
    method,
    path: `/sites/:domain/settings/keys${path}`,
    access: `site-${who}`,
    handle: (visit: SiteVisit) => handle(scopeOfSite(visit)),
  },
  {
    method,
    path: `/account/keys${path}`,
    access: who,
    handle: (visit: AccountVisit) => handle(scopeOfAccount(visit)),
  },
])
