// Composes a report (decision D-220): reads its numbers and writes both parts of its letter.
import { counted } from '../display/formats.ts'
import { type Letter, subjectOf, visibleLine } from '../mail/letter.ts'
import type { StatsService } from '../stats/service.ts'
import { accountHtml } from './account-html.ts'
import { accountText } from './account-text.ts'
import { readSite, readSites } from './numbers.ts'
import { maxDomain, type ReportOrder } from './order.ts'
import { afterNumber, type ReportDays, reportDays } from './period.ts'
import { accountTotals, maxAccountName } from './sentences.ts'
import { siteHtml } from './site-html.ts'
import { siteText } from './site-text.ts'

export async function composeReport(stats: StatsService, order: ReportOrder, signal: AbortSignal): Promise<Letter> {
  const { interval, firstDay, about, now } = order
  const days = reportDays(interval, firstDay)
  if ('site' in about) {
    const { site, filters = [] } = about
    const report = { order, site, filters, days, numbers: await readSite(stats, { site, filters }, days, now, signal) }
    const visitors = visitorsIn(report.numbers.overview.current.visitors, days)
    const subject = subjectOf(
      `${visibleLine(site.domain, maxDomain)}${filters.length > 0 ? ', filtered' : ''}: ${visitors}`,
    )
    return { subject, text: siteText(report), html: siteHtml(subject, report) }
  }
  const { account, sites } = about
  const report = { order, account, sites, days, lines: await readSites(stats, sites, days, now, signal) }
  const where = sites.length === 0 ? '' : ` on ${counted(sites.length, 'site')}`
  const visitors = visitorsIn(accountTotals(report.lines).visitors, days, where)
  const subject = subjectOf(`${visibleLine(account, maxAccountName)}: ${visitors}`)
  return { subject, text: accountText(report), html: accountHtml(subject, report) }
}

/** `7,041 visitors, 9 – 15 November` */
const visitorsIn = (visitors: number, days: ReportDays, where = ''): string =>
  `${visitors === 0 ? 'no visitors' : counted(visitors, 'visitor')}${where}${afterNumber(days)}`
