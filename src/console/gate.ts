// The gate: who may use a route. Unknown and foreign accounts and sites get the same refusal, so nobody can find out what exists.
import { findSite } from '../accounts/sites.ts'
import { type Membership, membershipsOf } from '../users/members.ts'
import { Refusal } from './refusals.ts'
import type { AccountVisit, LinkRoute, MailedRoute, Reply, Route, SiteVisit, UserVisit, Visit } from './route.ts'

/** Runs the handler if the visitor may use the route. The caller has sent everybody without a session to the sign-in page. */
export async function admit(route: Exclude<Route, LinkRoute | MailedRoute>, visit: Visit): Promise<Reply> {
  if (route.access === 'everyone') return route.handle(visit)
  const user = await userVisit(visit)
  if (route.access === 'user') return route.handle(user)
  if (route.access === 'member' || route.access === 'owner') {
    const account = accountVisit(user)
    if (route.access === 'owner') refuseViewers(account.account)
    return route.handle(account)
  }
  const site = await siteVisit(user)
  if (route.access === 'site-owner') refuseViewers(site.account)
  return route.handle(site)
}

async function userVisit(visit: Visit): Promise<UserVisit> {
  const { session, cookie } = visit
  if (!session || !cookie) throw new Refusal('not_found')
  const memberships = await membershipsOf(visit.services.postgres, session.user.id)
  return { ...visit, session, cookie, actor: { actor: session.user.email, address: visit.address }, memberships }
}

function accountVisit(visit: UserVisit): AccountVisit {
  const requestedId = visit.form.get('account') ?? visit.query.get('account')
  const account = visit.memberships.find(({ accountId }) => requestedId === null || accountId === requestedId)
  if (!account) throw new Refusal('not_found')
  return { ...visit, account }
}

async function siteVisit(visit: UserVisit): Promise<SiteVisit> {
  const { domain = '' } = visit.params
  const site = await findSite(visit.services.postgres, domain)
  const account = visit.memberships.find(({ accountId }) => accountId === site?.accountId)
  if (!site || site.domain !== domain || !account) throw new Refusal('not_found')
  return { ...visit, site, account }
}

function refuseViewers({ role }: Membership): void {
  if (role !== 'owner') throw new Refusal('owners_only')
}
