// Composes the report of a test. Without other settings it is sent on time, to somebody in Berlin who wants it at eight.
import type { Site } from '../../src/accounts/sites.ts'
import { findSite } from '../../src/accounts/sites.ts'
import { composeReport } from '../../src/email-reports/compose.ts'
import { dueAt } from '../../src/email-reports/due.ts'
import type { ReportOrder } from '../../src/email-reports/order.ts'
import type { Letter } from '../../src/mail/letter.ts'
import { createStatsService } from '../../src/stats/service.ts'
import type { Stores } from '../support/stores.ts'

interface Wanted extends Pick<ReportOrder, 'interval' | 'firstDay' | 'about'> {
  lateMs?: number
  publicUrl?: string
}

export async function compose({ cluster }: Stores, { lateMs = 0, ...wanted }: Wanted): Promise<Letter> {
  const { interval, firstDay, about } = wanted
  const sites = 'site' in about ? [about.site] : about.sites
  const wish = { hour: 8, zone: 'Europe/Berlin' }
  const due = dueAt(firstDay, { interval, ...wish, siteZones: sites.map(({ timeZone }) => timeZone) })
  const order = {
    publicUrl: 'https://stats.example',
    ...wanted,
    ...wish,
    changeUrl: 'https://stats.example/account/reports',
    unsubscribeUrl: 'https://stats.example/unsubscribe/token',
    dueAt: due,
    now: due + lateMs,
  }
  const stats = createStatsService({ cluster, now: () => order.now, cacheBytes: 0 })
  return composeReport(stats, order, AbortSignal.timeout(60_000))
}

export const siteOf = async ({ postgres }: Stores, id: string): Promise<Site> => (await findSite(postgres, id)) as Site
