// The dashboard of a site for the members of its account.

import { recountedSite } from '../../recounting/rounds.ts'
import { notesOfDays } from '../../users/notes.ts'
import { segmentsOf } from '../../users/segments.ts'
import { type Html, html } from '../../web/html.ts'
import { readSegments } from '../dashboard/filter-texts.ts'
import { showNow, showNumbers } from '../dashboard/moving.ts'
import { contextOfSite } from '../dashboard/state.ts'
import { showCsv, showDashboard, type Viewing } from '../dashboard/view.ts'
import { sitePath } from '../layout/layout.ts'
import type { Route, SiteVisit } from '../route.ts'
import { firstSteps } from './first-steps.ts'

export const dashboardRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain',
    access: 'site-member',
    handle: async (visit) => showDashboard(await viewingOf(visit)),
  },
  {
    method: 'GET',
    path: '/sites/:domain/csv/:report',
    access: 'site-member',
    handle: async (visit) => showCsv(await viewingOf(visit), visit.params.report ?? ''),
  },
  // For the script of an open dashboard.
  {
    method: 'GET',
    path: '/sites/:domain/numbers',
    access: 'site-member',
    handle: async (visit) => showNumbers(await viewingOf(visit)),
  },
  {
    method: 'GET',
    path: '/sites/:domain/now',
    access: 'site-member',
    handle: async (visit) => showNow(await viewingOf(visit)),
  },
]

const viewingOf = async (visit: SiteVisit): Promise<Viewing> => ({
  services: visit.services,
  context: contextOfSite(visit.site, {
    segments: readSegments(await segmentsOf(visit.services.postgres, visit.site.id)),
    isOwner: visit.account.role === 'owner',
  }),
  url: visit.url,
  queueKey: `user ${visit.session.user.id}`,
  visit,
  links: links(visit),
  notes: (days) => notesOfDays(visit.services.postgres, visit.site.id, days),
  recounted: () => recountedSite(visit.services.postgres, visit.site),
  firstSteps: () => firstSteps(visit),
  changeExclusions:
    visit.account.role === 'owner' && html` · <a href="${sitePath(visit.site, '/settings/exclusions')}">change</a>`,
})

const links = ({ site }: SiteVisit): Html =>
  html`<a class="quiet" href="${sitePath(site, '/settings')}" aria-label="Settings of ${site.domain}" title="Settings">${sliders}</a>`

const sliders = html`<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><path d="M2 6h8m5 0h3M2 14h3m5 0h8"/><circle cx="12.5" cy="6" r="2.5"/><circle cx="7.5" cy="14" r="2.5"/></svg>`
