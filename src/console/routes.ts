// Every page and action of the console. Tests walk through this table: each route as a viewer, with another account's ids, and so on.
import { accountRoutes } from './pages/account.ts'
import { alertRoutes } from './pages/alert.ts'
import { alertsRoutes } from './pages/alerts.ts'
import { auditLogRoutes } from './pages/audit-log.ts'
import { dashboardRoutes } from './pages/dashboard.ts'
import { exclusionsRoutes } from './pages/exclusions.ts'
import { firstEventRoutes } from './pages/first-event.ts'
import { forgottenRoutes } from './pages/forgotten.ts'
import { goalRoutes } from './pages/goal.ts'
import { goalsRoutes } from './pages/goals.ts'
import { guideRoutes } from './pages/guides.ts'
import { importsRoutes } from './pages/imports.ts'
import { invitationRoutes } from './pages/invitation.ts'
import { keyRoutes } from './pages/keys.ts'
import { linkRoutes } from './pages/links.ts'
import { liveRoutes } from './pages/live.ts'
import { memberRemovalRoutes } from './pages/member-removal.ts'
import { membersRoutes } from './pages/members.ts'
import { newSiteRoutes } from './pages/new-site.ts'
import { noteRoutes } from './pages/note.ts'
import { notesRoutes } from './pages/notes.ts'
import { reportRoutes } from './pages/report.ts'
import { reportLinkRoutes } from './pages/report-links.ts'
import { reportsRoutes } from './pages/reports.ts'
import { resetRoutes } from './pages/reset.ts'
import { secondFactorRoutes } from './pages/second-factor.ts'
import { securityRoutes } from './pages/security.ts'
import { segmentRoutes } from './pages/segment.ts'
import { segmentsRoutes } from './pages/segments.ts'
import { setupRoutes } from './pages/setup.ts'
import { shareRoutes } from './pages/share.ts'
import { signInRoutes } from './pages/sign-in.ts'
import { signInLinkRoutes } from './pages/sign-in-link.ts'
import { signOnConnectionRoutes } from './pages/sign-on-connection.ts'
import { singleSignOnRoutes } from './pages/single-sign-on.ts'
import { siteDeletionRoutes } from './pages/site-deletion.ts'
import { siteSearchRoutes } from './pages/site-search.ts'
import { siteSettingsRoutes } from './pages/site-settings.ts'
import { sitesRoutes } from './pages/sites.ts'
import { webhookRoutes } from './pages/webhook.ts'
import { webhooksRoutes } from './pages/webhooks.ts'
import type { Route } from './route.ts'

export const routes: readonly Route[] = [
  ...signInRoutes,
  ...forgottenRoutes,
  ...singleSignOnRoutes,
  ...signInLinkRoutes,
  ...setupRoutes,
  ...invitationRoutes,
  ...resetRoutes,
  ...sitesRoutes,
  ...siteSearchRoutes,
  ...newSiteRoutes,
  ...dashboardRoutes,
  ...liveRoutes,
  ...siteSettingsRoutes,
  ...firstEventRoutes,
  ...guideRoutes,
  ...exclusionsRoutes,
  ...goalsRoutes,
  ...goalRoutes,
  ...segmentsRoutes,
  ...segmentRoutes,
  ...notesRoutes,
  ...noteRoutes,
  ...alertsRoutes,
  ...alertRoutes,
  ...webhooksRoutes,
  ...webhookRoutes,
  ...importsRoutes,
  ...siteDeletionRoutes,
  ...keyRoutes,
  ...linkRoutes,
  ...shareRoutes,
  ...accountRoutes,
  ...membersRoutes,
  ...memberRemovalRoutes,
  ...reportsRoutes,
  ...reportRoutes,
  ...reportLinkRoutes,
  ...securityRoutes,
  ...secondFactorRoutes,
  ...signOnConnectionRoutes,
  ...auditLogRoutes,
]
