// The gate of shared links. It reads only the cookie of the link: people who are signed in see what everybody else sees.
import type { IncomingHttpHeaders } from 'node:http'
import { findSite } from '../../accounts/sites.ts'
import { openSharedLink, sharedLinkPath } from '../../users/shared-links.ts'
import { isUnlocked } from '../../users/unlocked-link.ts'
import { formTokenOf, isFromOurPage, isOurToken } from '../forms/forms.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type LinkRoute, type LinkVisit, type Reply } from '../route.ts'

type LinkRequest = Omit<LinkVisit, 'link' | 'site' | 'path' | 'addressOf' | 'isUnlocked' | 'formToken'>

export async function admitLink(route: LinkRoute, request: LinkRequest, headers: IncomingHttpHeaders): Promise<Reply> {
  const { services, clientAddress, form, theme } = request
  const { token = '' } = request.params
  if (!(await services.linkTokens.mayBeLink(token))) throw new Refusal('closed_link')
  const waitSeconds = services.linkLimits.take(token, clientAddress, route.cost)
  if (waitSeconds > 0) throw new Refusal('opened_often', waitSeconds)
  // Only a page of the link knows its token, so its forms need no cookie.
  const formToken = formTokenOf(token)
  if (
    route.method === 'POST' &&
    !(isFromOurPage(headers, services.publicUrl) && isOurToken(form.get('token'), formToken))
  )
    throw new Refusal('foreign_form')
  const now = services.now()
  const link = await openSharedLink(services.postgres, token, now)
  const site = link && (await findSite(services.postgres, link.siteId))
  if (!link || !site || (route.access === 'embeddable-link' && !link.isEmbeddable)) throw new Refusal('closed_link')
  const path = sharedLinkPath(token)
  const addressOf = (rest: string) => `${path}${rest}${theme ? `?theme=${theme}` : ''}`
  const note = link.passwordHash === null ? undefined : request.cookies.readOfLink(headers)
  const open = isUnlocked(services.keySecrets, link, note, now)
  if (!open && route.access !== 'locked-link') return goTo(addressOf('/password'))
  return route.handle({ ...request, formToken, link, site, path, addressOf, isUnlocked: open })
}
