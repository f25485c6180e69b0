import type { ReportOrder } from './order.ts'
import type { ReportDays } from './period.ts'

type PublicUrl = Pick<ReportOrder, 'publicUrl'>

/** A page of a site in the console. */
export const siteAddress = ({ publicUrl }: PublicUrl, domain: string, rest = ''): string =>
  `${publicUrl}/sites/${encodeURIComponent(domain)}${rest}`

/** The dashboard with exactly the days of the report. */
export const dashboardAddress = (order: PublicUrl, domain: string, { first, last }: ReportDays): string =>
  siteAddress(order, domain, `?range=custom&start=${first}&end=${last}`)
